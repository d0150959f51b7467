//! What was measured, as a page, and the lines of it that the README shows.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use super::plot::Plot;
use crate::failure::{Done, Failure};
use crate::workspace::root;

const BEGIN: &str = "<!-- figures -->";
const END: &str = "<!-- end of figures -->";

/// How a measurement prints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Tables, and sentences between them.
    Markdown,
    /// Lines that stand as they are.
    Text,
}

/// A measurement that was made.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) against: &'static str,
    pub(super) command: String,
    pub(super) format: Format,
    pub(super) plots: &'static [Plot],
    pub(super) text: String,
}

impl Part {
    pub(super) fn draw(&self, plot: &Plot) -> Done<String> {
        plot.svg(&self.table(plot.table)?)
    }

    fn table(&self, index: usize) -> Done<Table> {
        let missing = || Failure::new(format!("{}: no table {index}", self.title));
        Table::all(&self.text).into_iter().nth(index).ok_or_else(missing)
    }
}

/// A table of Markdown: its heads, and rows of as many cells.
pub(super) struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Every table of a text.
    pub(super) fn all(text: &str) -> Vec<Self> {
        let mut tables: Vec<Self> = Vec::new();
        let mut is_inside = false;
        for line in text.lines() {
            let Some(cells) = cells(line) else {
                is_inside = false;
                continue;
            };
            match tables.last_mut() {
                Some(table) if is_inside => {
                    if !cells.iter().all(|cell| cell.chars().all(|c| c == '-')) {
                        table.rows.push(cells);
                    }
                }
                _ => tables.push(Self { heads: cells, rows: Vec::new() }),
            }
            is_inside = true;
        }
        tables
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn cell(&self, row: usize, head: &str) -> Done<String> {
        let column = self.heads.iter().position(|name| name == head);
        let column = column.ok_or_else(|| {
            Failure::new(format!("no column {head:?} in {}", self.heads.join(" | ")))
        })?;
        let cell = self.rows.get(row).and_then(|cells| cells.get(column));
        cell.cloned().ok_or_else(|| Failure::new(format!("row {row} has no {head:?}")))
    }
}

fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(|cell| cell.trim().to_owned()).collect())
}

/// A line of the summary: one column of some rows of a table.
struct Line {
    what: &'static str,
    part: &'static str,
    table: usize,
    column: &'static str,
    /// How the rows begin that are shown; all of them if there is none.
    rows: &'static [&'static str],
    unit: &'static str,
}

const LINES: &[Line] = &[
    Line {
        what: "`true` from the library after a rest, beside a bare `sh -c true`",
        part: "exec",
        table: 0,
        column: "× bare `sh -c true`",
        rows: &["umbo library, `true`"],
        unit: " ×",
    },
    Line {
        what: "`umbo exec true` from a shell, beside the same",
        part: "exec",
        table: 0,
        column: "× bare `sh -c true`",
        rows: &["`umbo exec true`, the command line"],
        unit: " ×",
    },
    Line {
        what: "the same of the static program that `cargo xtask dist` makes",
        part: "exec",
        table: 0,
        column: "× bare `sh -c true`",
        rows: &["`umbo exec true`, the static program"],
        unit: " ×",
    },
    Line {
        what: "commands a second from the library with 1, 2, 4, 8 outstanding, share of a bare loop",
        part: "exec",
        table: 3,
        column: "share",
        rows: &[],
        unit: "",
    },
    Line {
        what: "`echo hi` over MCP, beside a bare `sh -c`: umbo, others",
        part: "mcp",
        table: 2,
        column: "× bare",
        rows: &[],
        unit: " ×",
    },
    Line {
        what: "the least that takes",
        part: "mcp",
        table: 5,
        column: "× bare",
        rows: &[],
        unit: " ×",
    },
    Line {
        what: "commands a second over MCP with 1, 2, 4, 8 outstanding, share of a bare loop",
        part: "mcp",
        table: 3,
        column: "share",
        rows: &[],
        unit: "",
    },
    Line {
        what: "start of a server to its first answer, ms",
        part: "mcp",
        table: 1,
        column: "start to first answer, ms (median)",
        rows: &[],
        unit: "",
    },
    Line {
        what: "its memory at rest, MB",
        part: "mcp",
        table: 1,
        column: "resident at rest, MB",
        rows: &[],
        unit: "",
    },
    Line {
        what: "64 commands at once over MCP: answered rightly",
        part: "mcp",
        table: 4,
        column: "of 64 at once: right",
        rows: &[],
        unit: "",
    },
    Line {
        what: "short commands over MCP: outputs lost",
        part: "mcp",
        table: 4,
        column: "outputs lost",
        rows: &[],
        unit: "",
    },
    Line {
        what: "capturing a flood of output, throughput beside `cat > file`",
        part: "flood",
        table: 0,
        column: "ratio of medians",
        rows: &[],
        unit: " ×",
    },
    Line {
        what: "`true` in a sandbox, beside the same without",
        part: "sandbox",
        table: 0,
        column: "p50 × no sandbox",
        rows: &["workspace"],
        unit: " ×",
    },
];

