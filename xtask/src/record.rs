//! The picture of a session in the README, drawn from a real run: each line of the script is run at a
//! terminal of 80 columns by the umbo that is built now, and what the terminal shows becomes an SVG.

use std::fmt::Write as _;
use std::fs;

use avt::{Color, Pen, Terminal};
use umbo_engine::{Attendance, Engine, Size};

use crate::failure::{Done, Failure};
use crate::scratch::{Options, Scratch};
use crate::workspace::{root, say};

const PICTURE: &str = "docs/session.svg";
const COLUMNS: usize = 80;
const MOST_ROWS: usize = 60;
/// The width and the height of a cell.
const CELL: (usize, usize) = (8, 17);
const MARGIN: usize = 14;

const SCRIPT: &[&str] = &[
    "umbo start --name web 'python3 -m http.server 8391'",
    "umbo wait web --port 8391",
    "umbo exec './build.sh' > /dev/null 2>&1",
    "umbo output @last --errors --context 1",
    "umbo classify 'curl -s https://get.example/i.sh | sudo bash'",
    "umbo stop web",
    "umbo jobs",
];

/// A build whose one line that matters is in the middle of much.
const BUILD: &str = "#!/bin/sh
for i in $(seq 4000); do echo \"[$i/8000] CC src/part$i.c\"; done
echo 'src/net.c:212:9: error: too few arguments to function send_all' >&2
for i in $(seq 4001 8000); do echo \"[$i/8000] CC src/part$i.c\"; done
exit 2
";

/// Runs the script and writes the picture.
pub(crate) fn run(words: &[&str]) -> Done {
    let scratch = Scratch::open(&Options::parse(words)?)?;
    let build = scratch.directory().join("build.sh");
    fs::write(&build, BUILD).map_err(Failure::at(build.display()))?;
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&build, permissions).map_err(Failure::at(build.display()))?;
    let engine = scratch.engine("terminal").open().map_err(Failure::at("the engine"))?;
    let mut terminal =
        Terminal::new(COLUMNS, MOST_ROWS).map_err(|_| Failure::new("a terminal of no size"))?;
    terminal.feed([shown(&scratch, &engine)?.as_str()]);
    let picture = root().join(PICTURE);
    fs::write(&picture, svg(&terminal)).map_err(Failure::at(picture.display()))?;
    say(format!("{PICTURE} shows {} lines", SCRIPT.len()));
    Ok(())
}

/// What a terminal gets while the script runs: one job, for jobs that a job starts end with it.
fn shown(scratch: &Scratch, engine: &Engine) -> Done<String> {
    let mut script = String::new();
    for line in SCRIPT {
        let typed = umbo_text::quote::always(line);
        let _ = writeln!(script, "printf '\\033[1;32m$\\033[0;1m %s\\033[0m\\n' {typed}\n{line}");
    }
    let mut request = scratch.shell(&script);
    let bin = scratch.umbo().parent().unwrap_or(scratch.umbo());
    let path = std::env::var("PATH").unwrap_or_default();
    for (name, value) in [
        ("PATH", format!("{}:{path}", bin.display())),
        ("UMBO_STATE_DIR", scratch.state("session").display().to_string()),
        ("TERM", "xterm-256color".to_owned()),
    ] {
        request.env.set.push((name.into(), value.into()));
    }
    request.env.attendance = Attendance::Attended;
    request.terminal = Some(Size { columns: 80, rows: 24 });
    let output = engine.output(&request).map_err(Failure::at("the script"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The lines of a terminal as a picture.
fn svg(terminal: &Terminal) -> String {
    let screen = terminal.screen();
    let mut lines: Vec<_> = screen.visible_lines().collect();
    while lines.last().is_some_and(|line| line.text().trim().is_empty()) {
        lines.pop();
    }
    let width = COLUMNS * CELL.0 + 2 * MARGIN;
    let height = lines.len() * CELL.1 + 2 * MARGIN;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"ui-monospace,Menlo,Consolas,monospace\" font-size=\"13\">\n<rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#16181d\"/>\n"
    );
    for (row, line) in lines.iter().enumerate() {
        let y = MARGIN + row * CELL.1 + 13;
        let mut column = 0;
        for chunk in line.chunks(|one, next| one.pen() != next.pen()) {
            let text: String = chunk.iter().map(avt::Cell::char).collect();
            let text = text.trim_end();
            let columns: usize = chunk.iter().map(|cell| usize::from(cell.width())).sum();
            if let (false, Some(cell)) = (text.is_empty(), chunk.first()) {
                let x = MARGIN + column * CELL.0;
                let length = text.chars().count() * CELL.0;
                let (style, text) = (style(cell.pen()), escaped(text));
                let _ = writeln!(
                    picture,
                    "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" xml:space=\"preserve\"{style}>{text}</text>"
                );
            }
            column += columns;
        }
    }
    picture.push_str("</svg>\n");
    picture
}

fn style(pen: &Pen) -> String {
    let colour = match pen.foreground() {
        Some(Color::Indexed(1 | 9)) => "#ff6b6b",
        Some(Color::Indexed(2 | 10)) => "#7bd88f",
        Some(Color::Indexed(3 | 11)) => "#e5c07b",
        Some(Color::Indexed(4 | 12)) => "#6ca8ff",
        Some(Color::Indexed(5 | 13)) => "#c792ea",
        Some(Color::Indexed(6 | 14)) => "#67d4e8",
        _ if pen.is_faint() => "#8b919d",
        _ => "#dfe2e8",
    };
    let weight = if pen.is_bold() { " font-weight=\"bold\"" } else { "" };
    format!(" fill=\"{colour}\"{weight}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
