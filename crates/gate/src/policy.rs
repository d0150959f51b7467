//! All rules that hold for a command, in their layers, and which of them decided.
//!
//! The layers are built-in, user, project and call. The strictest rule wins whatever its layer, so a
//! layer can tighten what is below it and never loosen it. Of a project nobody has trusted, the rules
//! that allow are set aside, and said to be.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Serialize;
use umbo_command::{Risk, Shell};

use crate::builtin;
use crate::decision::Decision;
use crate::digest::{Digest, Fields};
use crate::error::{Error, Result};
use crate::files::Unreadable;
use crate::place::Roots;
use crate::rule::Rule;
use crate::rulefile::{Example, RuleFile};
use crate::sandbox::RuleSandbox;
use crate::subject::Subject;

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Umbo itself.
    Builtin,
    /// The user's own file.
    User,
    /// The project's file.
    Project,
    /// This one call, or an approval.
    Call,
}

impl std::fmt::Display for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Builtin => "built-in",
            Self::User => "user",
            Self::Project => "project",
            Self::Call => "call",
        })
    }
}

/// Whether a project's file may loosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Its content is what the user looked at.
    Trusted,
    /// It may only tighten.
    Untrusted,
}

/// The rules of one source.
#[derive(Clone, Debug)]
struct PolicyFile {
    layer: Layer,
    path: PathBuf,
    rules: Vec<Rule>,
    /// Rules that allow, of a project that is not trusted.
    ignored: usize,
    /// What it says, and whether it is trusted.
    text: String,
}

/// Everything that decides about commands in one project.
#[derive(Clone, Debug)]
pub struct Policy {
    roots: Roots,
    sources: Vec<PolicyFile>,
    /// Of all the rules, once somebody asks: most commands are decided about without.
    digest: OnceLock<Digest>,
}

/// A rule that had a say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Matched {
    /// What it decides.
    pub decision: Decision,
    /// Where it comes from.
    pub layer: Layer,
    /// Its file; empty for rules that are in none.
    pub file: String,
    /// Its line in the file.
    pub line: usize,
    /// Its name.
    pub rule: String,
    /// Why it is there.
    pub reason: String,
    /// The sandbox it sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<RuleSandbox>,
}

impl Policy {
    /// The built-in rules for some roots.
    pub fn new(roots: Roots) -> Self {
        let path = PathBuf::from("built-in");
        let rules = builtin::rules();
        let builtin =
            PolicyFile { layer: Layer::Builtin, path, rules, ignored: 0, text: String::new() };
        Self { roots, sources: vec![builtin], digest: OnceLock::new() }
    }

    /// With the user's rules. Of rules that nobody confirmed only what tightens counts.
    pub fn user(self, path: &Path, text: &str, trust: Trust) -> Result<Self> {
        self.file(Layer::User, path, text, trust)
    }

    /// With the project's rules. Of an untrusted file only what tightens counts; it must be right all
    /// the same, for a file that cannot be read could have denied something.
    pub fn project(self, path: &Path, text: &str, trust: Trust) -> Result<Self> {
        self.file(Layer::Project, path, text, trust)
    }

    /// With the rules of one call.
    pub fn call(self, path: &Path, text: &str, trust: Trust) -> Result<Self> {
        self.file(Layer::Call, path, text, trust)
    }

    fn file(mut self, layer: Layer, path: &Path, text: &str, trust: Trust) -> Result<Self> {
        let RuleFile { mut rules, examples } = RuleFile::parse(path, text)?;
        self.check(path, &rules, &examples)?;
        let before = rules.len();
        if trust == Trust::Untrusted {
            rules.retain(|rule| rule.decision > Decision::Allow);
            for sandbox in rules.iter_mut().filter_map(|rule| rule.sandbox.as_mut()) {
                sandbox.only_tightens = true;
            }
        }
        // `dir/.umbo/rules.toml` speaks of `dir`, wherever the project begins.
        let directory = path.parent().and_then(Path::parent).filter(|_| layer == Layer::Project);
        if let Some(directory) = directory.filter(|directory| directory.is_absolute()) {
            for rule in &mut rules {
                rule.place_in(directory);
            }
        }
        let ignored = before - rules.len();
        let state = if trust == Trust::Trusted { "trusted" } else { "untrusted" };
        let text = format!("{state}\n{text}");
        self.sources.push(PolicyFile { layer, path: path.to_owned(), rules, ignored, text });
        self.digest = OnceLock::new();
        Ok(self)
    }

    /// Checks the examples of each rule against that rule alone.
    fn check(&self, path: &Path, rules: &[Rule], examples: &[Example]) -> Result<()> {
        for example in examples {
            let Some(rule) = rules.get(example.rule) else { continue };
            if self.fits(rule, &example.command) != example.matches {
                let (is, should) = if example.matches {
                    ("does not match", "match")
                } else {
                    ("matches", "not match")
                };
                let problem = format!(
                    "the rule {is} `{}`, and its examples say it should {should}",
                    example.command
                );
                return Err(Error::Rules { path: path.to_owned(), line: example.line, problem });
            }
        }
        Ok(())
    }

