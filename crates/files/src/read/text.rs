//! Text files, read as a stream.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use encoding_rs_io::DecodeReaderBytesBuilder;

use super::page::{Collected, TextLine, TextPage, TextSource, collect};
use super::{PageLimits, ReadRequest, widened};
use crate::anchor::Anchor;
use crate::paths::Located;
use crate::seen::SeenStamp;
use crate::select::{LineRange, Selector};
#[cfg(feature = "summary")]
use crate::text::Document;
use crate::text::{Encoding, HEAD_BYTES, detect};
use crate::{Call, Error, Session};

const CHUNK_BYTES: usize = 64 * 1024;

/// A page of a text file.
pub(super) fn file(
    session: &Session,
    located: &Located,
    request: &ReadRequest,
    selector: Selector,
    call: &Call,
) -> Result<TextPage, Error> {
    let failed = || Error::io("read", &located.shown);
    let mut file = located.open()?;
    let before = rustix::fs::fstat(&file).map_err(|e| failed()(e.into()))?;
    let mut head = Vec::new();
    (&mut file).take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(failed())?;
    file.rewind().map_err(failed())?;
    let Some(encoding) = detect(&head) else {
        let problem = "it is no text; ask for it in hexadecimal to see its bytes".to_owned();
        return Err(Error::Unreadable { path: located.shown.clone(), problem });
    };
    let range = widened(selector, request.context);
    let limits = request.limits();
    let size = located.size();
    let collected =
        decoded(file, encoding, |reader| collect(reader, size, range, limits, &call.stop))?;
    let collected = collected.map_err(failed())?;
    let after = rustix::fs::stat(&located.real).ok();
    let stamp = SeenStamp::of(&before);
    let changed = after.is_none_or(|after| SeenStamp::of(&after) != stamp);
    if !changed {
        remember(session, located, &collected, stamp);
    }
    let mut page = page(collected, TextSource::File, encoding, range);
    page.changed_while_read = changed;
    if changed {
        page.notes.push("the file changed or vanished while it was read".to_owned());
    }
    Ok(finish(session, located, page, selector.raw))
}

/// Reads through the decoder that an encoding needs.
fn decoded<T>(
    file: File,
    encoding: Encoding,
    read: impl FnOnce(&mut dyn std::io::BufRead) -> T,
) -> T {
    let wide = match encoding {
        Encoding::Utf16Le => Some(encoding_rs::UTF_16LE),
        Encoding::Utf16Be => Some(encoding_rs::UTF_16BE),
        Encoding::Utf8Bom => Some(encoding_rs::UTF_8),
        Encoding::Utf8 | Encoding::Windows1252 => None,
    };
    match wide {
        None => read(&mut BufReader::with_capacity(CHUNK_BYTES, file)),
        Some(wide) => {
            let mut builder = DecodeReaderBytesBuilder::new();
            builder.encoding(Some(wide)).bom_override(true).strip_bom(true);
            // UTF-8 passes as it is: lines that are not UTF-8 are decoded one by one.
            builder.utf8_passthru(true);
            read(&mut BufReader::with_capacity(CHUNK_BYTES, builder.build(file)))
        }
    }
}

/// Lines of text that is in memory.
pub(super) fn of_memory(
    text: &str,
    source: TextSource,
    range: LineRange,
    limits: PageLimits,
    call: &Call,
) -> Result<TextPage, Error> {
    let size = text.len() as u64;
    let collected = collect(&mut Cursor::new(text), size, range, limits, &call.stop)?;
    let collected = collected.map_err(Error::io("read", "text"))?;
    Ok(page(collected, source, Encoding::Utf8, range))
}

fn remember(session: &Session, located: &Located, collected: &Collected, stamp: SeenStamp) {
    let seen = collected.lines.iter().filter(|(number, _)| !collected.clamped.contains(number));
    let seen =
        seen.filter_map(|(number, text)| Some((usize::try_from(*number).ok()?, text.as_str())));
    let total = collected.total.and_then(|total| usize::try_from(total).ok());
    let end = total.zip(collected.final_newline);
    session.seen.record(&located.real, seen, end, stamp);
}

