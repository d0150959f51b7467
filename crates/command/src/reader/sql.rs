//! Database shells: a statement given on the command line is read, anything else is unknown.

use crate::argv::Options;
use crate::effect::{Does, FETCH, Kind, OVERWRITE, READ, REMOTE, RUN, UNKNOWN, WRITE};
use crate::row::Row;
use crate::walk::Walk;
use crate::word::Word;

const QUERIES: Does = Does { phrase: "asks a database", ..READ };
const CHANGES: Does = Does { phrase: "changes a database", ..WRITE };
pub(crate) const DROPS: Does = Does { phrase: "deletes from a database", ..REMOTE };

/// Functions that compute and nothing else.
const FUNCTIONS: &str = "count sum min max avg lower upper coalesce length substr substring round abs now date time datetime strftime extract date_trunc to_char concat trim replace ifnull nullif cast group_concat string_agg array_agg json_extract json_each json_agg jsonb_agg row_number rank dense_rank lag lead over partition in exists and or not values as on using with select distinct interval total printf typeof version current_database current_user current_schema pg_size_pretty pragma_table_info pg_table_size hex quote unicode char ltrim rtrim ceil ceiling floor sqrt power mod sign md5 sha1 sha256 crc32 uuid position split_part regexp_replace regexp_match regexp_matches jsonb_each jsonb_extract_path_text json_array_length json_type json_valid json_object json_array percentile_cont first_value last_value ntile cume_dist percent_rank epoch to_timestamp to_date age make_date date_part datediff date_add date_sub date_format from_unixtime unix_timestamp ifnull nvl if isnull case when varchar char decimal numeric int integer bigint text timestamp boolean pg_total_relation_size pg_relation_size pg_database_size year month day left right greatest least generate_series unnest any all filter within random iif like glob instr julianday";

/// What a statement does to the database.
pub(crate) fn statement(text: &str) -> Does {
    let Some(tokens) = tokens(text) else { return not_read(text) };
    let words: Vec<&str> = tokens.iter().filter_map(Token::word).collect();
    let has = |word: &str| words.contains(&word);
    let Some(first) = tokens.first() else { return QUERIES };
    match first.word().unwrap_or_default() {
        // Statements that are more than one are not what the caller split.
        _ if tokens.contains(&Token::Sign(';')) => UNKNOWN,
        _ if has("drop") || has("truncate") || has("program") => DROPS,
        "delete" => DROPS,
        "update" if !has("where") => DROPS,
        "select" | "show" | "describe" | "desc" | "explain" | "with" | "values" | "table" => {
            let acts = [
                "into", "insert", "update", "delete", "merge", "analyze", "alter", "create",
                "copy", "call", "execute", "attach", "outfile", "dumpfile", "replace", "lock",
                "set", "do",
            ]
            .iter()
            .any(|word| has(word) && !is_call(&tokens, word));
            if acts || !only_known_functions(&tokens) { UNKNOWN } else { QUERIES }
        }
        "pragma" => pragma(&tokens),
        "insert" | "update" | "create" | "alter" | "grant" | "revoke" | "vacuum" | "reindex"
        | "analyze" | "begin" | "commit" | "set" | "use" | "replace" | "comment" => CHANGES,
        _ => UNKNOWN,
    }
}

/// A statement that cannot be taken apart: never certain, but a danger is one.
fn not_read(text: &str) -> Does {
    let lower = text.to_ascii_lowercase();
    let words = lower.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let drops = words.into_iter().any(|word| matches!(word, "drop" | "truncate" | "delete"));
    if drops { DROPS } else { UNKNOWN }
}

/// Asking for a setting; with `=` or an argument most of them set it.
fn pragma(tokens: &[Token]) -> Does {
    const ASKS: [&str; 9] = [
        "table_info",
        "table_xinfo",
        "table_list",
        "index_list",
        "index_info",
        "index_xinfo",
        "foreign_key_list",
        "integrity_check",
        "quick_check",
    ];
    const SHOWS: [&str; 9] = [
        "database_list",
        "user_version",
        "journal_mode",
        "page_count",
        "page_size",
        "encoding",
        "foreign_keys",
        "compile_options",
        "collation_list",
    ];
    let words: Vec<&str> = tokens.iter().filter_map(Token::word).collect();
    let name = words.iter().skip(1).find(|word| !matches!(**word, "main" | "temp"));
    let plain = !tokens.iter().any(|token| matches!(token, Token::Sign('=' | '(')));
    let equal = tokens.contains(&Token::Sign('='));
    match name {
        Some(name) if ASKS.contains(name) && !equal => QUERIES,
        Some(name) if SHOWS.contains(name) && plain => QUERIES,
        _ => CHANGES,
    }
}

