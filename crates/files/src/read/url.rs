//! URLs: web pages where they are allowed, and those that the caller resolves.

use super::page::TextSource;
use super::{Content, ReadAnswer, ReadRequest, text, widened};
use crate::select::{self, Selector};
use crate::{Call, Error, Resource, Session};

/// What a URL leads to; `None` if the path is none.
pub(super) fn read(
    session: &Session,
    request: &ReadRequest,
    call: &Call,
) -> Result<Option<ReadAnswer>, Error> {
    let path = request.path.trim();
    let path = if path.starts_with("www.") { format!("https://{path}") } else { path.to_owned() };
    let Some((scheme, _)) = path.split_once("://") else { return Ok(None) };
    let is_scheme = !scheme.is_empty()
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    if !is_scheme || scheme.eq_ignore_ascii_case("file") {
        return Ok(None);
    }
    let (url, selector) = split(&path)?;
    if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") {
        return page(session, request, &url, selector, call).map(Some);
    }
    resource(session, request, &url, selector, call)
}

/// A port is no line: a selector stands behind the path.
fn split(url: &str) -> Result<(String, Selector), Error> {
    let host = url.find("://").map_or(0, |at| at + 3);
    let Some(slash) = url[host..].find('/').map(|at| host + at) else {
        let is_web = url.starts_with("http");
        if is_web {
            return Ok((url.to_owned(), Selector::default()));
        }
        let (rest, selector) = select::split(&url[host..])?;
        return Ok((format!("{}{rest}", &url[..host]), selector));
    };
    let (rest, selector) = select::split(&url[slash..])?;
    Ok((format!("{}{rest}", &url[..slash]), selector))
}

fn answer(url: &str, size: u64, content: Content) -> ReadAnswer {
    ReadAnswer { path: url.to_owned(), found_by: None, size, modified: 0, content }
}

fn resource(
    session: &Session,
    request: &ReadRequest,
    url: &str,
    selector: Selector,
    call: &Call,
) -> Result<Option<ReadAnswer>, Error> {
    let Some(resources) = &session.resources else { return Ok(None) };
    let failed = |problem| Error::Unreadable { path: url.to_owned(), problem };
    match resources.resolve(url).map_err(failed)? {
        None => Ok(None),
        Some(Resource::Text(text)) => {
            let range = widened(selector, request.context);
            let page = text::of_memory(&text, TextSource::Resource, range, request.limits(), call)?;
            let page = text::masked(session, url.as_ref(), page);
            Ok(Some(answer(url, text.len() as u64, Content::Text(page))))
        }
        Some(Resource::File(path)) => {
            let located = session.locate_exactly(&path)?;
            let mut page = text::file(session, &located, request, selector, call)?;
            page.source = TextSource::Resource;
            page.lines.iter_mut().for_each(|line| line.anchor = None);
            Ok(Some(answer(url, located.size(), Content::Text(page))))
        }
    }
}

#[cfg(not(feature = "web"))]
fn page(
    _: &Session,
    _: &ReadRequest,
    url: &str,
    _: Selector,
    _: &Call,
) -> Result<ReadAnswer, Error> {
    Err(Error::Denied {
        path: url.to_owned(),
        reason: "this build fetches no web pages".to_owned(),
    })
}

#[cfg(feature = "web")]
fn page(
    session: &Session,
    request: &ReadRequest,
    url: &str,
    selector: Selector,
    call: &Call,
) -> Result<ReadAnswer, Error> {
    let deny = |reason: String| Error::Denied { path: url.to_owned(), reason };
    let web =
        session.web.as_ref().ok_or_else(|| deny("web pages are not fetched here".to_owned()))?;
    if let crate::Decision::Deny(reason) = session.guard.fetch(url) {
        return Err(deny(reason));
    }
    let fetched = web.fetch(url, selector.lines.is_some(), call)?;
    let size = fetched.body.len() as u64;
    #[cfg(feature = "images")]
    if !selector.raw && super::image::is_image(&fetched.body) {
        let image = super::image::show(&fetched.body);
        let problem = |problem| Error::Unreadable { path: url.to_owned(), problem };
        return Ok(answer(&fetched.url, size, Content::Image(image.map_err(problem)?)));
    }
    let (text, method) = readable(&fetched, selector.raw)
        .map_err(|problem| Error::Unreadable { path: url.to_owned(), problem })?;
    let source = TextSource::Url(fetched.url.clone());
    let range = widened(selector, request.context);
    let mut page = text::of_memory(&text, source, range, request.limits(), call)?;
    page.notes.push(format!("content type: {}", fetched.content_type));
    page.notes.push(format!("method: {method}"));
    if !(200..300).contains(&fetched.status) {
        page.notes.push(format!("the server answered with status {}", fetched.status));
    }
    let page = text::masked(session, url.as_ref(), page);
    Ok(answer(&fetched.url, size, Content::Text(page)))
}

/// A page as text, and how it became one.
#[cfg(feature = "web")]
fn readable(fetched: &crate::web::Fetched, raw: bool) -> Result<(String, &'static str), String> {
    let kind = fetched.content_type.as_str();
    #[cfg(feature = "documents")]
    if let (false, Some(format)) = (raw, document_format(kind, &fetched.url)) {
        return Ok((super::document::convert(format, fetched.body.clone())?, "document"));
    }
    let document = crate::text::Document::parse(&fetched.body);
    let text = document.map_err(|_| format!("its content ({kind}) is no text"))?.text();
    if raw {
        return Ok((text, "raw"));
    }
    if kind == "text/html" || kind == "application/xhtml+xml" {
        let skipped = vec!["script", "style", "noscript", "template", "svg", "head"];
        let converter = htmd::HtmlToMarkdown::builder().skip_tags(skipped).build();
        return Ok((converter.convert(&text).map_err(|e| e.to_string())?, "html"));
    }
    if kind == "application/json" || kind.ends_with("+json") {
        let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
        if let Ok(pretty) = value.and_then(|value| serde_json::to_string_pretty(&value)) {
            return Ok((pretty, "json"));
        }
    }
    Ok((text, "text"))
}

#[cfg(all(feature = "web", feature = "documents"))]
fn document_format(kind: &str, url: &str) -> Option<&'static str> {
    match kind {
        "application/pdf" => Some("pdf"),
        "application/epub+zip" => Some("epub"),
        kind if kind.ends_with("wordprocessingml.document") => Some("docx"),
        kind if kind.ends_with("spreadsheetml.sheet") => Some("xlsx"),
        kind if kind.ends_with("presentationml.presentation") => Some("pptx"),
        "application/octet-stream" => super::document::format(url.split(['?', '#']).next()?),
        _ => None,
    }
}
