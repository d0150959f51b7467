//! A file's bytes in hexadecimal, 16 a line, as `xxd` writes them.

use std::fmt::Write as _;
use std::io::{Read, Seek, SeekFrom};

use super::page::{PageLimits, TextLine, TextPage, TextSource};
use crate::Error;
use crate::paths::Located;
use crate::select::LineRange;
use crate::text::{Encoding, LineEnding};

const ROW_BYTES: u64 = 16;
/// The length of a written row.
const ROW_CHARS: usize = 68;

pub(super) fn page(
    located: &Located,
    range: LineRange,
    limits: PageLimits,
) -> Result<TextPage, Error> {
    let failed = || Error::io("read", &located.shown);
    let mut file = located.open()?;
    let total = located.size().div_ceil(ROW_BYTES);
    let most = limits.lines.min(limits.bytes / ROW_CHARS).max(1) as u64;
    let last = range.end.unwrap_or(u64::MAX).min(total).min(range.start.saturating_add(most - 1));
    let offset = (range.start - 1).saturating_mul(ROW_BYTES);
    file.seek(SeekFrom::Start(offset)).map_err(failed())?;
    let count = (last + 1).saturating_sub(range.start).saturating_mul(ROW_BYTES);
    let mut bytes = Vec::new();
    file.take(count).read_to_end(&mut bytes).map_err(failed())?;
    let rows = bytes.chunks(16).enumerate().map(|(at, row)| {
        let at = at as u64;
        TextLine {
            number: range.start + at,
            anchor: None,
            text: text(offset + at * ROW_BYTES, row),
        }
    });
    let lines: Vec<TextLine> = rows.collect();
    let is_end = range.end.is_none_or(|end| end > last) && last < total;
    Ok(TextPage {
        source: TextSource::Hex,
        lines,
        total_lines: Some(total),
        next_line: is_end.then_some(last + 1),
        encoding: Encoding::Utf8,
        line_ending: LineEnding::Lf,
        final_newline: None,
        clamped_lines: Vec::new(),
        changed_while_read: false,
        folded: Vec::new(),
        notes: Vec::new(),
    })
}

fn text(offset: u64, row: &[u8]) -> String {
    let mut hex = String::new();
    for pair in row.chunks(2) {
        for byte in pair {
            let _ = write!(hex, "{byte:02x}");
        }
        hex.push(' ');
    }
    let plain = |byte: &u8| if (32..127).contains(byte) { char::from(*byte) } else { '.' };
    format!("{offset:08x}: {hex:<40} {}", row.iter().map(plain).collect::<String>())
}
