//! Secrets: finding them in text and putting something else in their place.
//!
//! A [`Masker`] knows three kinds of secrets: values of environment variables with telling names,
//! entries of secrets files, and the shapes of well-known tokens. It works on sanitised text, so
//! callers sanitise first; then colour codes, carriage returns and the like cannot hide a secret.
//! Plain values are also found in base64 (at every alignment), in hexadecimal, URL-encoded, and escaped as
//! in JSON, HTML, Python and shells; when they are broken into lines, with characters between that nobody
//! sees; and in the dumps of `xxd`, `hexdump` and `od`.
//!
//! The text of a secret never reaches `Debug`, errors, or [`Masker::explain`].

mod dump;
mod entry;
mod environment;
mod find;
mod form;
mod format;
mod pattern;
mod placeholder;
mod stream;
mod wrap;

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

pub use entry::{Entry, Mode, merge_secrets, parse_secrets};
pub use environment::looks_secret;
pub(crate) use find::Edge;
use find::{Before, Finder, Hit};
pub use format::format_names;
use pattern::Pattern;
use placeholder::Placeholders;
pub use stream::MaskStream;

/// Why a masker could not be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaskError {
    /// A secrets file is not a YAML list of entries.
    #[error("{file}: not a list of secrets{place}; each entry has `type` and `content`")]
    Yaml {
        /// The file, as the caller named it.
        file: String,
        /// Where in it.
        place: String,
    },
    /// An entry of a secrets file is wrong.
    #[error("{file}, entry {entry}: `{field}` {problem}")]
    Entry {
        /// The file, as the caller named it.
        file: String,
        /// The position of the entry, from 1.
        entry: usize,
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A format to leave out does not exist.
    #[error("no well-known secret format is called `{id}`")]
    UnknownFormat {
        /// The name that was given.
        id: String,
    },
    /// There are more secrets than can be searched for at once.
    #[error("too many secrets to search for at once")]
    TooMany,
}

/// One line of [`Masker::explain`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Where the secret comes from: a variable, an entry of a file, a format.
    pub source: String,
    /// Why it counts as a secret.
    pub reason: &'static str,
    /// What becomes of it.
    pub mode: Mode,
    /// In how many forms it is searched for.
    pub forms: usize,
    /// Its placeholder, for a plain value that is obfuscated.
    pub placeholder: Option<String>,
}

/// Something that is masked, and why.
struct Rule {
    source: String,
    reason: &'static str,
    mode: Mode,
    /// The value as given, for plain ones.
    value: Option<String>,
    forms: usize,
}

/// What to put in the place of a range of text.
#[derive(Clone)]
pub(crate) struct Match {
    pub(crate) range: Range<usize>,
    /// Where the text begins that says that this is a secret.
    context: usize,
    pub(crate) replacement: String,
    /// Whether it began inside of the match before, and only its rest is left.
    joined: bool,
    /// Whether more text would tell if it is a secret, or where it ends.
    pub(crate) open: bool,
}

/// Masks secrets in text and restores their placeholders. It can learn of more secrets while it is used.
pub struct Masker {
    known: RwLock<Arc<Known>>,
    placeholders: Mutex<Placeholders>,
    /// What it was built from, to be built anew with more. Held while it learns.
    source: Mutex<MaskerBuilder>,
}

/// What a masker looks for.
pub(crate) struct Known {
    rules: Vec<Rule>,
    finder: Finder,
}

/// Collects what a [`Masker`] is to mask.
#[derive(Clone, Default)]
pub struct MaskerBuilder {
    variables: Vec<(String, String)>,
    entries: Vec<Entry>,
    formats: bool,
    without: Vec<String>,
    salt: Vec<u8>,
}

