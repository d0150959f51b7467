//! Every measurement in one run, written down: `docs/figures.md`, its plots, and the table of the
//! README. What a figure is measured against stands beside it, from the same run.

mod page;
mod plot;

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use self::page::{Format, Part};
use self::plot::Plot;
use crate::failure::{Done, Failure};
use crate::setup;
use crate::workspace::{read, root, say};

const PAGE: &str = "docs/figures.md";
const PLOTS: &str = "docs/figures";
const README: &str = "README.md";
/// What measurements said whose page is not written yet.
const KEPT: &str = "target/figures";
const OPTIONS: [&str; 2] = ["--quick", "--resume"];

/// One measurement, by the words that run it alone.
struct Measurement {
    words: &'static [&'static str],
    /// Words that make it short.
    quick: &'static [&'static str],
    title: &'static str,
    /// What it is measured against.
    against: &'static str,
    format: Format,
    plots: &'static [Plot],
}

const MEASUREMENTS: &[Measurement] = &[
    Measurement {
        words: &["exec"],
        quick: &["60"],
        title: "One command",
        against: "a bare `sh -c` of the same line in the same run, its output read to its end",
        format: Format::Markdown,
        plots: &[
            Plot {
                name: "exec",
                title: "One command after a rest, × a bare `sh -c true`",
                table: 0,
                labels: &["call"],
                value: "× bare `sh -c true`",
            },
            Plot {
                name: "exec-many",
                title: "Commands a second from the library, share of a bare loop",
                table: 3,
                labels: &["outstanding"],
                value: "share",
            },
        ],
    },
    Measurement {
        words: &["mcp"],
        quick: &["1000"],
        title: "Over MCP",
        against: "a bare `sh -c` in turns with each call, and the servers of others with the same client",
        format: Format::Markdown,
        plots: &[
            Plot {
                name: "mcp",
                title: "`echo hi` over MCP, × bare",
                table: 2,
                labels: &["`echo hi`"],
                value: "× bare",
            },
            Plot {
                name: "mcp-many",
                title: "Commands a second over MCP, share of a bare loop",
                table: 3,
                labels: &["outstanding"],
                value: "share",
            },
        ],
    },
    Measurement {
        words: &["flood"],
        quick: &["256M"],
        title: "Much output",
        against: "`cat > file` of the same bytes, in turns",
        format: Format::Markdown,
        plots: &[Plot {
            name: "flood",
            title: "Capturing a flood, throughput × `cat > file`",
            table: 0,
            labels: &["writer"],
            value: "ratio of medians",
        }],
    },
    Measurement {
        words: &["streams"],
        quick: &["1"],
        title: "Following, and long logs",
        against: "one follower alone; the same view of a log of 1 MiB",
        format: Format::Markdown,
        plots: &[],
    },
    Measurement {
        words: &["jobs"],
        quick: &["200"],
        title: "Many live jobs",
        against: "what is wanted, beside each figure",
        format: Format::Markdown,
        plots: &[],
    },
    Measurement {
        words: &["history"],
        quick: &["--quick"],
        title: "With a long history",
        against: "the same call in a state directory in which nothing has ended",
        format: Format::Markdown,
        plots: &[Plot {
            name: "history",
            title: "A call with the longest history, × the same with none",
            table: 0,
            labels: &["call", "alive"],
            value: "last / first",
        }],
    },
    Measurement {
        words: &["sandbox"],
        quick: &["60"],
        title: "In a sandbox",
        against: "the same command through umbo without one, in turns",
        format: Format::Markdown,
        plots: &[Plot {
            name: "sandbox",
            title: "`true` in a sandbox, × without",
            table: 0,
            labels: &["what"],
            value: "p50 × no sandbox",
        }],
    },
    Measurement {
        words: &["view"],
        quick: &[],
        title: "Views of output",
        against: "`memcpy` of the same bytes; the end of a short log",
        format: Format::Text,
        plots: &[],
    },
    Measurement {
        words: &["command"],
        quick: &[],
        title: "Reading commands",
        against: "the labels of a corpus; 10 µs for an everyday command",
        format: Format::Text,
        plots: &[],
    },
    Measurement {
        words: &["gate"],
        quick: &[],
        title: "Deciding about them",
        against: "the goals that the lines name",
        format: Format::Text,
        plots: &[],
    },
    Measurement {
        words: &["files"],
        quick: &[],
        title: "Files",
        against: "`rg` and `fd` over the same tree, in turns",
        format: Format::Text,
        plots: &[],
    },
    Measurement {
        words: &["recipes"],
        quick: &[],
        title: "Finding a project's tasks",
        against: "a second look at the same folder",
        format: Format::Text,
        plots: &[],
    },
    Measurement {
        words: &["agent"],
        quick: &[],
        title: "The agent",
        against: "the same requests to the same scripted model without an agent",
        format: Format::Text,
        plots: &[],
    },
];