/// A part of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A word, in small letters.
    Word(String),
    /// A name in quotes.
    Quoted,
    /// A text or a number.
    Value,
    Sign(char),
}

impl Token {
    fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// The tokens of a statement, without comments; nothing where databases disagree about them.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            _ if c.is_whitespace() => rest = after,
            // MySQL runs what is in `/*! … */`; comments inside of comments end where they like.
            '/' if after.starts_with('*') => {
                let end = after[1..].find("*/")?;
                let inside = &after[1..=end];
                if inside.starts_with(['!', '+', 'M']) || inside.contains("/*") {
                    return None;
                }
                rest = &after[end + 3..];
            }
            // `--x` is a comment to some and two signs to others.
            '-' if after.starts_with('-') => {
                if !after[1..].starts_with([' ', '\t', '\n']) && after.len() > 1 {
                    return None;
                }
                rest = after.find('\n').map_or("", |end| &after[end..]);
            }
            '\'' => {
                rest = quoted(after, '\'')?;
                tokens.push(Token::Value);
            }
            '"' | '`' => {
                rest = quoted(after, c)?;
                tokens.push(Token::Quoted);
            }
            '$' | '\\' | '#' | '{' | '}' => return None,
            _ if c.is_ascii_digit() => {
                rest = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '.');
                tokens.push(Token::Value);
            }
            _ if c.is_alphabetic() || c == '_' => {
                let end =
                    rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                tokens.push(Token::Word(rest[..end].to_lowercase()));
                rest = &rest[end..];
            }
            _ => {
                tokens.push(Token::Sign(c));
                rest = after;
            }
        }
    }
    // A prefix may give a text other rules: E'…', U&'…'.
    let prefixed = tokens.windows(2).any(|pair| {
        pair[1] == Token::Value
            && pair[0].word().is_some_and(|word| matches!(word, "e" | "u" | "b" | "x" | "n"))
    });
    (!prefixed).then_some(tokens)
}

/// After an opening quote: what follows the closing one. A doubled quote is one of the text.
fn quoted(rest: &str, quote: char) -> Option<&str> {
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => return None,
            _ if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() => {
                return Some(&rest[at + 1..]);
            }
            _ => {}
        }
    }
    None
}

/// Whether a word is always followed by `(`: `replace(a, b, c)`.
fn is_call(tokens: &[Token], word: &str) -> bool {
    let mut places = (0..tokens.len()).filter(|at| tokens[*at].word() == Some(word));
    places.all(|at| tokens.get(at + 1) == Some(&Token::Sign('(')))
}

fn only_known_functions(tokens: &[Token]) -> bool {
    tokens.windows(2).filter(|pair| pair[1] == Token::Sign('(')).all(|pair| match &pair[0] {
        Token::Word(name) => FUNCTIONS.split(' ').any(|known| known == name),
        // A name in quotes is not one that can be looked up.
        Token::Quoted => false,
        Token::Value | Token::Sign(_) => true,
    }) && !tokens
        .windows(2)
        .any(|pair| pair[0] == Token::Sign('.') && matches!(pair[1], Token::Quoted))
}

