//! Rule files: TOML to rules, with the line of everything that is wrong.
//!
//! ```toml
//! [[rule]]
//! decision = "deny"                  # allow, ask or deny
//! reason = "Ask the release manager" # shown to the model
//! argv = ["git", ["push", "fetch"]]  # leading words; * in a word, "**" for any number of words
//! regex = "…"                        # anywhere in the command (allow: all of one simple command)
//! effect = ["delete", "overwrite"]
//! path = ["secrets/**", "~/.ssh/**"] # what is not absolute is in the project
//! host = "*.example.com"
//! recipe = "deploy*"
//! risk = "dangerous"                 # allow: the worst it covers; else the least it concerns
//! sandbox = "workspace+net"          # the profile it runs in; or a table, as
//! # sandbox = { profile = "workspace+net", allow_host = ["a.example"], allow_write = ["~/x"], allow_read = ["~/y"] }
//! [rule.examples]
//! match = ["git push"]
//! not_match = ["git status"]
//! ```

use std::ops::Range;
use std::path::Path;

use memchr::memchr_iter;
use regex::RegexBuilder;
use toml_edit::{Document, Item, TableLike, Value};
use umbo_command::{Kind, Risk};

use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::rule::{Rule, TextPattern, WordPattern};
use crate::sandbox::RuleSandbox;

/// A compiled expression takes no more memory than this.
const LARGEST_REGEX_BYTES: usize = 256 << 10;
/// A file has no more expressions than this: each takes time to compile.
const MOST_REGEXES: usize = 200;
/// A file has no more rules than this.
const MOST_RULES: usize = 2000;

const RULE_KEYS: [&str; 12] = [
    "name", "decision", "reason", "argv", "regex", "effect", "path", "host", "recipe", "risk",
    "sandbox", "examples",
];
const SANDBOX_KEYS: [&str; 4] = ["profile", "allow_write", "allow_read", "allow_host"];
const EXAMPLE_KEYS: [&str; 2] = ["match", "not_match"];
const KINDS: [(&str, Kind); 15] = [
    ("read", Kind::Read),
    ("write", Kind::Write),
    ("delete", Kind::Delete),
    ("overwrite", Kind::Overwrite),
    ("network", Kind::Network),
    ("privilege", Kind::Privilege),
    ("signal", Kind::Signal),
    ("install", Kind::Install),
    ("service", Kind::Service),
    ("history_rewrite", Kind::HistoryRewrite),
    ("publish", Kind::Publish),
    ("credential", Kind::Credential),
    ("device", Kind::Device),
    ("execute", Kind::Execute),
    ("unknown", Kind::Unknown),
];
const RISKS: [(&str, Risk); 4] = [
    ("read_only", Risk::ReadOnly),
    ("mutate", Risk::Mutate),
    ("unknown", Risk::Unknown),
    ("dangerous", Risk::Dangerous),
];

/// An example of a rule, to be checked.
#[derive(Debug, Clone)]
pub(crate) struct Example {
    /// Which rule of the file.
    pub(crate) rule: usize,
    pub(crate) command: String,
    pub(crate) matches: bool,
    pub(crate) line: usize,
}

/// What a rule file says.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleFile {
    pub(crate) rules: Vec<Rule>,
    pub(crate) examples: Vec<Example>,
}

impl RuleFile {
    /// Reads the text of a file.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self> {
        let reader = RuleParser { path, text };
        let document = Document::parse(text)
            .map_err(|error| reader.error(error.span().as_ref(), error.message().trim()))?;
        let root = document.as_table();
        reader.only(root, &["rule"])?;
        let Some(item) = root.get("rule") else { return Ok(Self::default()) };
        let tables = item.as_array_of_tables().ok_or_else(|| {
            reader.error(item.span().as_ref(), "`rule` is a list of tables; write [[rule]]")
        })?;
        if tables.len() > MOST_RULES {
            let problem = format!("{} rules are too many; the most is {MOST_RULES}", tables.len());
            return Err(reader.error(None, &problem));
        }
        let expressions = tables.iter().filter(|table| table.contains_key("regex")).count();
        if expressions > MOST_REGEXES {
            let problem = format!("{expressions} `regex` are too many; the most is {MOST_REGEXES}");
            return Err(reader.error(None, &problem));
        }
        let mut file = Self::default();
        for table in tables {
            let index = file.rules.len();
            let rule = reader.rule(table)?;
            if let Some(item) = table.get("examples") {
                file.examples.extend(reader.examples(item, index)?);
            }
            file.rules.push(rule);
        }
        Ok(file)
    }
}

/// A file being read, which knows where a byte is.
struct RuleParser<'a> {
    path: &'a Path,
    text: &'a str,
}

