//! What one source says: a file of TOML, or the variables. Every wrong key and every wrong value is
//! a problem of its own, so that all of them can be told at once.

use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

use toml_edit::{Document, Item, TableLike};
use umbo_gate::Layer;

use super::key::{self, KEYS, Key};
use super::nearest;
use super::origin::{Origin, Problem};
use super::value::{Kind, Value};

/// A setting that a source has.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) key: &'static Key,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// All that a source says.
#[derive(Debug, Default)]
pub(crate) struct Statement {
    pub(crate) said: Vec<Said>,
    pub(crate) problems: Vec<Problem>,
}

impl Statement {
    /// The text of a file.
    pub(crate) fn of_file(layer: Layer, path: &Path, text: &str) -> Self {
        let mut reader = Reader { layer, path, text, statement: Self::default() };
        match Document::parse(text) {
            Ok(document) => reader.table(document.as_table(), ""),
            Err(error) => {
                let message = error.message().trim().replace('\n', "; ");
                reader.wrong(error.span().as_ref(), format!("it is no TOML: {message}"));
            }
        }
        reader.statement
    }

    /// The variables of the caller.
    pub(crate) fn of_variables(variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let mut statement = Self::default();
        for key in KEYS.iter() {
            let Some(name) = key.variable() else { continue };
            let Some(text) = variable(&name) else { continue };
            if let Some(value) = text.to_str().and_then(|text| key.kind.read_text(text)) {
                statement.said.push(Said { key, value, origin: Origin::Variable(name) });
            } else {
                let given = format!("{:?}", text.to_string_lossy());
                statement.problems.push(Problem::new(name, refusal(key.kind, &given)));
            }
        }
        statement
    }
}

/// What to say to a value that does not fit.
pub(crate) fn refusal(kind: Kind, given: &str) -> String {
    let word = given.trim_matches(['"', '\'']);
    let near = umbo_text::nearest(word, kind.choices());
    let hint = umbo_text::did_you_mean(near.first().filter(|known| **known != word));
    let mut shown: String = given.chars().take(80).collect();
    if shown.len() < given.len() {
        shown.push('…');
    }
    format!("{shown} was given; accepted: {}{hint}", kind.accepted())
}

/// A file being read, which knows where a byte is.
struct Reader<'a> {
    layer: Layer,
    path: &'a Path,
    text: &'a str,
    statement: Statement,
}

impl Reader<'_> {
    fn table(&mut self, table: &dyn TableLike, within: &str) {
        for (name, item) in table.iter() {
            let place =
                if within.is_empty() { name.to_owned() } else { format!("{within}.{name}") };
            let span = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span());
            match (key::find(&place), item.as_table_like()) {
                (Some(key), _) => self.value(key, item, span.as_ref()),
                (None, Some(inner)) if nearest::is_table(&place) => self.table(inner, &place),
                (None, None) if nearest::is_table(&place) => {
                    let what = format!("`{place}` is a table; write [{place}] and its settings");
                    self.wrong(span.as_ref(), what);
                }
                (None, _) => {
                    let hint = nearest::setting(&place);
                    self.wrong(span.as_ref(), format!("there is no setting `{place}`{hint}"));
                }
            }
        }
    }

    fn value(&mut self, key: &'static Key, item: &Item, span: Option<&Range<usize>>) {
        let line = self.line(span);
        if let Some(value) = key.kind.read_toml(item) {
            let origin = Origin::File { layer: self.layer, path: self.path.to_owned(), line };
            self.statement.said.push(Said { key, value, origin });
            return;
        }
        // What a table of variables holds may be a secret.
        let given = match item.span().and_then(|span| self.text.get(span)) {
            Some(text) if key.kind != Kind::Variables => text.trim().to_owned(),
            _ => format!("{} {}", article(item.type_name()), item.type_name()),
        };
        self.wrong(span, format!("`{}`: {}", key.name, refusal(key.kind, &given)));
    }

    fn line(&self, span: Option<&Range<usize>>) -> usize {
        let start = span.map_or(0, |span| span.start.min(self.text.len()));
        self.text.as_bytes()[..start].split(|byte| *byte == b'\n').count()
    }

    fn wrong(&mut self, span: Option<&Range<usize>>, what: String) {
        let place = format!("{}:{}", self.path.display(), self.line(span));
        self.statement.problems.push(Problem::new(place, what));
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let statement = Statement::of_file(Layer::User, Path::new("/c.toml"), text);
        statement.problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_way_to_write_a_table_is_read() {
        for text in [
            "[tools.shell]\nenabled = true",
            "tools.shell.enabled = true",
            "[tools]\nshell = { enabled = true }",
            "\"tools\".'shell'.enabled = true",
        ] {
            let statement = Statement::of_file(Layer::User, Path::new("/c.toml"), text);
            assert_eq!(statement.said.len(), 1, "{text}: {:?}", statement.problems);
            assert_eq!(statement.said[0].value, Value::Flag(true));
        }
    }

    #[test]
    fn all_that_is_wrong_is_told_with_its_line() {
        let text = "max_runing = 1\n[tools.shell]\n# yes\nenabled = \"yes\"\nshel = 'nu'\n\
                    [exec]\nmode = 'gard'\n[colour]\n[[retention]]\n";
        assert_eq!(
            problems(text),
            [
                "/c.toml:1: there is no setting `max_runing`; did you mean `max_running`?",
                "/c.toml:4: `tools.shell.enabled`: \"yes\" was given; accepted: true or false",
                "/c.toml:5: there is no setting `tools.shell.shel`; did you mean `tools.shell.shell`?",
                "/c.toml:7: `exec.mode`: 'gard' was given; accepted: \"default\", \"accept_edits\", \
                 \"auto\", \"guard\", \"open\"; did you mean `guard`?",
                "/c.toml:8: there is no setting `colour`; `umbo config show` lists what there is",
                "/c.toml:9: `retention` is a table; write [retention] and its settings",
            ]
        );
        let broken = problems("a = 1\nb = = 2\n");
        assert!(broken[0].starts_with("/c.toml:2: it is no TOML: "), "{broken:?}");
        assert!(problems("[exec]\nmode='open'\nmode='open'\n")[0].starts_with("/c.toml:3: "));
        assert!(problems("exec = 1")[0].contains("`exec` is a table"));
    }

    #[test]
    fn the_value_of_a_variable_is_never_shown() {
        let said = problems("[environment]\nset = { TOKEN = 12345678 }\n");
        assert!(said[0].contains("a table of texts") && !said[0].contains("1234"), "{said:?}");
    }
}