/// A script's statements, split where a `;` is neither in a text nor in a comment.
pub(crate) fn statements_of(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut quote: Option<char> = None;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"' | '`') => quote = Some(c),
            None if c == ';' => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            Some(_) | None => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Whether code for a document store takes something away.
pub(crate) fn deletes_documents(text: &str) -> bool {
    const CALLS: [&str; 12] = [
        ".drop(",
        "dropdatabase(",
        ".remove(",
        ".deletemany(",
        ".deleteone(",
        ".dropindex",
        "dropuser(",
        "droprole(",
        ".findoneanddelete(",
        "dropcollection(",
        "detach delete",
        ".truncate(",
    ];
    let lower = text.to_ascii_lowercase();
    CALLS.iter().any(|call| lower.contains(call))
}

fn is_memory_question(sub: &str) -> bool {
    matches!(sub.to_ascii_uppercase().as_str(), "USAGE" | "STATS" | "DOCTOR" | "HELP")
}

/// Commands of the shells themselves: `\d`, `.tables`.
fn meta(text: &str) -> Does {
    let first = text.split_whitespace().next().unwrap_or("");
    let reads = [
        ".tables",
        ".schema",
        ".headers",
        ".mode",
        ".databases",
        ".indexes",
        ".indices",
        ".dbinfo",
        ".fullschema",
        ".show",
        ".help",
        ".quit",
        ".exit",
        ".version",
        ".width",
        ".nullvalue",
        "\\d",
        "\\dt",
        "\\dt+",
        "\\d+",
        "\\l",
        "\\l+",
        "\\list",
        "\\dn",
        "\\du",
        "\\di",
        "\\dv",
        "\\df",
        "\\dx",
        "\\conninfo",
        "\\q",
        "\\x",
        "\\timing",
        "\\dp",
        "\\ds",
        "\\dT",
    ];
    let plain = !text.contains(['|', '`', '\n', '>']) && text.matches('\\').count() <= 1;
    if reads.contains(&first) && plain { QUERIES } else { RUN }
}

/// Commands of Redis that delete, or change the server itself.
const DESTROYS: [&str; 15] = [
    "FLUSHALL",
    "FLUSHDB",
    "SHUTDOWN",
    "CONFIG",
    "DEBUG",
    "EVAL",
    "SCRIPT",
    "MODULE",
    "SLAVEOF",
    "REPLICAOF",
    "SAVE",
    "BGSAVE",
    "DEL",
    "UNLINK",
    "ACL",
];

/// What is known about one database shell.
struct Client {
    options: &'static str,
    rules: &'static [(&'static str, Does)],
    single_dash: bool,
    /// Options whose value is a statement.
    statements: &'static [&'static str],
    /// Operands after the first are statements.
    operands_are_statements: bool,
}

const PSQL: Client = Client {
    options: "aAbc:d:eEF:HlnP:p:qR:sStT:U:v:V?wWxXz01h: --echo-all --no-align --command= --dbname= --echo-queries --echo-errors --echo-hidden --field-separator= --html --list --no-readline --port= --pset= --quiet --record-separator= --single-step --single-line --tuples-only --table-attr= --username= --set= --variable= --no-password --password --expanded --no-psqlrc --field-separator-zero --record-separator-zero --single-transaction --host= --csv",
    rules: &[("-f --file", RUN), ("-o --output -L --log-file", OVERWRITE)],
    single_dash: false,
    statements: &["-c", "--command"],
    operands_are_statements: false,
};
const MYSQL: Client = Client {
    options: "AbBcCD:e:EfGh:HiLmnNP:p;qrRsS:tTu:UvVwWX? --execute= --database= --host= --port= --user= --password? --socket= --batch --silent --skip-column-names --column-names --table --vertical --html --xml --raw --quick --ssl-mode= --ssl --compress --default-character-set= --connect-timeout= --no-auto-rehash --skip-auto-rehash --auto-rehash --protocol= --safe-updates --i-am-a-dummy --show-warnings --unbuffered --wait --reconnect --force --line-numbers --skip-line-numbers --no-beep --skip-pager --defaults-extra-file= --login-path=",
    rules: &[
        ("--tee", OVERWRITE),
        (
            "--pager --init-command --delimiter --plugin-dir --defaults-file --local-infile --load-data-local-dir",
            RUN,
        ),
    ],
    single_dash: false,
    statements: &["-e", "--execute"],
    operands_are_statements: false,
};
const SQLITE: Client = Client {
    options: "-header -noheader -csv -json -column -line -list -html -quote -table -box -markdown -tabs -ascii -readonly -safe -batch -bail -echo -nofollow -stats -separator= -nullvalue= -newline= -cmd= -mmap= -maxsize= -lookaside= -version -help -c= -s= -no-stdin -jsonlines -trash -utf8 -no-utf8",
    rules: &[(
        "-init -f -vfs -zip -archive -A -append -deserialize -interactive -unsigned -ui",
        RUN,
    )],
    single_dash: true,
    statements: &["-cmd", "-c", "-s"],
    operands_are_statements: true,
};

