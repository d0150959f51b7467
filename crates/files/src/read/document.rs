//! PDF, Office and EPUB documents as Markdown.

use std::fmt::Write as _;
use std::io::{Cursor, Read};

use calamine::{Data, Reader as _};
use quick_xml::Reader;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};

/// The largest document that is converted, and the most that a part of it may unpack to.
pub(super) const DOCUMENT_BYTES: u64 = 64 << 20;
const MOST_SHEET_ROWS: usize = 10_000;
/// PDF documents may nest deeply.
const STACK_BYTES: usize = 64 << 20;

const FORMATS: [&str; 12] =
    ["pdf", "docx", "pptx", "xlsx", "xlsm", "xlsb", "xls", "ods", "odt", "epub", "doc", "ppt"];

/// The format that a name says, if it is one of a document.
pub(super) fn format(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit_once('.')?;
    FORMATS.into_iter().find(|format| ending.eq_ignore_ascii_case(format))
}

/// The text of a document.
pub(super) fn convert(format: &str, bytes: Vec<u8>) -> Result<String, String> {
    match format {
        "pdf" => pdf(bytes),
        "docx" => docx(bytes),
        "pptx" => pptx(bytes),
        "odt" => odt(bytes),
        "epub" => epub(bytes),
        "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => sheets(bytes),
        other => Err(format!("the old binary format .{other} is not read; save it as .{other}x")),
    }
}

/// The library gives up on some damaged documents by panicking; its thread ends then, not the call.
fn pdf(bytes: Vec<u8>) -> Result<String, String> {
    let convert = move || pdf_extract::extract_text_from_mem_by_pages(&bytes);
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(convert);
    let pages = thread.map_err(|e| e.to_string())?.join();
    let pages = pages.map_err(|_| "the PDF is damaged".to_owned())?.map_err(|e| e.to_string())?;
    let mut text = String::new();
    for (number, page) in pages.iter().enumerate() {
        let _ = write!(text, "## Page {}\n\n{}\n\n", number + 1, page.trim());
    }
    if pages.iter().all(|page| page.trim().is_empty()) {
        text.push_str("(no text: the pages may be images)\n");
    }
    Ok(text)
}

fn sheets(bytes: Vec<u8>) -> Result<String, String> {
    let mut workbook =
        calamine::open_workbook_auto_from_rs(Cursor::new(bytes)).map_err(|e| e.to_string())?;
    let mut text = String::new();
    for name in workbook.sheet_names() {
        let _ = writeln!(text, "## {name}\n");
        let range = workbook.worksheet_range(&name).map_err(|e| e.to_string())?;
        for (number, row) in range.rows().enumerate() {
            if number == MOST_SHEET_ROWS {
                let _ = writeln!(text, "… {} more rows", range.height() - number);
                break;
            }
            let cells: Vec<String> = row.iter().map(cell).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
            if number == 0 {
                let _ = writeln!(text, "|{}", " --- |".repeat(cells.len()));
            }
        }
        text.push('\n');
    }
    Ok(text)
}

fn cell(data: &Data) -> String {
    match data {
        Data::DateTime(time) => time.as_datetime_text().unwrap_or_else(|| data.to_string()),
        other => other.to_string().replace('|', "\\|").replace('\n', " "),
    }
}

/// Times without a library for times.
trait DateText {
    fn as_datetime_text(&self) -> Option<String>;
}

impl DateText for calamine::ExcelDateTime {
    fn as_datetime_text(&self) -> Option<String> {
        if !self.is_datetime() {
            return None;
        }
        let (year, month, day, hour, minute, second, _) = self.to_ymd_hms_milli();
        let date = format!("{year:04}-{month:02}-{day:02}");
        Some(match (hour, minute, second) {
            (0, 0, 0) => date,
            _ => format!("{date} {hour:02}:{minute:02}:{second:02}"),
        })
    }
}

type Archive = zip::ZipArchive<Cursor<Vec<u8>>>;

fn archive(bytes: Vec<u8>) -> Result<Archive, String> {
    zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| e.to_string())
}

