//! A file, by what it is: archive, database, image, notebook, document, source code or other text.

use std::io::Read;

#[cfg(feature = "summary")]
use super::page::TextPage;
use super::page::TextSource;
use super::place::{Inner, Place};
use super::{Content, ReadRequest, hex, text, widened};
use crate::notebook;
use crate::paths::Located;
use crate::seen::SeenStamp;
use crate::select::{LineRange, Selector};
#[cfg(any(feature = "archives", feature = "summary"))]
use crate::text::Document;
use crate::text::HEAD_BYTES;
use crate::{Call, Error, Session};

/// Notebooks have images in them.
const NOTEBOOK_BYTES: u64 = 64 << 20;

/// What is in a file.
pub(super) fn content(
    session: &Session,
    request: &ReadRequest,
    place: &Place,
    call: &Call,
) -> Result<Content, Error> {
    let (located, selector) = (&place.located, place.selector);
    if request.hex {
        let range = selector.lines.unwrap_or(LineRange { start: 1, end: None });
        return Ok(Content::Text(hex::page(located, range, request.limits())?));
    }
    let reading = Reading { session, request, located, selector, call };
    if let Some(inner) = &place.inner {
        return reading.inside(inner);
    }
    if !selector.raw
        && let Some(content) = reading.special()?
    {
        return Ok(content);
    }
    Ok(Content::Text(text::file(session, located, request, selector, call)?))
}

/// The bytes of a file that must not be larger than so much.
pub(super) fn whole(located: &Located, limit: u64, what: &str) -> Result<Vec<u8>, Error> {
    let too_large = |size: u64| Error::TooLarge {
        path: located.shown.clone(),
        what: format!("the {what} of {}", crate::render::size(size)),
        limit: crate::render::size(limit),
    };
    if located.size() > limit {
        return Err(too_large(located.size()));
    }
    let mut bytes = Vec::new();
    let file = located.open()?;
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    let read = read.map_err(Error::io("read", &located.shown))?;
    // A file may grow while it is read.
    if read as u64 > limit { Err(too_large(read as u64)) } else { Ok(bytes) }
}

struct Reading<'a> {
    session: &'a Session,
    request: &'a ReadRequest,
    located: &'a Located,
    selector: Selector,
    call: &'a Call,
}

impl Reading<'_> {
    /// What a file is that is not just text; `None` if it is.
    fn special(&self) -> Result<Option<Content>, Error> {
        #[cfg(any(feature = "archives", feature = "databases", feature = "documents"))]
        let name = self.located.real.to_string_lossy().to_ascii_lowercase();
        #[cfg(feature = "archives")]
        if super::archive::is_archive(&name) {
            return self.inside(&Inner::Member(String::new())).map(Some);
        }
        let head = self.head()?;
        #[cfg(feature = "databases")]
        if super::database::is_database_name(&name) && super::database::is_database(&head) {
            return self.inside(&Inner::Query(String::new())).map(Some);
        }
        #[cfg(feature = "images")]
        if super::image::is_image(&head) {
            let bytes = whole(self.located, super::image::IMAGE_BYTES, "image")?;
            let image = super::image::show(&bytes).map_err(|problem| self.unreadable(problem))?;
            return Ok(Some(Content::Image(image)));
        }
        let is_notebook = self.located.real.extension().is_some_and(|own| own == "ipynb");
        if is_notebook && !head.is_empty() {
            return self.notebook().map(Some);
        }
        #[cfg(feature = "documents")]
        if let Some(format) = super::document::format(&name) {
            let bytes = whole(self.located, super::document::DOCUMENT_BYTES, "document")?;
            let text = super::document::convert(format, bytes);
            let text = text.map_err(|problem| self.unreadable(problem))?;
            return self.text(&text, TextSource::Document(format.to_owned())).map(Some);
        }
        #[cfg(feature = "summary")]
        if let Some(page) = self.summary()? {
            return Ok(Some(Content::Text(page)));
        }
        Ok(None)
    }

    fn head(&self) -> Result<Vec<u8>, Error> {
        let mut head = Vec::new();
        let mut limited = self.located.open()?.take(HEAD_BYTES as u64);
        limited.read_to_end(&mut head).map_err(Error::io("read", &self.located.shown))?;
        Ok(head)
    }

    fn unreadable(&self, problem: String) -> Error {
        Error::Unreadable { path: self.located.shown.clone(), problem }
    }

    /// A page of text that was made from the file.
    fn text(&self, text: &str, source: TextSource) -> Result<Content, Error> {
        let range = widened(self.selector, self.request.context);
        let page = text::of_memory(text, source, range, self.request.limits(), self.call)?;
        Ok(Content::Text(text::finish(self.session, self.located, page, self.selector.raw)))
    }

    #[cfg_attr(
        not(any(feature = "archives", feature = "databases")),
        expect(clippy::unused_self, reason = "without them nothing has an inside")
    )]
    fn inside(&self, inner: &Inner) -> Result<Content, Error> {
        match *inner {
            #[cfg(feature = "archives")]
            Inner::Member(ref member) => {
                match super::archive::look(self.located, member, self.call)? {
                    super::archive::Found::Directory(listing) => Ok(Content::Archive(listing)),
                    super::archive::Found::File(bytes) => {
                        let document = Document::parse(&bytes).map_err(|_| {
                            let size = crate::render::size(bytes.len() as u64);
                            self.unreadable(format!("the member {member:?} ({size}) is no text"))
                        })?;
                        self.text(&document.text(), TextSource::ArchiveMember)
                    }
                }
            }
            #[cfg(feature = "databases")]
            Inner::Query(ref query) => {
                if !super::database::is_database(&self.head()?) {
                    return Err(self.unreadable("it is no SQLite database".to_owned()));
                }
                let text = super::database::look(self.located, query, self.call)?;
                self.text(&text, TextSource::Database)
            }
        }
    }

    fn notebook(&self) -> Result<Content, Error> {
        let bytes = whole(self.located, NOTEBOOK_BYTES, "notebook")?;
        let json =
            String::from_utf8(bytes).map_err(|_| self.unreadable("it is not UTF-8".to_owned()))?;
        let text = notebook::to_text(&json).map_err(|problem| {
            self.unreadable(format!("{problem}; read it with :raw to see it as it is"))
        })?;
        let content = self.text(&text, TextSource::Notebook)?;
        self.session.seen.record_whole(
            &self.located.real,
            &text,
            SeenStamp::of(&self.located.stat),
        );
        Ok(content)
    }

    /// A summary, where one is asked for and the file has bodies to leave out.
    #[cfg(feature = "summary")]
    fn summary(&self) -> Result<Option<TextPage>, Error> {
        use super::summary::{SUMMARY_BYTES, SUMMARY_LINES, folded};
        let is_asked = self.request.summary && self.selector.lines.is_none();
        if !is_asked || self.located.size() > SUMMARY_BYTES {
            return Ok(None);
        }
        let bytes = whole(self.located, SUMMARY_BYTES, "file")?;
        let Ok(document) = Document::parse(&bytes) else { return Ok(None) };
        let text = document.text();
        if crate::text::lines(&text).len() > SUMMARY_LINES {
            return Ok(None);
        }
        let Some(folds) = folded(&self.located.real, &text) else { return Ok(None) };
        let page =
            text::summary(self.session, self.located, &document, &folds, self.request.limits());
        Ok(Some(page))
    }
}