impl MaskerBuilder {
    /// Takes the variables whose names look secret and whose values have eight characters or more.
    #[must_use]
    pub fn environment<N, V>(mut self, variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<String>,
        V: Into<String>,
    {
        self.variables.extend(secret_variables(variables));
        self
    }

    /// Takes the entries of a secrets file.
    #[must_use]
    pub fn entries(mut self, entries: Vec<Entry>) -> Self {
        self.entries.extend(entries);
        self
    }

    /// Leaves all well-known formats out.
    #[must_use]
    pub fn without_formats(mut self) -> Self {
        self.formats = false;
        self
    }

    /// Leaves one well-known format out, by its name.
    #[must_use]
    pub fn without_format(mut self, id: impl Into<String>) -> Self {
        self.without.push(id.into());
        self
    }

    /// Mixes `salt` into the placeholders, so that they say nothing to someone without it.
    #[must_use]
    pub fn salt(mut self, salt: impl Into<Vec<u8>>) -> Self {
        self.salt = salt.into();
        self
    }

    /// Builds the masker.
    pub fn build(self) -> Result<Masker, MaskError> {
        let mut placeholders = Placeholders::new(&self.salt);
        let known = self.clone().known(&mut placeholders)?;
        Ok(Masker {
            known: RwLock::new(Arc::new(known)),
            placeholders: Mutex::new(placeholders),
            source: Mutex::new(self),
        })
    }

    fn known(self, placeholders: &mut Placeholders) -> Result<Known, MaskError> {
        let mut rules: Vec<Rule> = Vec::new();
        let mut forms: Vec<(String, usize)> = Vec::new();
        let mut values: Vec<(String, usize)> = Vec::new();
        let mut known = HashSet::new();
        let mut patterns = Vec::new();
        let mut plain = |rules: &mut Vec<Rule>, mut rule: Rule, value: &str| {
            let index = rules.len();
            let own = form::forms(value);
            values.push((value.trim_end().to_owned(), index));
            rule.forms = own.len();
            for form in own {
                // The first to list a value decides what becomes of it.
                if known.insert(form.clone()) {
                    if rule.mode == Mode::Obfuscate {
                        placeholders.of(&form);
                    }
                    forms.push((form, index));
                }
            }
            rules.push(rule);
        };
        for (name, value) in self.variables {
            let rule = Rule::new(format!("variable {name}"), "its name looks secret", &value);
            plain(&mut rules, rule, &value);
        }
        for Entry { content, mode, origin } in self.entries {
            match content {
                entry::Content::Plain(value) => {
                    let rule = Rule { mode, ..Rule::new(origin, "listed as plain", &value) };
                    plain(&mut rules, rule, &value);
                }
                entry::Content::Pattern { pattern, flags } => {
                    let pattern = Pattern::new(&pattern, &flags).map_err(|(field, problem)| {
                        MaskError::Entry { file: origin.clone(), entry: 0, field, problem }
                    })?;
                    patterns.push((pattern, rules.len()));
                    rules.push(Rule { mode, ..Rule::shape(origin, "listed as regex") });
                }
            }
        }
        let mut formats = Vec::new();
        let chosen = format::chosen(&self.without)?;
        for index in if self.formats { chosen } else { Vec::new() } {
            formats.push((index, rules.len()));
            let source = format!("format {}", format::FORMATS[index].id);
            rules.push(Rule::shape(source, "the shape of a well-known token"));
        }
        let finder = Finder::new(forms, values, &formats, patterns)?;
        Ok(Known { rules, finder })
    }
}

/// The variables whose names look secret and whose values have eight characters or more.
pub fn secret_variables<N, V>(variables: impl IntoIterator<Item = (N, V)>) -> Vec<(String, String)>
where
    N: Into<String>,
    V: Into<String>,
{
    let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
    let is_secret = |(name, value): &(String, String)| {
        looks_secret(name)
            && !environment::names_a_place(name, value)
            && value.trim().chars().count() >= environment::SHORTEST
    };
    variables.filter(is_secret).collect()
}

impl Rule {
    fn new(source: String, reason: &'static str, value: &str) -> Self {
        Self { value: Some(value.to_owned()), ..Self::shape(source, reason) }
    }

    fn shape(source: String, reason: &'static str) -> Self {
        Self { source, reason, mode: Mode::Obfuscate, value: None, forms: 1 }
    }
}

impl Masker {
    /// A builder with the well-known formats on and nothing else.
    pub fn builder() -> MaskerBuilder {
        MaskerBuilder { formats: true, ..MaskerBuilder::default() }
    }