/// `bench all [--quick] [--resume] [NAME…]`: with names only those, and nothing is written down.
pub(crate) fn run(words: &[&str]) -> Done {
    let is_quick = words.contains(&"--quick");
    let is_resumed = words.contains(&"--resume");
    let names: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with("--")).collect();
    if let Some(word) = words.iter().find(|w| w.starts_with("--") && !OPTIONS.contains(w)) {
        return Err(Failure::new(format!(
            "no such option: {word}; there are {}",
            OPTIONS.join(" and ")
        )));
    }
    if let Some(name) = names.iter().find(|name| !MEASUREMENTS.iter().any(|m| m.words[0] == **name))
    {
        return Err(Failure::new(format!("no such measurement: {name}")));
    }
    if names.is_empty() {
        // Before an hour is spent: is there a place for the result?
        page::with_table(&read(README)?, "")?;
    }
    // And are those there that it is measured against?
    setup::packages()?;
    if !is_resumed && root().join(KEPT).exists() {
        fs::remove_dir_all(root().join(KEPT)).map_err(Failure::at(KEPT))?;
    }
    let mut parts = Vec::new();
    let mut problems = Vec::new();
    for measurement in MEASUREMENTS {
        if names.is_empty() || names.contains(&measurement.words[0]) {
            match measurement.part(is_quick, is_resumed) {
                Ok(part) => parts.push(part),
                Err(failure) => problems.push(failure.message().to_owned()),
            }
        }
    }
    if !problems.is_empty() {
        problems
            .push(format!("the rest is kept in {KEPT}; `bench all --resume` does what is missing"));
        return Err(Failure::new(problems.join("\n")));
    }
    let summary = page::summary(&parts);
    if !names.is_empty() {
        say(summary?);
        return Ok(());
    }
    write(&parts, &summary?, is_quick)
}

impl Measurement {
    /// Runs it, or takes what an interrupted run has measured. What it says is kept until a page is written.
    fn part(&self, is_quick: bool, is_resumed: bool) -> Done<Part> {
        let more = if is_quick { self.quick } else { &[] };
        let words = [&["bench"], self.words, more].concat();
        let command = format!("cargo xtask {}", words.join(" "));
        let kept = root().join(KEPT).join(format!("{}.txt", words[1..].join("-")));
        let text = match fs::read_to_string(&kept) {
            Ok(text) if is_resumed => text,
            _ => {
                say(format!("\n## {} (`{command}`)\n", self.title));
                let text = self.run(&words)?;
                fs::create_dir_all(root().join(KEPT)).map_err(Failure::at(KEPT))?;
                fs::write(&kept, &text).map_err(Failure::at(kept.display()))?;
                text
            }
        };
        let Self { title, against, format, plots, .. } = *self;
        Ok(Part { name: self.words[0], title, against, command, format, plots, text })
    }

    /// Runs it, and passes on what it says as it says it.
    fn run(&self, words: &[&str]) -> Done<String> {
        let own = env::current_exe().map_err(Failure::at("this program"))?;
        let mut command = Command::new(own);
        command.args(words).current_dir(root()).stdout(Stdio::piped());
        // Cargo's own, in which every program that is measured would look for its libraries.
        command.env_remove("LD_LIBRARY_PATH");
        let mut child = command.spawn().map_err(Failure::at(self.title))?;
        let Some(output) = child.stdout.take() else {
            return Err(Failure::new("a measurement without a pipe"));
        };
        let mut text = String::new();
        for line in BufReader::new(output).lines() {
            let line = line.map_err(Failure::at(self.title))?;
            say(&line);
            text.push_str(&line);
            text.push('\n');
        }
        let status = child.wait().map_err(Failure::at(self.title))?;
        if !status.success() {
            return Err(Failure::of(self.title, status));
        }
        Ok(text)
    }
}

fn write(parts: &[Part], summary: &str, is_quick: bool) -> Done {
    let plots = root().join(PLOTS);
    fs::create_dir_all(&plots).map_err(Failure::at(PLOTS))?;
    for part in parts {
        for plot in part.plots {
            let file = plots.join(format!("{}.svg", plot.name));
            fs::write(&file, part.draw(plot)?).map_err(Failure::at(file.display()))?;
        }
    }
    let readme = page::with_table(&read(README)?, &page::readme_table(parts)?)?;
    fs::write(root().join(README), readme).map_err(Failure::at(README))?;
    let text = page::page(parts, summary, is_quick)?;
    fs::write(root().join(PAGE), text).map_err(Failure::at(PAGE))?;
    // The next run measures anew.
    fs::remove_dir_all(root().join(KEPT)).map_err(Failure::at(KEPT))?;
    say(format!("\n{PAGE}, {PLOTS} and the table of {README} are written"));
    Ok(())
}