fn part(archive: &mut Archive, name: &str) -> Result<String, String> {
    let file = archive.by_name(name).map_err(|e| format!("{name}: {e}"))?;
    let mut bytes = Vec::new();
    let read = file.take(DOCUMENT_BYTES + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if read as u64 > DOCUMENT_BYTES {
        return Err(format!("{name} unpacks to more than the limit"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Which elements of a format mean what.
struct Words {
    paragraph: &'static [&'static str],
    text: Option<&'static str>,
    row: &'static str,
    cell: &'static str,
}

const WORD: Words = Words { paragraph: &["p"], text: Some("t"), row: "tr", cell: "tc" };
const OPEN: Words =
    Words { paragraph: &["p", "h"], text: None, row: "table-row", cell: "table-cell" };

/// Paragraphs, headings, lists and tables of an XML of an office program.
fn paragraphs(xml: &str, words: &Words) -> Result<String, String> {
    let mut reader = Reader::from_str(xml);
    let mut writer = Writer {
        words,
        text: String::new(),
        line: String::new(),
        prefix: String::new(),
        cells: None,
        in_text: words.text.is_none(),
        open: 0,
    };
    loop {
        match reader.read_event().map_err(|e| e.to_string())? {
            Event::Eof => return Ok(writer.text),
            Event::Start(element) => writer.start(&element),
            Event::Empty(element) => {
                writer.start(&element);
                writer.end(element.local_name().as_ref());
            }
            Event::End(element) => writer.end(element.local_name().as_ref()),
            Event::Text(text) => writer.push(&text.xml10_content()),
            Event::GeneralRef(entity) => {
                let character = entity.resolve_char_ref().ok().flatten();
                let name = entity.xml10_content();
                let known = quick_xml::escape::resolve_predefined_entity(&name);
                match (character, known) {
                    (Some(character), _) => writer.push(character.encode_utf8(&mut [0; 4])),
                    (None, Some(text)) => writer.push(text),
                    (None, None) => {}
                }
            }
            _ => {}
        }
    }
}

struct Writer<'a> {
    words: &'a Words,
    text: String,
    line: String,
    /// `# ` of a heading, `- ` of a list.
    prefix: String,
    /// The cells of the row, inside a table.
    cells: Option<Vec<String>>,
    in_text: bool,
    /// Paragraphs that are open.
    open: usize,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        if self.in_text && self.open > 0 {
            self.line.push_str(text);
        }
    }

    fn start(&mut self, element: &BytesStart<'_>) {
        let name = element.local_name();
        let name: &str = name.as_ref();
        if self.words.paragraph.contains(&name) {
            self.open += 1;
            if name == "h" {
                let level =
                    attribute(element, "outline-level").and_then(|level| level.parse().ok());
                self.prefix = "#".repeat(level.unwrap_or(1).clamp(1, 6)) + " ";
            }
        } else if self.words.text == Some(name) {
            self.in_text = true;
        } else if name == self.words.row {
            self.cells = Some(Vec::new());
        } else if name == "pStyle" {
            let style = attribute(element, "val").unwrap_or_default();
            if let Some(level) = style.strip_prefix("Heading").and_then(|level| level.parse().ok())
            {
                self.prefix = "#".repeat(usize::clamp(level, 1, 6)) + " ";
            } else if style == "Title" {
                "# ".clone_into(&mut self.prefix);
            }
        } else if name == "numPr" || name == "list-item" {
            "- ".clone_into(&mut self.prefix);
        } else if (name == "tab" || name == "s") && self.open > 0 {
            self.line.push(' ');
        } else if (name == "br" || name == "line-break") && self.open > 0 {
            self.line.push('\n');
        }
    }

    fn end(&mut self, name: &str) {
        if self.words.paragraph.contains(&name) {
            self.open = self.open.saturating_sub(1);
            let line = std::mem::take(&mut self.line);
            let prefix = std::mem::take(&mut self.prefix);
            match &mut self.cells {
                Some(cells) => {
                    let cell = line.trim().replace('\n', " ");
                    match cells.last_mut() {
                        Some(last) if !last.ends_with('\u{1}') => {
                            last.push_str(&[" ", &cell].concat());
                        }
                        _ => cells.push(cell),
                    }
                }
                None if line.trim().is_empty() => {}
                None => {
                    let _ = write!(self.text, "{prefix}{}\n\n", line.trim());
                }
            }
        } else if self.words.text == Some(name) {
            self.in_text = false;
        } else if name == self.words.cell {
            // A cell ends here; the next paragraph begins another.
            if let Some(last) = self.cells.as_mut().and_then(|cells| cells.last_mut()) {
                last.push('\u{1}');
            }
        } else if name == self.words.row
            && let Some(cells) = self.cells.take()
        {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('\u{1}', "")).collect();
            let _ = writeln!(self.text, "| {} |", cells.join(" | "));
        }
    }
}

fn attribute(element: &BytesStart<'_>, wanted: &str) -> Option<String> {
    let mut attributes = element.attributes().flatten();
    let found = attributes.find(|own| own.key.local_name().as_ref() == wanted)?;
    Some(found.value.to_string())
}

fn docx(bytes: Vec<u8>) -> Result<String, String> {
    paragraphs(&part(&mut archive(bytes)?, "word/document.xml")?, &WORD)
}

fn odt(bytes: Vec<u8>) -> Result<String, String> {
    paragraphs(&part(&mut archive(bytes)?, "content.xml")?, &OPEN)
}

fn pptx(bytes: Vec<u8>) -> Result<String, String> {
    let mut archive = archive(bytes)?;
    let number = |name: &str| -> Option<u32> {
        name.strip_prefix("ppt/slides/slide")?.strip_suffix(".xml")?.parse().ok()
    };
    let names = archive.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned());
    let mut slides: Vec<u32> = names.filter_map(|name| number(&name)).collect();
    slides.sort_unstable();
    let mut text = String::new();
    for slide in slides {
        let xml = part(&mut archive, &format!("ppt/slides/slide{slide}.xml"))?;
        let _ = write!(text, "## Slide {slide}\n\n{}", paragraphs(&xml, &WORD)?);
    }
    Ok(text)
}

