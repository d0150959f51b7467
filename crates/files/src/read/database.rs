//! `SQLite` files: tables, schemas, rows and queries. The file is opened so that nothing can be written,
//! statements of the caller may only read it, and a deadline ends them.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

use crate::paths::Located;
use crate::{Call, Error};

const EXTENSIONS: [&str; 4] = [".sqlite", ".sqlite3", ".db", ".db3"];
const MAGIC: &[u8] = b"SQLite format 3\0";
const SAMPLE_ROWS: usize = 5;
const DEFAULT_ROWS: usize = 20;
const MOST_ROWS: usize = 500;
const MOST_TABLES: usize = 500;
const COLUMN_WIDTH: usize = 40;
const TABLE_WIDTH: usize = 120;
const LONGEST_VALUE_BYTES: i32 = 1 << 20;
const QUERY_TIME: Duration = Duration::from_secs(10);
const BUSY_TIME: Duration = Duration::from_secs(3);
/// Steps of the database's machine between looks at the deadline.
const STEPS: i32 = 1000;

/// Whether a name is that of a database.
pub(super) fn is_database_name(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    EXTENSIONS.iter().any(|ending| path.ends_with(ending))
}

/// Whether the file begins as a database does.
pub(super) fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// What is asked of a database.
#[derive(Debug, PartialEq, Eq)]
enum Query {
    Tables,
    Schema(String),
    Row(String, String),
    Rows {
        table: String,
        limit: usize,
        offset: usize,
        order: Option<(String, bool)>,
        filter: Option<String>,
    },
    Statement(String),
}

/// Reads what comes behind the database's name: `:table`, `:table:key`, `:table?limit=5`, `?q=…`.
fn parse(inner: &str) -> Result<Query, Error> {
    let bad = |problem: &str| Error::bad("path", inner, problem);
    let (names, parameters) = match inner.split_once('?') {
        Some((names, parameters)) => (names, Some(parameters)),
        None => (inner, None),
    };
    let names = names.strip_prefix(':').unwrap_or(names);
    let (table, key) = match names.split_once(':') {
        Some((table, key)) => (table, Some(key)),
        None => (names, None),
    };
    match (table, key, parameters) {
        ("", None, None) => Ok(Query::Tables),
        ("", None, Some(parameters)) => {
            let pairs = pairs(parameters);
            match pairs.as_slice() {
                [(name, sql)] if name == "q" && !sql.trim().is_empty() => {
                    Ok(Query::Statement(sql.clone()))
                }
                _ => Err(bad(
                    "without a table only `?q=SELECT …` is understood, alone and not empty",
                )),
            }
        }
        ("", Some(_), _) => Err(bad("a key needs a table, as in `:users:42`")),
        (table, Some(key), None) => Ok(Query::Row(table.to_owned(), key.to_owned())),
        (_, Some(_), Some(_)) => Err(bad("a row by its key takes no parameters")),
        (table, None, None) => Ok(Query::Schema(table.to_owned())),
        (table, None, Some(parameters)) => rows(table, parameters),
    }
}

fn rows(table: &str, parameters: &str) -> Result<Query, Error> {
    let (mut limit, mut offset, mut order, mut filter) = (DEFAULT_ROWS, 0, None, None);
    for (name, value) in pairs(parameters) {
        let bad = |problem: &str| Error::bad("path", &format!("{name}={value}"), problem);
        let number = || value.parse::<usize>().map_err(|_| bad("a number is needed"));
        match name.as_str() {
            "limit" => limit = number()?.min(MOST_ROWS),
            "offset" => offset = number()?,
            "order" => {
                let (column, way) = value.split_once(':').unwrap_or((&value, "asc"));
                let is_descending = match way.to_ascii_lowercase().as_str() {
                    "asc" => false,
                    "desc" => true,
                    _ => return Err(bad("the order is `column`, `column:asc` or `column:desc`")),
                };
                order = Some((column.to_owned(), is_descending));
            }
            "where" => {
                check_filter(&value)?;
                filter = Some(value);
            }
            _ => return Err(bad("the parameters are limit, offset, order and where")),
        }
    }
    Ok(Query::Rows { table: table.to_owned(), limit, offset, order, filter })
}

/// A condition, and nothing that ends it or begins something else.
fn check_filter(filter: &str) -> Result<(), Error> {
    const WORDS: [&str; 14] = [
        "limit",
        "offset",
        "union",
        "intersect",
        "except",
        "attach",
        "detach",
        "pragma",
        "insert",
        "update",
        "delete",
        "drop",
        "alter",
        "create",
    ];
    let lower = filter.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    let word = words.find(|word| WORDS.contains(word));
    let sign = ["--", "/*", "*/", ";"].into_iter().find(|sign| filter.contains(sign));
    match word.or(sign) {
        Some(found) => Err(Error::bad(
            "where",
            filter,
            format!("a condition has no {found:?}; use `?q=` for more"),
        )),
        None => Ok(()),
    }
}