/// What the README shows of the servers: the name of the line, the table and the column of it.
const OF_SERVERS: &[(&str, usize, &str)] = &[
    ("`echo hi` over MCP, × a bare `sh -c`", 2, "× bare"),
    ("start to first answer, ms", 1, "start to first answer, ms (median)"),
    ("memory at rest, MB", 1, "resident at rest, MB"),
    ("of 64 commands at once, answered rightly", 4, "of 64 at once: right"),
];

/// The table of the README: the servers beside each other.
pub(super) fn readme_table(parts: &[Part]) -> Done<String> {
    let missing = || Failure::new("no measurement of servers");
    let part = parts.iter().find(|part| part.name == "mcp").ok_or_else(missing)?;
    let mut text = String::new();
    for &(what, table, column) in OF_SERVERS {
        let table = part.table(table)?;
        let first = table.heads.first().cloned().unwrap_or_default();
        let cells = |column: &str| -> Done<String> {
            let cells: Done<Vec<_>> =
                (0..table.rows()).map(|row| table.cell(row, column)).collect();
            Ok(cells?.join(" | ").replace("umbo, commands in a sandbox", "in a sandbox"))
        };
        if text.is_empty() {
            let _ =
                writeln!(text, "| | {} |\n|---|{}", cells(&first)?, "--:|".repeat(table.rows()));
        }
        let _ = writeln!(text, "| {what} | {} |", cells(column)?);
    }
    Ok(text)
}

/// The figures in short.
pub(super) fn summary(parts: &[Part]) -> Done<String> {
    let mut text = "| what | measured |\n|---|---|\n".to_owned();
    for line in LINES {
        let Some(part) = parts.iter().find(|part| part.name == line.part) else { continue };
        let table = part.table(line.table)?;
        let first = table.heads.first().cloned().unwrap_or_default();
        let mut figures = Vec::new();
        for row in 0..table.rows() {
            let name = table.cell(row, &first)?;
            if line.rows.is_empty() || line.rows.iter().any(|begin| name.starts_with(begin)) {
                let figure = format!("{}{}", table.cell(row, line.column)?, line.unit);
                // One figure, or one for each number of calls, needs no name.
                let is_named = line.rows.len() != 1 && name.parse::<u32>().is_err();
                figures.push(if is_named { format!("{name} {figure}") } else { figure });
            }
        }
        let _ = writeln!(text, "| {} | {} |", line.what, figures.join("; "));
    }
    Ok(text)
}

/// The README with its table in the place of the one that was there.
pub(super) fn with_table(readme: &str, table: &str) -> Done<String> {
    let missing = || Failure::new(format!("README.md has no {BEGIN} … {END}"));
    let (before, rest) = readme.split_once(BEGIN).ok_or_else(missing)?;
    let (_, after) = rest.split_once(END).ok_or_else(missing)?;
    Ok(format!("{before}{BEGIN}\n{table}{END}{after}"))
}