    /// Whether one rule by itself fits a command. The risk an `allow` rule covers is left aside: its
    /// examples are about what it matches.
    pub(crate) fn fits(&self, rule: &Rule, command: &str) -> bool {
        let reading = umbo_command::read(command, Shell::Bash);
        let recipe = command.strip_prefix("recipe:");
        let subject = Subject::new(command, &reading, &self.roots.project, &self.roots);
        let subject = subject.recipe(recipe);
        if rule.decision > Decision::Allow {
            return rule.concerns(&subject);
        }
        let mut changing = subject
            .located_effects
            .iter()
            .filter(|located| located.risk > Risk::ReadOnly)
            .peekable();
        if changing.peek().is_none() {
            return subject.located_effects.iter().any(|located| rule.covers(&subject, located));
        }
        reading.exact && changing.all(|located| rule.covers(&subject, located))
    }

    /// The directories it decides against.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// A hash of all the rules: an approval holds only under the policy it was given for.
    pub fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| {
            let mut fields = Fields::default();
            for source in &self.sources {
                // The built-in ones have no text: they are what they are.
                let rules = match source.layer {
                    Layer::Builtin => Cow::Owned(format!("{:?}", source.rules)),
                    _ => Cow::Borrowed(&source.text),
                };
                fields.add(source.layer.to_string()).add(rules.as_str());
            }
            fields.finish()
        })
    }

    /// How many rules each file has, and how many are set aside because nobody trusted it.
    pub fn files(&self) -> impl Iterator<Item = (Layer, &Path, usize, usize)> {
        self.sources
            .iter()
            .map(|source| (source.layer, source.path.as_path(), source.rules.len(), source.ignored))
    }

    /// Every rule, the strictest first, and of one decision in the order of the layers.
    pub fn rules(&self) -> Vec<Matched> {
        let mut all: Vec<Matched> =
            self.each().map(|(source, rule)| Matched::new(source, rule)).collect();
        all.sort_by_key(|matched| std::cmp::Reverse(matched.decision));
        all
    }

    /// What no reader gets to see.
    pub fn unreadable(&self) -> Unreadable {
        let rules = self.each().filter(|(_, rule)| rule.hides());
        let patterns = rules.flat_map(|(_, rule)| rule.absolute_paths(&self.roots));
        Unreadable::new(patterns.collect())
    }

    /// Every `deny` and `ask` rule that concerns a command, the deciding one first.
    pub(crate) fn concerning(&self, subject: &Subject<'_>) -> Vec<Matched> {
        let mut found: Vec<Matched> = self
            .each()
            .filter(|(_, rule)| rule.decision > Decision::Allow && rule.concerns(subject))
            .map(|(source, rule)| Matched::new(source, rule))
            .collect();
        // The order within one decision is that of the layers: the sort keeps it.
        found.sort_by_key(|matched| std::cmp::Reverse(matched.decision));
        found
    }

    /// The rules that together allow a command; `None` if an effect is not covered. `extra` are
    /// approved prefixes.
    pub(crate) fn allowing(&self, subject: &Subject<'_>, extra: &[Rule]) -> Option<Vec<Matched>> {
        if !subject.reading.exact {
            return None;
        }
        let granted = PolicyFile {
            layer: Layer::Call,
            path: PathBuf::new(),
            rules: extra.to_vec(),
            ignored: 0,
            text: String::new(),
        };
        let mut found: Vec<Matched> = Vec::new();
        for located in
            subject.located_effects.iter().filter(|located| located.risk > Risk::ReadOnly)
        {
            let extra = granted.rules.iter().map(|rule| (&granted, rule));
            let (source, rule) =
                self.each().chain(extra).find(|(_, rule)| rule.covers(subject, located))?;
            let matched = Matched::new(source, rule);
            if !found.contains(&matched) {
                found.push(matched);
            }
        }
        (!found.is_empty()).then_some(found)
    }

    fn each(&self) -> impl Iterator<Item = (&PolicyFile, &Rule)> {
        self.sources.iter().flat_map(|source| source.rules.iter().map(move |rule| (source, rule)))
    }
}

impl Matched {
    fn new(source: &PolicyFile, rule: &Rule) -> Self {
        Self {
            decision: rule.decision,
            layer: source.layer,
            file: source.path.display().to_string(),
            line: rule.line,
            rule: rule.name.clone(),
            reason: rule.reason.clone(),
            sandbox: rule.sandbox.clone(),
        }
    }

    /// How messages name the rule.
    pub fn source(&self) -> String {
        match self.layer {
            Layer::Builtin => format!("built-in rule `{}`", self.rule),
            Layer::Call => format!("rule `{}` of this call", self.rule),
            _ => format!("{} rule `{}` ({}:{})", self.layer, self.rule, self.file, self.line),
        }
    }
}