fn client(name: &str) -> Client {
    match name {
        "psql" | "pgcli" | "usql" => PSQL,
        "mysql" | "mariadb" | "mycli" => MYSQL,
        "sqlite3" | "sqlite" | "duckdb" => SQLITE,
        _ => Client {
            options: "",
            rules: &[],
            single_dash: false,
            statements: &["-c", "-e", "-q", "--query", "--command", "--execute"],
            operands_are_statements: false,
        },
    }
}

impl Walk {
    pub(super) fn sql(&mut self, name: &str, args: &[Word]) {
        let client = client(name);
        let row = Row {
            options: client.options,
            rules: client.rules,
            single_dash: client.single_dash,
            ..crate::row::row("", RUN)
        };
        let options = Options::of(&row, args);
        if options.may_hide_option() {
            self.find(UNKNOWN, name, format!("{name} with an argument only known at run time"));
        }
        for (option, does) in options.rules(&row) {
            match options.value_of(&option).filter(|_| does.kind == Kind::Overwrite) {
                Some(target) => self.writes(name, format!("{name} {option}"), Some(&target)),
                None => self.find(does, name, format!("{name} {option}")),
            }
        }
        if let Some(option) = options.outside(&row, "") {
            self.find(RUN, name, format!("{name} {option}"));
        }
        let mut statements: Vec<Word> =
            client.statements.iter().flat_map(|option| options.all_values_of(option)).collect();
        if client.operands_are_statements {
            statements.extend(options.operands.iter().skip(1).map(|word| (*word).clone()));
        }
        let lists = options.has("-l") && name.starts_with("psql") || options.has("--list");
        let asks = ["-V", "-version", "--version", "-?", "--help", "-help"]
            .iter()
            .any(|option| options.has(option));
        if asks && statements.is_empty() && options.operands.is_empty() {
            self.find(READ, name, name);
            return;
        }
        let words: Vec<&Word> = statements.iter().collect();
        self.statements(name, &words, lists);
        if statements.is_empty() && !lists {
            self.statements_fed(name);
        }
    }

    /// Database shells whose language is not read: only what deletes is seen.
    pub(super) fn other_statements(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        if name == "sqlcmd" && args.first().and_then(Word::exact) == Some("query") {
            self.query_command(row, name, &args[1..]);
            return;
        }
        self.find(row.does, name, name);
        let input = self.input_text();
        let texts = args.iter().map(Word::likely).chain(input.as_deref());
        let drops = texts.filter(|text| {
            deletes_documents(text)
                || text.split(';').any(|part| statement(part).risk == crate::risk::Risk::Dangerous)
        });
        if let Some(text) = drops.map(str::to_owned).next() {
            self.find(DROPS, name, format!("{name} {text}"));
        }
    }

    /// `sqlcmd query [-d DATABASE] STATEMENT`.
    fn query_command(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        const OPTIONS: &str = "q:t:d: --query= --text= --database=";
        let known = Row { options: OPTIONS, valued: "", ..*row };
        let options = Options::of(&known, args);
        if !options.all_listed(&known) || options.may_hide_option() || options.count() > 1 {
            self.find(row.does, name, name);
        }
        let given = ["-q", "--query", "-t", "--text"];
        let mut texts: Vec<Word> = given.iter().flat_map(|it| options.all_values_of(it)).collect();
        texts.extend(options.operands.iter().map(|word| (*word).clone()));
        if texts.is_empty() && options.has("--help") {
            self.find(READ, name, name);
        } else {
            self.statements(name, &texts.iter().collect::<Vec<_>>(), false);
        }
    }

    /// Statements that come on standard input: never certain, but a danger is one.
    fn statements_fed(&mut self, name: &str) {
        let Some(text) = self.input_text() else { return };
        self.runs_input = true;
        for part in text.split([';', '\n']).map(statement) {
            if part.risk == crate::risk::Risk::Dangerous {
                self.find(part, name, format!("{name} with statements from its input"));
            }
        }
    }

