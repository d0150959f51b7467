//! Database shells: a statement given on the command line is read, anything else is unknown.

use crate::effect::{Does, FETCH, READ, REMOTE, RUN, UNKNOWN, WRITE};
use crate::row::Row;
use crate::walk::Walk;
use crate::word::Word;

const QUERIES: Does = Does { phrase: "asks a database", ..READ };
const CHANGES: Does = Does { phrase: "changes a database", ..WRITE };
pub(crate) const DROPS: Does = Does { phrase: "deletes from a database", ..REMOTE };

/// Functions that compute and nothing else.
const FUNCTIONS: &str = "count sum min max avg lower upper coalesce length substr substring round abs now date time datetime strftime extract date_trunc to_char concat trim replace ifnull nullif cast group_concat string_agg array_agg json_extract json_each json_agg jsonb_agg row_number rank dense_rank lag lead over partition in exists and or not values as on using with select distinct interval total printf typeof version current_database current_user pg_size_pretty pg_total_relation_size pg_relation_size pg_database_size year month day left right greatest least generate_series unnest any all filter within random iif like glob instr julianday";

/// What a statement does to the database.
pub(crate) fn statement(text: &str) -> Does {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let first = lower.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let has = |word: &str| words.contains(&word);
    match first {
        "" => QUERIES,
        _ if has("drop") || has("truncate") || has("program") => DROPS,
        "delete" => DROPS,
        "update" if !has("where") => DROPS,
        "select" | "show" | "describe" | "desc" | "explain" | "with" | "values" | "table" => {
            let acts = [
                "into", "insert", "update", "delete", "analyze", "alter", "create", "copy", "call",
                "execute", "attach", "outfile", "dumpfile",
            ]
            .iter()
            .any(|word| has(word));
            if acts || !only_known_functions(&lower) { UNKNOWN } else { QUERIES }
        }
        "pragma" => {
            let reads = [
                "table_info",
                "table_list",
                "index_list",
                "index_info",
                "database_list",
                "foreign_key_list",
                "user_version",
                "integrity_check",
                "journal_mode",
                "page_count",
                "page_size",
                "table_xinfo",
            ];
            if reads.iter().any(|name| has(name)) && !lower.contains('=') {
                QUERIES
            } else {
                CHANGES
            }
        }
        "insert" | "update" | "create" | "alter" | "grant" | "revoke" | "vacuum" | "reindex"
        | "analyze" | "begin" | "commit" | "set" | "use" | "replace" | "comment" => CHANGES,
        _ => UNKNOWN,
    }
}

fn only_known_functions(lower: &str) -> bool {
    if lower.contains("/*") || lower.contains("--") {
        return false;
    }
    let mut rest = lower;
    while let Some(at) = rest.find('(') {
        let before = rest[..at].trim_end();
        // A name may be quoted, and is then not one we can look up.
        if before.ends_with(['"', '`', ']', '\'']) {
            return false;
        }
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let name = before.rsplit(|c: char| !in_name(c)).next().unwrap_or("");
        if !name.is_empty() && !FUNCTIONS.split_whitespace().any(|known| known == name) {
            return false;
        }
        rest = &rest[at + 1..];
    }
    true
}

/// Whether code for a document store takes something away.
pub(crate) fn deletes_documents(text: &str) -> bool {
    const CALLS: [&str; 12] = [".drop(", "dropdatabase(", ".remove(", ".deletemany(", ".deleteone(", ".dropindex", "dropuser(", "droprole(", ".findoneanddelete(", "dropcollection(", "detach delete", ".truncate("];
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

impl Walk {
    pub(super) fn sql(&mut self, name: &str, args: &[Word]) {
        let sqlite = name.starts_with("sqlite") || name == "duckdb";
        let mut statements: Vec<&Word> = Vec::new();
        let mut operands: Vec<&Word> = Vec::new();
        let mut at = 0;
        while let Some(word) = args.get(at) {
            at += 1;
            let text = word.text.as_str();
            if !word.literal && word.may_be_option {
                self.find(UNKNOWN, name, format!("{name} with an argument only known at run time"));
                continue;
            }
            match text {
                "-c" | "--command" | "-e" | "--execute" | "-cmd" if !(sqlite && text == "-e") => {
                    statements.extend(args.get(at));
                    at += 1;
                }
                "-h" | "-U" | "-d" | "-p" | "-P" | "-u" | "-D" | "--host" | "--user" | "--port"
                | "--username" | "--dbname" | "--database" | "-F" | "-separator" | "-v"
                | "--password"
                    if !sqlite || text == "-separator" =>
                {
                    if args.get(at).is_some_and(Word::may_add_options) {
                        self.find(UNKNOWN, name, format!("{name} {text} with more than a value"));
                    }
                    let attached = name == "mysql" && text == "-p" || text == "-v";
                    at += usize::from(!attached);
                }
                "-header" | "-csv" | "-json" | "-column" | "-line" | "-list" | "-readonly"
                | "-table" | "-box" | "-markdown" | "-noheader" | "-batch" | "--batch" | "-t"
                | "-A" | "-At" | "-tA" | "-q" | "-X" | "-x" | "-w" | "-N" | "-B" | "-s" | "-l"
                | "--list" | "--no-psqlrc" | "-tAc" | "-Atc" | "-qAt" | "-qtAc" | "-Nse"
                | "-sNe" | "--csv" | "--html" | "-bail" | "-Atqc" | "-tc" => {
                    if text.ends_with(['c', 'e'])
                        && !matches!(text, "-table" | "-line")
                        && !text.starts_with("--")
                    {
                        statements.extend(args.get(at));
                        at += 1;
                    }
                }
                _ if text.starts_with("--")
                    && text.contains('=')
                    && [
                        "--host",
                        "--user",
                        "--port",
                        "--username",
                        "--dbname",
                        "--database",
                        "--password",
                    ]
                    .iter()
                    .any(|o| text.starts_with(o)) => {}
                _ if !sqlite
                    && ["-h", "-U", "-u", "-p", "-P", "-d"].iter().any(|o| text.starts_with(o))
                    && text.len() > 2
                    && !text.starts_with("--") => {}
                _ if text.starts_with("--command=") || text.starts_with("--execute=") => {
                    self.find(UNKNOWN, name, format!("{name} {text}"));
                }
                _ if text.starts_with('-') => self.find(RUN, name, format!("{name} {text}")),
                _ => operands.push(word),
            }
        }
        if sqlite {
            statements.extend(operands.iter().skip(1));
        }
        let lists = args.iter().any(|word| matches!(word.text.as_str(), "-l" | "--list"));
        self.statements(name, &statements, lists);
        if statements.is_empty() && !lists {
            self.statements_fed(name);
        }
    }

    /// Database shells whose language is not read: only what deletes is seen.
    pub(super) fn other_statements(&mut self, row: &'static Row, name: &str, args: &[Word]) {
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
            for part in text.split(';') {
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
                "-h" | "-p" | "-n" | "-a" | "-u" => 2,
                "--raw" | "--no-raw" | "--csv" | "--tls" | "--no-auth-warning" => 1,
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
    }
}
