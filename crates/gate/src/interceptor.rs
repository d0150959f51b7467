//! Pointing the model to a better tool than the shell, if it has one.

use umbo_command::{Kind, Reading};

use crate::subject::base_name;

/// A tool that does better what some commands do.
struct ToolAdvice {
    tool: &'static str,
    fits: fn(&Reading) -> bool,
    message: &'static str,
}

/// In this order: what writes is more telling than what it is written with.
const TOOL_ADVICE: [ToolAdvice; 5] = [
    ToolAdvice {
        tool: "write",
        fits: writes_text,
        message: "Use the `write` tool instead of echo/cat redirection. It creates parent directories and never mangles quotes.",
    },
    ToolAdvice {
        tool: "edit",
        fits: edits_in_place,
        message: "Use the `edit` tool instead of sed -i, perl -i or awk -i inplace. It shows what changed.",
    },
    ToolAdvice {
        tool: "read",
        fits: |reading| {
            only(reading, &["cat", "head", "tail", "less", "more"]) && names_a_file(reading)
        },
        message: "Use the `read` tool instead of cat/head/tail. It numbers lines and bounds the output.",
    },
    ToolAdvice {
        tool: "search",
        fits: |reading| only(reading, &["grep", "egrep", "fgrep", "rg", "ripgrep", "ag", "ack"]),
        message: "Use the `search` tool instead of grep/rg. It respects .gitignore and bounds the output.",
    },
    ToolAdvice {
        tool: "find",
        fits: finds_files,
        message: "Use the `find` tool instead of find/fd/locate. It is faster and respects .gitignore.",
    },
];

/// What to tell a model that uses the shell for something it has a tool for.
pub fn intercept(command: &str, reading: &Reading, tools: &[&str]) -> Option<String> {
    let better = TOOL_ADVICE
        .iter()
        .find(|better| tools.contains(&better.tool) && reading.exact && (better.fits)(reading))?;
    Some(format!("Blocked: {}\n\nOriginal command: {command}", better.message))
}

fn programs(reading: &Reading) -> impl Iterator<Item = &str> {
    reading
        .commands
        .iter()
        .filter_map(|command| command.argv.first())
        .map(|word| base_name(word.likely()))
}

/// Whether the first thing run is one of these and nothing after it does more than filter: a pipeline
/// into another program is the shell's own strength.
fn only(reading: &Reading, names: &[&str]) -> bool {
    let mut programs = programs(reading).filter(|name| *name != "cd").peekable();
    programs.peek().is_some() && programs.all(|name| names.contains(&name)) && !redirects(reading)
}

fn redirects(reading: &Reading) -> bool {
    reading.effects.iter().any(|effect| effect.kind == Kind::Overwrite)
}

fn names_a_file(reading: &Reading) -> bool {
    reading.effects.iter().any(|effect| effect.kind == Kind::Read && effect.target.is_some())
}

fn finds_files(reading: &Reading) -> bool {
    let by_name =
        ["-name", "-iname", "-type", "-path", "-regex", "-glob", "--glob", "-g", "-e", "-t"];
    let asks = reading.commands.iter().any(|command| {
        let program = command.argv.first().map_or("", |word| base_name(word.likely()));
        program != "find" || command.argv.iter().any(|word| by_name.contains(&word.likely()))
    });
    asks && only(reading, &["find", "fd", "fdfind", "locate"])
        && reading.effects.iter().all(|effect| effect.kind == Kind::Read)
}

fn edits_in_place(reading: &Reading) -> bool {
    reading.commands.iter().any(|command| {
        let words: Vec<&str> = command.argv.iter().map(umbo_command::Word::likely).collect();
        let program = words.first().map_or("", |word| base_name(word));
        let short = |letter: char| {
            words.iter().skip(1).any(|word| {
                word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
            })
        };
        match program {
            "sed" | "gsed" => short('i') || words.iter().any(|word| word.starts_with("--in-place")),
            "perl" => words.iter().any(|word| {
                word.starts_with('-')
                    && !word.starts_with("--")
                    && word[1..].contains('i')
                    && word[1..].chars().all(|c| "pnaliwe0.bkorg".contains(c))
            }),
            "awk" | "gawk" => words.windows(2).any(|pair| pair == ["-i", "inplace"]),
            _ => false,
        }
    })
}

fn writes_text(reading: &Reading) -> bool {
    let to_file = reading.effects.iter().any(|effect| {
        effect.kind == Kind::Overwrite
            && effect.program.contains('>')
            && effect.target.as_deref().is_some_and(|target| !target.starts_with("/dev/"))
    });
    let mut programs = programs(reading).filter(|name| *name != "cd").peekable();
    to_file
        && programs.peek().is_some()
        && programs.all(|name| matches!(name, "echo" | "printf" | "cat"))
}