/// The chapters in the order of the book's spine.
fn epub(bytes: Vec<u8>) -> Result<String, String> {
    let mut archive = archive(bytes)?;
    let container = part(&mut archive, "META-INF/container.xml")?;
    let package = elements(&container, "rootfile")?
        .into_iter()
        .find_map(|element| element.get("full-path").cloned())
        .ok_or("the book names no package")?;
    let xml = part(&mut archive, &package)?;
    let folder = package.rsplit_once('/').map_or("", |(folder, _)| folder);
    let items = elements(&xml, "item")?;
    let mut text = String::new();
    for reference in elements(&xml, "itemref")? {
        let href = items
            .iter()
            .find(|item| item.get("id").is_some() && item.get("id") == reference.get("idref"))
            .and_then(|item| item.get("href"));
        let Some(href) = href else { continue };
        let href = crate::paths::percent_decoded_text(href);
        let name = if folder.is_empty() { href } else { format!("{folder}/{href}") };
        let chapter = htmd::convert(&part(&mut archive, &name)?).map_err(|e| e.to_string())?;
        let _ = write!(text, "{}\n\n", chapter.trim());
    }
    Ok(text)
}

type Attributes = std::collections::BTreeMap<String, String>;

/// The attributes of every element of a name.
fn elements(xml: &str, wanted: &str) -> Result<Vec<Attributes>, String> {
    let mut reader = Reader::from_str(xml);
    let mut found = Vec::new();
    loop {
        match reader.read_event().map_err(|e| e.to_string())? {
            Event::Eof => return Ok(found),
            Event::Start(element) | Event::Empty(element)
                if element.local_name().as_ref() == wanted =>
            {
                let pairs = element.attributes().flatten();
                let name = |own: &Attribute<'_>| own.key.local_name().as_ref().to_owned();
                found.push(pairs.map(|own| (name(&own), own.value.to_string())).collect());
            }
            _ => {}
        }
    }
}
