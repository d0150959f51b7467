//! The words of `umbo config`.

use clap::{Args as ClapArgs, Subcommand};

use crate::complete;

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print the settings that hold here
    Show(ConfigShow),
    /// Print where your own file of settings is, whether it exists or not
    Path(ConfigPath),
    /// Change a setting in your own file
    Set(ConfigSet),
    /// Remove a setting from your own file
    Unset(ConfigUnset),
    /// Check the files and the variables that hold here
    Check,
    /// Let changes of your own files count that were not made by `umbo config`
    Confirm,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigShow {
    /// Say where each value comes from
    #[arg(long)]
    pub(crate) origin: bool,
    /// Only this setting, or the settings of this table
    #[arg(value_name = "KEY", add = complete::settings())]
    pub(crate) key: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigPath {
    /// That of the project instead
    #[arg(long)]
    pub(crate) project: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigSet {
    /// The setting, as tools.mode or environment.set.NAME
    #[arg(value_name = "KEY", add = complete::settings())]
    pub(crate) key: String,
    /// Its value; of a list, several with commas between, or as a file has it
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) value: String,
    /// Without a person at a terminal: for scripts, though not inside a job
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigUnset {
    /// The setting
    #[arg(value_name = "KEY", add = complete::settings())]
    pub(crate) key: String,
    /// Without a person at a terminal: for scripts, though not inside a job
    #[arg(long, short)]
    pub(crate) yes: bool,
}
