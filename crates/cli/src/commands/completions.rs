//! `umbo completions`: scripts that complete verbs, jobs and the tasks of the project.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Args, CompletionShell, Completions};
use crate::failure::Failure;
use crate::install::clients::CLIENTS;
use crate::output;

/// The verbs that take a job.
const JOB_VERBS: &str = "output input wait stop screen attach";
/// The verbs that take a client.
const CLIENT_VERBS: &str = "install uninstall";

pub(crate) fn run(args: &Completions) -> Result<ExitCode, Failure> {
    let verbs: Vec<String> =
        Args::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let verbs = verbs.join(" ");
    let clients: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
    let clients = clients.join(" ");
    let jobs = r#"umbo jobs --json 2>/dev/null | grep -o '"job":"[^"]*"' | cut -d'"' -f4"#;
    let tasks = "umbo recipes --names 2>/dev/null";
    let text = match args.shell {
        CompletionShell::Bash => format!(
            "_umbo() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}}
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{verbs}' -- \"$word\"))
  elif [[ $verb == run ]]; then
    # A task's name is the project's to choose: nothing of it may be expanded.
    local name
    while IFS= read -r name; do
      [[ $name == \"$word\"* ]] && COMPREPLY+=(\"$(printf %q \"$name\")\")
    done < <({tasks})
  elif [[ ' {JOB_VERBS} ' == *\" $verb \"* ]]; then
    COMPREPLY=($(compgen -W \"@last $({jobs})\" -- \"$word\"))
  elif [[ ' {CLIENT_VERBS} ' == *\" $verb \"* ]]; then
    COMPREPLY=($(compgen -W '{clients}' -- \"$word\"))
  fi
}}
complete -o default -F _umbo umbo"
        ),
        CompletionShell::Zsh => format!(
            "#compdef umbo
_umbo() {{
  if ((CURRENT == 2)); then
    compadd {verbs}
  elif [[ $words[2] == run ]]; then
    compadd -- ${{(f)\"$({tasks})\"}}
  elif [[ ' {JOB_VERBS} ' == *\" $words[2] \"* ]]; then
    compadd -- @last ${{(f)\"$({jobs})\"}}
  elif [[ ' {CLIENT_VERBS} ' == *\" $words[2] \"* ]]; then
    compadd {clients}
  fi
}}
compdef _umbo umbo"
        ),
        CompletionShell::Fish => format!(
            "complete -c umbo -f
complete -c umbo -n __fish_use_subcommand -a '{verbs}'
complete -c umbo -n '__fish_seen_subcommand_from run' -a '({tasks})'
complete -c umbo -n '__fish_seen_subcommand_from {JOB_VERBS}' -a '@last'
complete -c umbo -n '__fish_seen_subcommand_from {CLIENT_VERBS}' -a '{clients}'"
        ),
    };
    output::line(text)?;
    Ok(ExitCode::SUCCESS)
}