/// `a=1&b=2`, percent-decoded.
fn pairs(text: &str) -> Vec<(String, String)> {
    let decode = |text: &str| crate::paths::percent_decoded_text(&text.replace('+', " "));
    // A statement may have `&` of its own.
    if let Some(sql) = text.strip_prefix("q=") {
        return vec![("q".to_owned(), decode(sql))];
    }
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}

/// The answer as text.
pub(super) fn look(located: &Located, inner: &str, call: &Call) -> Result<String, Error> {
    let query = parse(inner)?;
    let failed = |error: rusqlite::Error| Error::Unreadable {
        path: located.shown.clone(),
        problem: match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => "the query took too long".to_owned(),
            Some(rusqlite::ErrorCode::AuthorizationForStatementDenied) => {
                "the statement does more than read this database".to_owned()
            }
            _ => error.to_string(),
        },
    };
    let mut connection = open(located, call)?;
    let answer = Answerer { connection: &mut connection, located }.answer(query);
    call.stop.check()?;
    answer.map_err(|problem| match problem {
        Problem::Sql(error) => failed(error),
        Problem::Bad(error) => error,
    })
}

enum Problem {
    Sql(rusqlite::Error),
    Bad(Error),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// Opens for reading. Without a journal beside it the file is taken as it is, so that not even a
/// lock file is made.
fn open(located: &Located, call: &Call) -> Result<Connection, Error> {
    let failed = |error: rusqlite::Error| Error::Unreadable {
        path: located.shown.clone(),
        problem: error.to_string(),
    };
    let path = &located.real;
    let beside = |ending: &str| Path::new(&format!("{}{ending}", path.display())).exists();
    let mode = if beside("-wal") || beside("-journal") { "mode=ro" } else { "immutable=1" };
    let name: String = path.to_string_lossy().chars().map(uri_character).collect();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let mut connection =
        Connection::open_with_flags(format!("file:{name}?{mode}"), flags).map_err(failed)?;
    let stop = call.stop.at_most(QUERY_TIME);
    connection.busy_timeout(BUSY_TIME).map_err(failed)?;
    connection.progress_handler(STEPS, Some(move || stop.reason().is_some())).map_err(failed)?;
    connection
        .set_limit(rusqlite::limits::Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE_BYTES)
        .map_err(failed)?;
    let _ = connection.pragma_update(None, "trusted_schema", false);
    // The path was opened again: it must still be the file that was decided about.
    let same = rustix::fs::stat(path)
        .is_ok_and(|now| (now.st_dev, now.st_ino) == (located.stat.st_dev, located.stat.st_ino));
    if same {
        return Ok(connection);
    }
    Err(Error::NotFound { path: located.shown.clone(), nearest: Vec::new() })
}

/// Characters with a meaning in a URI are written as such.
fn uri_character(character: char) -> String {
    match character {
        '%' | '?' | '#' => format!("%{:02x}", u32::from(character)),
        other => other.to_string(),
    }
}

/// A caller's statement may select, and nothing else.
fn may(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name }
            if !function_name.eq_ignore_ascii_case("load_extension") =>
        {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

struct Answerer<'a> {
    connection: &'a mut Connection,
    located: &'a Located,
}

impl Answerer<'_> {
    fn answer(&mut self, query: Query) -> Result<String, Problem> {
        match query {
            Query::Tables => self.tables(),
            Query::Schema(table) => self.schema(&table),
            Query::Row(table, key) => self.row(&table, &key),
            Query::Rows { table, limit, offset, order, filter } => {
                let columns = self.columns(&table)?;
                let order = match order {
                    None => String::new(),
                    Some((column, is_descending)) => {
                        if !columns.contains(&column) {
                            let problem = format!("the columns are {}", columns.join(", "));
                            return Err(Problem::Bad(Error::bad("order", &column, problem)));
                        }
                        let way = if is_descending { "DESC" } else { "ASC" };
                        format!(" ORDER BY {} {way}", quoted(&column))
                    }
                };
                let filter = filter.map(|filter| format!(" WHERE ({filter})")).unwrap_or_default();
                let table = quoted(&table);
                self.select(&format!(
                    "SELECT * FROM {table}{filter}{order} LIMIT {limit} OFFSET {offset}"
                ))
            }
            Query::Statement(sql) => self.select(&sql),
        }
    }

    fn tables(&mut self) -> Result<String, Problem> {
        let names: Vec<String> = self
            .connection
            .prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut text = String::new();
        for name in names.iter().take(MOST_TABLES) {
            let sql = format!("SELECT count(*) FROM {}", quoted(name));
            let count = self.connection.query_row(&sql, [], |row| row.get::<_, i64>(0));
            let count =
                count.map_or_else(|error| error.to_string(), |count| format!("{count} rows"));
            let _ = writeln!(text, "{name} ({count})");
        }
        if names.len() > MOST_TABLES {
            let _ = writeln!(text, "… {} more", names.len() - MOST_TABLES);
        }
        if names.is_empty() {
            text.push_str("(no tables)\n");
        }
        Ok(text)
    }

    fn no_table(&self, table: &str) -> Problem {
        let path = format!("{}:{table}", self.located.shown);
        Problem::Bad(Error::NotFound { path, nearest: Vec::new() })
    }