impl RuleParser<'_> {
    fn line(&self, span: Option<&Range<usize>>) -> usize {
        let start = span.map_or(0, |span| span.start.min(self.text.len()));
        memchr_iter(b'\n', &self.text.as_bytes()[..start]).count() + 1
    }

    fn error(&self, span: Option<&Range<usize>>, problem: &str) -> Error {
        Error::Rules {
            path: self.path.to_owned(),
            line: self.line(span),
            problem: problem.to_owned(),
        }
    }

    fn only(&self, table: &dyn TableLike, known: &[&str]) -> Result<()> {
        for (name, item) in table.iter() {
            if !known.contains(&name) {
                let span = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span());
                let hint = hint(name, known);
                return Err(self.error(span.as_ref(), &format!("there is no key `{name}`{hint}")));
            }
        }
        Ok(())
    }

    fn rule(&self, table: &toml_edit::Table) -> Result<Rule> {
        self.only(table, &RULE_KEYS)?;
        let span = table.span();
        let line = self.line(span.as_ref());
        let need = |name: &str| {
            table
                .get(name)
                .ok_or_else(|| self.error(span.as_ref(), &format!("the rule has no `{name}`")))
        };
        let decisions = Decision::ALL.map(|decision| (decision.as_str(), decision));
        let decision = self.choice(need("decision")?, "decision", &decisions)?;
        let reason = self.string(need("reason")?, "reason")?.to_owned();
        if reason.trim().is_empty() {
            return Err(self.error(need("reason")?.span().as_ref(), "`reason` is empty"));
        }
        let texts = |name: &str| {
            table.get(name).map_or_else(|| Ok(Vec::new()), |item| self.strings(item, name))
        };
        let rule = Rule {
            name: match table.get("name") {
                Some(item) => self.string(item, "name")?.to_owned(),
                None => format!("line {line}"),
            },
            decision,
            reason,
            line,
            argv: table.get("argv").map_or_else(|| Ok(Vec::new()), |item| self.argv(item))?,
            regex: table.get("regex").map(|item| self.regex(item)).transpose()?,
            effects: match table.get("effect") {
                None => Vec::new(),
                Some(item) => self.kinds(item)?,
            },
            paths: texts("path")?,
            recipes: texts("recipe")?,
            hosts: texts("host")?,
            risk: table.get("risk").map(|item| self.choice(item, "risk", &RISKS)).transpose()?,
            shown: None,
            sandbox: table.get("sandbox").map(|item| self.sandbox(item)).transpose()?,
        };
        let conditions = ["argv", "regex", "effect", "path", "host", "recipe"];
        if !conditions.iter().any(|name| table.contains_key(name))
            && (decision == Decision::Allow || rule.risk.is_none())
        {
            let problem = format!("the rule fits everything; give it one of {}", list(&conditions));
            return Err(self.error(span.as_ref(), &problem));
        }
        Ok(rule)
    }

    /// The name of a profile, or a table with it and with what it allows besides.
    fn sandbox(&self, item: &Item) -> Result<RuleSandbox> {
        let Some(table) = item.as_table_like() else {
            let profile = self.string(item, "sandbox")?.to_owned();
            return Ok(RuleSandbox { profile, ..RuleSandbox::default() });
        };
        self.only(table, &SANDBOX_KEYS)?;
        let profile = table.get("profile").ok_or_else(|| {
            self.error(item.span().as_ref(), "the `sandbox` of the rule has no `profile`")
        })?;
        let texts = |name: &str| {
            table.get(name).map_or_else(|| Ok(Vec::new()), |item| self.strings(item, name))
        };
        Ok(RuleSandbox {
            profile: self.string(profile, "profile")?.to_owned(),
            allow_write: texts("allow_write")?,
            allow_read: texts("allow_read")?,
            allow_host: texts("allow_host")?,
            only_tightens: false,
        })
    }

    fn string<'t>(&self, item: &'t Item, name: &str) -> Result<&'t str> {
        item.as_str().ok_or_else(|| {
            let problem = format!("`{name}` is text, not {}", article(item.type_name()));
            self.error(item.span().as_ref(), &problem)
        })
    }

    /// One text or a list of texts; none of them empty.
    fn strings(&self, item: &Item, name: &str) -> Result<Vec<String>> {
        let found: Vec<(&str, Option<Range<usize>>)> = match item.as_value() {
            Some(Value::String(text)) => vec![(text.value(), text.span())],
            Some(Value::Array(list)) => list
                .iter()
                .map(|value| {
                    value.as_str().map(|text| (text, value.span())).ok_or_else(|| {
                        let found = article(value.type_name());
                        let problem = format!("`{name}` is text or a list of texts, not {found}");
                        self.error(value.span().as_ref(), &problem)
                    })
                })
                .collect::<Result<_>>()?,
            _ => {
                let found = article(item.type_name());
                let problem = format!("`{name}` is text or a list of texts, not {found}");
                return Err(self.error(item.span().as_ref(), &problem));
            }
        };
        if found.is_empty() {
            return Err(self.error(item.span().as_ref(), &format!("`{name}` is an empty list")));
        }
        if let Some((_, span)) = found.iter().find(|(text, _)| text.is_empty()) {
            return Err(self.error(span.as_ref(), &format!("`{name}` has an empty text")));
        }
        Ok(found.into_iter().map(|(text, _)| text.to_owned()).collect())
    }

    fn choice<T: Copy>(&self, item: &Item, name: &str, known: &[(&str, T)]) -> Result<T> {
        let text = self.string(item, name)?;
        self.chosen(text, item.span().as_ref(), name, known)
    }

    fn chosen<T: Copy>(
        &self,
        text: &str,
        span: Option<&Range<usize>>,
        name: &str,
        known: &[(&str, T)],
    ) -> Result<T> {
        known.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            self.error(span, &format!("`{name}` cannot be \"{text}\"{}", hint(text, &words)))
        })
    }

    fn kinds(&self, item: &Item) -> Result<Vec<Kind>> {
        let texts = self.strings(item, "effect")?;
        let span = item.span();
        texts.iter().map(|text| self.chosen(text, span.as_ref(), "effect", &KINDS)).collect()
    }

    fn argv(&self, item: &Item) -> Result<Vec<WordPattern>> {
        let wrong = |span: Option<Range<usize>>| {
            self.error(
                span.as_ref(),
                "`argv` is a list of words; a list in it holds alternatives, as [\"git\", [\"push\", \"pull\"]]",
            )
        };
        let array = item.as_array().ok_or_else(|| wrong(item.span()))?;
        let mut elements = Vec::new();
        for value in array {
            elements.push(match value {
                Value::String(text) if text.value() == "**" => WordPattern::Many,
                Value::String(text) => WordPattern::One(vec![text.value().clone()]),
                Value::Array(list) if !list.is_empty() => WordPattern::One(
                    list.iter()
                        .map(|word| {
                            word.as_str().map(str::to_owned).ok_or_else(|| wrong(word.span()))
                        })
                        .collect::<Result<_>>()?,
                ),
                other => return Err(wrong(other.span())),
            });
        }
        match elements.first() {
            Some(WordPattern::One(_)) => Ok(elements),
            Some(WordPattern::Many) => {
                Err(self
                    .error(item.span().as_ref(), "`argv` begins with a program, not with \"**\""))
            }
            None => Err(self.error(item.span().as_ref(), "`argv` is an empty list")),
        }
    }

    fn regex(&self, item: &Item) -> Result<TextPattern> {
        let pattern = self.string(item, "regex")?;
        let build = |pattern: &str| {
            RegexBuilder::new(pattern)
                .size_limit(LARGEST_REGEX_BYTES)
                .nest_limit(64)
                .build()
                .map_err(|error| {
                    let what = error.to_string();
                    let last = what.lines().last().unwrap_or("it cannot be read").trim();
                    self.error(item.span().as_ref(), &format!("`regex`: {last}"))
                })
        };
        Ok(TextPattern { anywhere: build(pattern)?, whole: build(&format!(r"\A(?:{pattern})\z"))? })
    }

    fn examples(&self, item: &Item, rule: usize) -> Result<Vec<Example>> {
        let table = item.as_table_like().ok_or_else(|| {
            self.error(item.span().as_ref(), "`examples` is a table with `match` and `not_match`")
        })?;
        self.only(table, &EXAMPLE_KEYS)?;
        let mut examples = Vec::new();
        for (name, matches) in [("match", true), ("not_match", false)] {
            let Some(item) = table.get(name) else { continue };
            let list = item.as_array().ok_or_else(|| {
                self.error(item.span().as_ref(), &format!("`{name}` is a list of commands"))
            })?;
            for value in list {
                let command = value.as_str().ok_or_else(|| {
                    self.error(value.span().as_ref(), &format!("`{name}` is a list of commands"))
                })?;
                let line = self.line(value.span().as_ref());
                examples.push(Example { rule, command: command.to_owned(), matches, line });
            }
        }
        Ok(examples)
    }
}

fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The nearest known word, or all of them.
fn hint(word: &str, known: &[&str]) -> String {
    match umbo_text::nearest(word, known).first() {
        Some(meant) => umbo_text::did_you_mean([meant]),
        None => format!("; it is one of {}", list(known)),
    }
}