    /// Learns of variables that it has not known: those whose names look secret are masked from now on.
    /// Whether there were any.
    pub fn learn<N, V>(
        &self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Result<bool, MaskError>
    where
        N: Into<String>,
        V: Into<String>,
    {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fresh = secret_variables(variables);
        fresh.retain(|(_, value)| source.variables.iter().all(|(_, known)| known != value));
        if fresh.is_empty() {
            return Ok(false);
        }
        source.variables.extend(fresh);
        let known = source.clone().known(&mut self.lock())?;
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
        Ok(true)
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Masks a short text: an error message, an event, a command line. The text is taken as it
    /// is; text with control characters in it should be sanitised first.
    pub fn mask_text(&self, text: &str) -> String {
        Self::apply(text, &self.matches(text, Edge::default()))
    }

    /// The same where the text is, which is left alone if there is nothing to mask.
    pub fn mask_in_place(&self, text: &mut String) {
        let matches = self.matches(text, Edge::default());
        if !matches.is_empty() {
            *text = Self::apply(text, &matches);
        }
    }

    /// Turns the placeholders in `text` back into the secrets they stand for.
    pub fn restore(&self, text: &str) -> String {
        placeholder::restore(text, &self.lock())
    }

    /// Whether `text` has something in it that looks like a placeholder and stands for nothing here.
    pub fn has_unknown_placeholder(&self, text: &str) -> bool {
        placeholder::has_unknown(text, &self.lock())
    }

    /// The secrets that were found by their shape since this was last asked, with their placeholders: for
    /// whoever keeps them, so that another masker can restore them.
    pub fn take_found(&self) -> Vec<(Arc<str>, Arc<str>)> {
        self.lock().take_found()
    }

    /// Takes placeholders and their secrets that another masker found.
    pub fn recall<P, V>(&self, found: impl IntoIterator<Item = (P, V)>)
    where
        P: AsRef<str>,
        V: AsRef<str>,
    {
        let mut placeholders = self.lock();
        for (placeholder, value) in found {
            placeholders.recall(placeholder.as_ref(), value.as_ref());
        }
    }

    /// What would be masked and why, without the values.
    pub fn explain(&self) -> Vec<Explanation> {
        let explain = |rule: &Rule| Explanation {
            source: rule.source.clone(),
            reason: rule.reason,
            mode: rule.mode.clone(),
            forms: rule.forms,
            placeholder: rule
                .value
                .as_ref()
                .filter(|_| rule.mode == Mode::Obfuscate)
                .map(|value| self.lock().of(value).to_string()),
        };
        self.known().rules.iter().map(explain).collect()
    }

    /// How many bytes of text around a border decide what is a secret there.
    pub(crate) fn reach(&self) -> usize {
        self.known().finder.reach()
    }

    /// The secrets in `text`, one after the other.
    pub(crate) fn matches(&self, text: &str, edge: Edge) -> Vec<Match> {
        let known = self.known();
        self.settle(&known, text, known.finder.hits(text, Before::default(), edge))
    }

    /// Orders hits and finds their replacements.
    fn settle(&self, known: &Known, text: &str, hits: Vec<Hit>) -> Vec<Match> {
        if hits.is_empty() {
            return Vec::new();
        }
        let mut placeholders = self.lock();
        find::settle(text, hits)
            .into_iter()
            .map(|hit| {
                let secret = hit.whole.as_deref().unwrap_or(&text[hit.range.clone()]);
                let replacement = match known.rules.get(hit.rule).map(|rule| &rule.mode) {
                    Some(Mode::Replace) => placeholders.same_length(&text[hit.range.clone()]),
                    Some(Mode::ReplaceWith(replacement)) => replacement.clone(),
                    // Of half a secret nobody needs the placeholder again.
                    Some(Mode::Obfuscate) | None if hit.open => placeholders.of(secret).to_string(),
                    Some(Mode::Obfuscate) | None => placeholders.of_found(secret).to_string(),
                };
                let Hit { range, context, joined, open, .. } = hit;
                Match { range, context, replacement, joined, open }
            })
            .collect()
    }

    fn apply(text: &str, matches: &[Match]) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for found in matches {
            out.push_str(&text[at..found.range.start]);
            out.push_str(&found.replacement);
            at = found.range.end;
        }
        out.push_str(&text[at..]);
        out
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Placeholders> {
        // The map is whole after every statement, so a panic elsewhere cannot spoil it.
        self.placeholders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masker").field("rules", &self.known().rules.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for MaskerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaskerBuilder").field("entries", &self.entries).finish_non_exhaustive()
    }
}