    fn statements(&mut self, name: &str, statements: &[&Word], lists: bool) {
        if statements.is_empty() {
            self.find(if lists { FETCH } else { RUN }, name, name);
        }
        for word in statements {
            let text = word.likely();
            if !word.literal {
                self.find(UNKNOWN, name, format!("{name} with a statement only known at run time"));
            }
            if text.trim_start().starts_with(['\\', '.']) {
                self.find(meta(text.trim()), name, format!("{name} {text}"));
                continue;
            }
            if text.contains('\\') || text.lines().any(|line| line.trim_start().starts_with('.')) {
                self.find(UNKNOWN, name, format!("{name} {text}"));
            }
            for part in statements_of(text) {
                let does = statement(part);
                self.find(does, name, format!("{name} {}", part.trim()));
            }
        }
    }

    pub(super) fn redis(&mut self, name: &str, args: &[Word]) {
        const READS: &str = "GET MGET KEYS SCAN TTL PTTL TYPE EXISTS STRLEN LLEN LRANGE LINDEX SCARD SMEMBERS SISMEMBER HGET HGETALL HKEYS HLEN HMGET ZRANGE ZCARD ZSCORE ZCOUNT INFO PING DBSIZE TIME MEMORY OBJECT XLEN XRANGE XINFO PFCOUNT RANDOMKEY GETRANGE ECHO";
        let mut at = 0;
        while let Some(word) = args.get(at).filter(|word| word.starts_with("-")) {
            if args.get(at + 1).is_some_and(Word::may_add_options) {
                self.find(UNKNOWN, name, format!("{name} {} with more than a value", word.text));
                return;
            }
            at += match word.text.as_str() {
                "-h" | "-p" | "-n" | "-a" | "-u" | "--user" | "--pass" | "-s" => 2,
                "--raw" | "--no-raw" | "--csv" | "--json" | "--tls" | "--no-auth-warning"
                | "-c" | "--version" | "--help" | "-3" | "-2" => 1,
                _ => {
                    self.find(RUN, name, format!("{name} {}", word.text));
                    return;
                }
            };
        }
        let command = args.get(at).map_or(String::new(), |word| word.likely().to_ascii_uppercase());
        if command.is_empty() {
            self.runs_input = true;
            let text = self.input_text().unwrap_or_default().to_ascii_uppercase();
            let verbs = text.lines().filter_map(|line| line.split_whitespace().next());
            if verbs.into_iter().any(|verb| DESTROYS.contains(&verb)) {
                self.find(DROPS, name, format!("{name} with commands from its input"));
            }
        }
        let does = match command.as_str() {
            "" => RUN,
            known if DESTROYS.contains(&known) => DROPS,
            "MEMORY" if args.get(at + 1).is_none_or(|sub| !is_memory_question(sub.likely())) => {
                CHANGES
            }
            known if READS.split_whitespace().any(|read| read == known) => QUERIES,
            _ => CHANGES,
        };
        self.find(does, name, format!("{name} {command}"));
    }
}

#[cfg(test)]
mod tests {
    use super::statement;
    use crate::risk::Risk;

    #[test]
    fn statements_are_graded() {
        assert_eq!(statement("select count(*) from users where id > 3").risk, Risk::ReadOnly);
        assert_eq!(statement("select pg_terminate_backend(1)").risk, Risk::Unknown);
        assert_eq!(statement("insert into x values (1)").risk, Risk::Mutate);
        assert_eq!(statement("DROP TABLE users").risk, Risk::Dangerous);
        assert_eq!(statement("update users set a = 1").risk, Risk::Dangerous);
        assert_eq!(statement("/**/DROP TABLE x").risk, Risk::Dangerous);
        assert_eq!(statement("-- x\nDROP TABLE x").risk, Risk::Dangerous);
        assert_eq!(statement("select 'drop table x'").risk, Risk::ReadOnly);
        for text in [
            "/*!50000 select 1 */",
            "select 1 /*!; drop */",
            "select \"pg_sleep\"(1)",
            "select writefile('x', 'y')",
            "select * from t for update",
            "with x as (insert into y values (1) returning a) select * from x",
            "pragma user_version(5)",
            "pragma journal_mode = wal",
            "select E'\\'; drop table x; --'",
        ] {
            assert_ne!(statement(text).risk, Risk::ReadOnly, "{text}");
        }
    }
}