    fn columns(&mut self, table: &str) -> Result<Vec<String>, Problem> {
        let columns: Vec<String> = self
            .connection
            .prepare("SELECT name FROM pragma_table_xinfo(?1)")?
            .query_map([table], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        if columns.is_empty() { Err(self.no_table(table)) } else { Ok(columns) }
    }

    fn schema(&mut self, table: &str) -> Result<String, Problem> {
        let sql: Option<String> = self
            .connection
            .prepare("SELECT sql FROM sqlite_schema WHERE name = ?1")?
            .query_map([table], |row| row.get(0))?
            .next()
            .transpose()?
            .flatten();
        let sql = sql.ok_or_else(|| self.no_table(table))?;
        let rows = self.select(&format!("SELECT * FROM {} LIMIT {SAMPLE_ROWS}", quoted(table)))?;
        Ok(format!("{sql};\n\n{rows}"))
    }

    fn row(&mut self, table: &str, key: &str) -> Result<String, Problem> {
        let columns = self.columns(table)?;
        let keys: Vec<String> = self
            .connection
            .prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0")?
            .query_map([table], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let column = match keys.as_slice() {
            [only] => quoted(only),
            _ => "rowid".to_owned(),
        };
        let sql = format!("SELECT * FROM {} WHERE {column} = ?1", quoted(table));
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([key])?;
        let Some(row) = rows.next()? else {
            drop(rows);
            let path = format!("{}:{table}:{key}", self.located.shown);
            return Err(Problem::Bad(Error::NotFound { path, nearest: Vec::new() }));
        };
        let mut text = String::new();
        for (at, column) in columns.iter().enumerate().take(row.as_ref().column_count()) {
            let _ = writeln!(text, "{column}: {}", value(row, at)?);
        }
        Ok(text)
    }

    /// Rows of a statement that only reads.
    fn select(&mut self, sql: &str) -> Result<String, Problem> {
        self.connection.authorizer(Some(may))?;
        let mut statement = self.connection.prepare(sql)?;
        if !statement.readonly() || statement.parameter_count() > 0 {
            let problem = "one statement that only reads is needed, without parameters";
            return Err(Problem::Bad(Error::bad("q", sql, problem)));
        }
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut table = vec![names];
        let mut rows = statement.query([])?;
        let mut left_out = false;
        while let Some(row) = rows.next()? {
            if table.len() > MOST_ROWS {
                left_out = true;
                break;
            }
            let cells: Result<Vec<String>, _> =
                (0..table[0].len()).map(|at| value(row, at)).collect();
            table.push(cells?);
        }
        let mut text = render(&table);
        if left_out {
            let _ = writeln!(text, "… more than {MOST_ROWS} rows; use limit and offset");
        }
        Ok(text)
    }
}

fn value(row: &Row<'_>, at: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).replace('\n', "\\n"),
        ValueRef::Blob(bytes) => format!("<{} bytes>", bytes.len()),
    })
}

/// Columns side by side, as wide as they need to be and no wider than allowed.
fn render(table: &[Vec<String>]) -> String {
    let columns = table.first().map_or(0, Vec::len);
    let most = COLUMN_WIDTH.min((TABLE_WIDTH / columns.max(1)).max(8));
    let cut = |cell: &str| -> String {
        let short: String = cell.chars().take(most - 1).collect();
        if cell.chars().count() > most { format!("{short}…") } else { cell.to_owned() }
    };
    let cells: Vec<Vec<String>> =
        table.iter().map(|row| row.iter().map(|cell| cut(cell)).collect()).collect();
    let width =
        |at: usize| cells.iter().map(|row| row[at].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (number, row) in cells.iter().enumerate() {
        let line: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(line.join(" | ").trim_end());
        text.push('\n');
        if number == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            text.push_str(&rule.join("-+-"));
            text.push('\n');
        }
    }
    if table.len() == 1 {
        text.push_str("(no rows)\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_behind_a_database_is_understood() {
        assert_eq!(parse("").unwrap(), Query::Tables);
        assert_eq!(parse(":users").unwrap(), Query::Schema("users".into()));
        assert_eq!(parse(":users:4:2").unwrap(), Query::Row("users".into(), "4:2".into()));
        assert_eq!(parse("?q=SELECT+1&2").unwrap(), Query::Statement("SELECT 1&2".into()));
        let Query::Rows { limit, offset, order, filter, .. } =
            parse(":t?limit=9999&offset=3&order=a:desc&where=a%3D1").unwrap()
        else {
            panic!()
        };
        assert_eq!((limit, offset), (500, 3));
        assert_eq!((order, filter), (Some(("a".into(), true)), Some("a=1".into())));
        for bad in [
            "?q=",
            "?limit=1",
            ":t:1?limit=2",
            ":t?limit=x",
            ":t?colour=red",
            "::k",
            ":t?order=a:up",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        for bad in ["1;2", "1 -- x", "1 UNION SELECT 2", "a limit 3", "x /* */"] {
            assert!(check_filter(bad).is_err(), "{bad}");
        }
        check_filter("limited = 'on' and created > 3").unwrap();
    }
}