fn page(
    collected: Collected,
    source: TextSource,
    encoding: Encoding,
    range: LineRange,
) -> TextPage {
    let line_ending = collected.line_ending();
    let encoding = if collected.has_legacy { Encoding::Windows1252 } else { encoding };
    let mut notes = Vec::new();
    if let (true, Some(total)) = (collected.lines.is_empty(), collected.total) {
        notes.push(if total == 0 {
            "the file is empty".to_owned()
        } else {
            format!(
                "line {} is beyond the end; the file has {total} lines. Use :{total}",
                range.start
            )
        });
    }
    let line = |(number, text)| TextLine { number, anchor: None, text };
    TextPage {
        source,
        lines: collected.lines.into_iter().map(line).collect(),
        total_lines: collected.total,
        next_line: collected.next,
        encoding,
        line_ending,
        final_newline: collected.final_newline.filter(|_| collected.total > Some(0)),
        clamped_lines: collected.clamped,
        changed_while_read: false,
        folded: Vec::new(),
        notes,
    }
}

/// Anchors, from what the file has; then masks what the reader gets.
pub(super) fn finish(
    session: &Session,
    located: &Located,
    mut page: TextPage,
    raw: bool,
) -> TextPage {
    let is_editable = matches!(page.source, TextSource::File | TextSource::Notebook);
    for line in page.lines.iter_mut().filter(|_| is_editable && !raw) {
        let number = usize::try_from(line.number).unwrap_or(usize::MAX);
        line.anchor = Some(Anchor::new(number, &line.text));
    }
    // A line that was cut has an anchor nobody can check.
    for line in page.lines.iter_mut().filter(|line| page.clamped_lines.contains(&line.number)) {
        line.anchor = None;
    }
    masked(session, &located.real, page)
}

/// What the reader gets.
pub(super) fn masked(session: &Session, path: &Path, mut page: TextPage) -> TextPage {
    let texts = page.lines.iter_mut().map(|line| std::mem::take(&mut line.text)).collect();
    for (line, text) in page.lines.iter_mut().zip(session.mask(path, texts)) {
        line.text = text;
    }
    page
}

/// The lines of source code that a summary shows.
#[cfg(feature = "summary")]
pub(super) fn summary(
    session: &Session,
    located: &Located,
    document: &Document,
    folds: &[LineRange],
    limits: PageLimits,
) -> TextPage {
    let text = document.text();
    let all = crate::text::lines(&text);
    let is_folded = |number: u64| {
        folds.iter().any(|fold| fold.start <= number && fold.end.is_none_or(|end| number <= end))
    };
    let (mut lines, mut bytes, mut next) = (Vec::new(), 0, None);
    for (number, line) in (1u64..).zip(&all).filter(|(number, _)| !is_folded(*number)) {
        bytes += line.len() + 1;
        if !lines.is_empty() && (lines.len() >= limits.lines || bytes > limits.bytes) {
            next = Some(number);
            break;
        }
        lines.push((number, (*line).to_owned()));
    }
    let collected = Collected {
        lines,
        total: Some(all.len() as u64),
        next,
        final_newline: Some(text.ends_with('\n')),
        clamped: Vec::new(),
        has_crlf: false,
        has_lf: false,
        has_legacy: false,
    };
    remember(session, located, &collected, SeenStamp::of(&located.stat));
    let range = LineRange { start: 1, end: None };
    let mut page = page(collected, TextSource::File, document.encoding, range);
    page.line_ending = document.line_ending();
    page.folded = folds.to_vec();
    let count: u64 = folds.iter().map(|fold| fold.end.map_or(0, |end| end + 1 - fold.start)).sum();
    let path = &located.shown;
    page.notes.push(format!(
        "[{count} lines across {} elided regions; read {path}:raw or a line range like {path}:1-9999 \
         for verbatim content]",
        folds.len()
    ));
    finish(session, located, page, false)
}