pub(super) fn page(parts: &[Part], summary: &str, is_quick: bool) -> Done<String> {
    let command = if is_quick { "cargo xtask bench all --quick" } else { "cargo xtask bench all" };
    let mut text = format!(
        "# Figures\n\nWritten by `{command}` on {}: {}. What is compared ran in turns in one run; the \
         ratios are what to look at, the times are of that machine on that day.\n\n{summary}",
        said("date", &["-u", "+%F"])?,
        machine()?
    );
    for part in parts {
        let _ = write!(
            text,
            "\n## {}\n\nMeasured against: {}. Again: `{}`.\n\n",
            part.title, part.against, part.command
        );
        for plot in part.plots {
            let _ = writeln!(text, "![{}](figures/{}.svg)\n", plot.title, plot.name);
        }
        let body = part.text.trim_matches('\n');
        let _ = match part.format {
            Format::Markdown => writeln!(text, "{body}"),
            Format::Text => writeln!(text, "```text\n{body}\n```"),
        };
    }
    Ok(text)
}

/// What it ran on.
fn machine() -> Done<String> {
    let of = |file: &str, key: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
        line.split_once(':').map_or("?", |(_, value)| value.trim()).to_owned()
    };
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let memory: u64 = of("/proc/meminfo", "MemTotal").trim_end_matches(" kB").parse().unwrap_or(0);
    let disk = std::env::temp_dir().display().to_string();
    let disk = said("stat", &["--file-system", "--format=%T", &disk])?;
    Ok(format!(
        "{}, {cores} processors, {} GB, Linux {}, {disk}, {}, umbo {}",
        of("/proc/cpuinfo", "model name"),
        memory >> 20,
        said("uname", &["-r"])?,
        said("rustc", &["--version"])?,
        said("git", &["rev-parse", "--short", "HEAD"])?
    ))
}

fn said(program: &str, words: &[&str]) -> Done<String> {
    let output = Command::new(program)
        .args(words)
        .current_dir(root())
        .output()
        .map_err(Failure::at(program))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &'static str, text: &str) -> Part {
        Part {
            name,
            title: "T",
            against: "nothing",
            command: String::new(),
            format: Format::Markdown,
            plots: &[],
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_summary_takes_its_cells_by_name_and_a_missing_column_is_said() {
        let flood = "load 0.1\n\n| writer | ratio of medians |\n|---|---|\n| dd | 1.08 |\n| head | 0.70 |\n\nwanted";
        let text = summary(&[part("flood", flood)]).unwrap();
        assert!(text.ends_with("| dd 1.08 ×; head 0.70 × |\n"), "{text}");
        let renamed = flood.replace("ratio of medians", "ratio");
        let failure = summary(&[part("flood", &renamed)]).err().unwrap();
        assert!(failure.message().contains("ratio of medians"), "{}", failure.message());
    }

    #[test]
    fn the_readme_has_the_servers_beside_each_other() {
        let table = |heads: &str, rows: &str| format!("| {heads} |\n|---|---|\n{rows}\n");
        let rows = "| umbo | 1 |\n| umbo, commands in a sandbox | 2 |\n| other | 3 |\n";
        let start = "start to first answer, ms (median) | resident at rest, MB";
        let three = rows.replace(" |\n", " | 9 |\n");
        let text = [
            table("client | n", "| a | 1 |\n"),
            table(&format!("server | {start}"), &three),
            table("`echo hi` | × bare", rows),
            table("outstanding | share", "| 1 | 0.5 |\n"),
            table("server | of 64 at once: right", rows),
        ];
        let shown = readme_table(&[part("mcp", &text.concat())]).unwrap();
        assert!(
            shown.starts_with("| | umbo | in a sandbox | other |\n|---|--:|--:|--:|\n"),
            "{shown}"
        );
        assert!(shown.contains("| memory at rest, MB | 9 | 9 | 9 |\n"), "{shown}");
        assert!(readme_table(&[]).is_err());
    }

    #[test]
    fn the_table_of_the_readme_is_replaced_and_nothing_else() {
        let readme = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        assert_eq!(with_table(&readme, "new\n").unwrap(), format!("a\n{BEGIN}\nnew\n{END}\nb\n"));
        assert!(with_table("nothing", "new").is_err());
    }
}
