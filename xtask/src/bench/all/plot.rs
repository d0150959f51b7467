//! A column of a table as bars.

use std::fmt::Write as _;

use super::page::Table;
use crate::failure::{Done, Failure};

const WIDTH: f64 = 720.0;
const LABELS: f64 = 330.0;
const FIGURES: f64 = 60.0;
const ROW: f64 = 24.0;
const TOP: f64 = 40.0;

/// What is drawn of a table.
pub(super) struct Plot {
    /// The file's.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Which of the measurement's tables.
    pub(super) table: usize,
    /// The columns that name a row.
    pub(super) labels: &'static [&'static str],
    /// The column that is drawn.
    pub(super) value: &'static str,
}

impl Plot {
    pub(super) fn svg(&self, table: &Table) -> Done<String> {
        let mut bars = Vec::new();
        for row in 0..table.rows() {
            let names: Done<Vec<_>> =
                self.labels.iter().map(|label| table.cell(row, label)).collect();
            let figure = table.cell(row, self.value)?;
            let value: f64 = figure
                .parse()
                .map_err(|_| Failure::new(format!("{}: {figure:?} is no number", self.title)))?;
            bars.push((names?.join(", "), figure, value));
        }
        let most = bars.iter().map(|bar| bar.2).fold(1.0, f64::max);
        let scale = (WIDTH - LABELS - FIGURES) / most;
        let height = TOP + ROW * f64::from(u32::try_from(bars.len()).unwrap_or(u32::MAX)) + 14.0;
        let mut picture = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <text x=\"12\" y=\"24\" font-weight=\"bold\">{}</text>\n",
            plain(self.title)
        );
        let mut y = TOP;
        for (name, figure, value) in &bars {
            let width = value * scale;
            let _ = writeln!(
                picture,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
                 <rect x=\"{LABELS}\" y=\"{}\" width=\"{width:.1}\" height=\"16\" fill=\"#4a7fb5\"/>\
                 <text x=\"{:.1}\" y=\"{}\">{figure}</text>",
                LABELS - 8.0,
                y + 15.0,
                plain(name),
                y + 3.0,
                LABELS + width + 6.0,
                y + 15.0,
            );
            y += ROW;
        }
        // Where what it is compared with stands.
        let x = LABELS + scale;
        let _ = writeln!(
            picture,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{y}\" stroke=\"#b03030\" \
             stroke-dasharray=\"4 3\"/>"
        );
        picture.push_str("</svg>\n");
        Ok(picture)
    }
}

/// As text of a picture: without the marks of code.
fn plain(text: &str) -> String {
    text.replace('`', "").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: Plot =
        Plot { name: "x", title: "`a` < b", table: 0, labels: &["what", "n"], value: "× bare" };

    #[test]
    fn a_column_is_drawn_and_a_missing_one_is_said() {
        let text =
            "| what | n | × bare |\n|---|---|---|\n| umbo | 1 | 2.00 |\n| other | 2 | 4.00 |\n";
        let tables = Table::all(text);
        let picture = PLOT.svg(&tables[0]).unwrap();
        assert!(picture.contains("a &lt; b") && picture.contains("other, 2"), "{picture}");
        assert!(
            picture.contains("width=\"330.0\"") && picture.contains("width=\"165.0\""),
            "{picture}"
        );
        let missing = Plot { value: "nowhere", ..PLOT };
        assert!(missing.svg(&tables[0]).unwrap_err().message().contains("nowhere"));
    }
}
