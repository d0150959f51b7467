//! Configuration: what holds if a call says nothing, and who said so.
//!
//! Later wins: the defaults of [`key`], the user's `config.toml`, the project's `.umbo/config.toml`,
//! `UMBO_*` variables, and then the words of the call, which the verbs put on top themselves. Of a
//! project that nobody trusts only what tightens counts ([`layers`]). A source that is wrong somewhere
//! is read as far as it is right; no command is started before it is right as a whole.

pub(crate) mod edit;
pub(crate) mod key;
pub(crate) mod layers;
mod nearest;
mod origin;
mod settings;
mod source;
mod statement;
pub(crate) mod value;

use std::ffi::OsString;
use std::path::PathBuf;

use umbo_gate::{Trust, project_of};
use umbo_view::visible_line;

use self::layers::Layers;
use self::source::Found;
use self::statement::Statement;
use crate::failure::Failure;

pub(crate) use self::key::KEYS;
pub(crate) use self::nearest::setting as did_you_mean;
pub(crate) use self::origin::{Place, Problem};
pub(crate) use self::settings::{SandboxSetting, Settings};
pub(crate) use self::source::{FILE, Source, Standing};
pub(crate) use self::statement::refusal;

/// What configuration is made from.
pub(crate) struct World<'a> {
    /// The user's own directory, absolute.
    pub(crate) user: Option<PathBuf>,
    /// Where the caller is.
    pub(crate) directory: Option<PathBuf>,
    /// A variable of the caller.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<OsString>,
}

/// All that was said, and what holds.
pub(crate) struct Config {
    /// The project around the caller.
    pub(crate) project: Option<PathBuf>,
    /// The files that were looked at.
    pub(crate) sources: Vec<Source>,
    pub(crate) layers: Layers,
    pub(crate) problems: Vec<Problem>,
}

impl Config {
    /// Reads everything. What is wrong is in `problems`.
    pub(crate) fn load(world: &World<'_>) -> Self {
        let project = world.directory.as_deref().map(project_of);
        let user = world.user.as_deref().map(source::user).unwrap_or_default();
        let own = project.as_deref().map(|project| source::project(project, world.user.as_deref()));
        let mut config =
            Self { project, sources: Vec::new(), layers: Layers::default(), problems: Vec::new() };
        for found in user.into_iter().chain(own) {
            let Found { mut source, text } = found;
            let sound = config.problems.len();
            match text {
                Ok(Some(text)) => {
                    let trust = source.trust();
                    config.add(Statement::of_file(source.layer, &source.path, &text), trust);
                }
                Ok(None) => {}
                Err(what) => config.problems.push(Problem::new(source.path.display(), what)),
            }
            if config.problems.len() > sound && source.standing != Standing::Unfit {
                source.standing = Standing::Wrong;
                source.meaning = "it has errors: no command starts before they are gone";
            }
            config.sources.push(source);
        }
        config.add(Statement::of_variables(world.variable), Trust::Trusted);
        config
    }

    fn add(&mut self, mut statement: Statement, trust: Trust) {
        self.problems.append(&mut statement.problems);
        self.layers.add(statement, trust);
    }

    /// The settings, typed.
    pub(crate) fn settings(&self) -> Settings {
        Settings::new(&self.layers, self.project.as_deref())
    }

    /// Fails if anything is wrong: a command must not run under settings that nobody meant.
    pub(crate) fn sound(&self) -> Result<(), Failure> {
        if self.problems.is_empty() {
            return Ok(());
        }
        let told = self.problems.iter().map(ToString::to_string);
        let told: Vec<String> = told.map(|told| visible_line(&told).into_owned()).collect();
        Err(Failure::laid_out(told.join("\numbo: ")))
    }
}
