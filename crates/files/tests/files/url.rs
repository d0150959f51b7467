use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use umbo_files::{Content, Error, LineStyle, Resource, Resources, Session, TextSource, WebPolicy};

use crate::Project;

/// Answers every request by its path, from this machine.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let own = address.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 1024];
            while !request.windows(4).any(|part| part == b"\r\n\r\n") {
                let count = stream.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..count]);
            }
            let text = String::from_utf8_lossy(&request).into_owned();
            let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
            let (status, kind, body) = match path.as_str() {
                "/page" => ("200 OK", "text/html; charset=utf-8", "<html><head><title>T</title><script>evil()</script></head><body><h1>Shells</h1><p>An <b>umbo</b>.</p><ul><li>one</li></ul></body></html>".to_owned()),
                "/data" => ("200 OK", "application/json", "{\"b\":1,\"a\":[2]}".to_owned()),
                "/lines" => ("200 OK", "text/plain", (1..=400).map(|n| format!("{n}\n")).collect()),
                "/large" => ("200 OK", "text/plain", "x".repeat(200_000)),
                "/binary" => ("200 OK", "application/octet-stream", "\0\0\0".to_owned()),
                "/loop" => ("302 Found\r\nLocation: /loop", "text/plain", String::new()),
                "/moved" => ("302 Found\r\nLocation: /page", "text/plain", String::new()),
                "/file" => ("302 Found\r\nLocation: file:///etc/passwd", "text/plain", String::new()),
                _ => ("404 Not Found", "text/plain", "nothing here\n".to_owned()),
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    own
}

fn fetching(private_addresses: bool) -> Project {
    let policy = WebPolicy { private_addresses, max_bytes: 100_000, ..WebPolicy::default() };
    Project::with(|workspace| Session::new(workspace).with_web(policy))
}

#[test]
fn pages_are_fetched_only_where_that_is_allowed() {
    let host = server();
    let url = format!("http://{host}/page");
    let error = Project::new().read(&url).unwrap_err();
    assert!(matches!(error, Error::Denied { .. }), "{error}");
    for host in [
        host.clone(),
        host.replace("127.0.0.1", "localhost"),
        host.replace("127.0.0.1", "[::ffff:127.0.0.1]"),
        host.replace("127.0.0.1", "0x7f000001"),
        host.replace("127.0.0.1", "2130706433"),
    ] {
        let error = fetching(false).read(&format!("http://{host}/page")).unwrap_err();
        assert!(matches!(error, Error::Unreadable { .. }), "{host}: {error}");
        assert!(!error.to_string().contains("Shells"), "{host}: {error}");
    }
    let error = fetching(false).read(&url).unwrap_err().to_string();
    assert!(error.contains("no public address"), "{error}");
}

#[test]
fn pages_become_text_that_can_be_paged() {
    let host = server();
    let project = fetching(true);
    let page = project.page(&format!("http://{host}/page"));
    let text = page.text(LineStyle::Plain);
    assert!(
        text.contains("# Shells") && text.contains("An **umbo**.") && text.contains("one"),
        "{text}"
    );
    assert!(!text.contains("evil"), "{text}");
    let raw = project.page(&format!("http://{host}/page:raw"));
    assert!(raw.text(LineStyle::Plain).contains("<script>evil()"));
    let moved = project.page(&format!("http://{host}/moved"));
    assert_eq!(moved.source, TextSource::Url(format!("http://{host}/page")));
    let data = project.page(&format!("http://{host}/data"));
    assert_eq!(data.lines[0].text, "{");
    let lines = project.page(&format!("http://{host}/lines:399-400"));
    assert_eq!(lines.text(LineStyle::Plain), "399\n400\n");
    let missing = project.page(&format!("http://{host}/none"));
    assert!(missing.notes.iter().any(|note| note.contains("status 404")), "{:?}", missing.notes);
    for (path, problem) in
        [("/large", "larger than"), ("/binary", "is no text"), ("/loop", "redirect")]
    {
        let error = project.read(&format!("http://{host}{path}")).unwrap_err().to_string();
        assert!(error.to_lowercase().contains(problem), "{path}: {error}");
        assert!(!error.contains("root:"), "{path}: {error}");
    }
    // A redirection leads to the web and nowhere else.
    let file = project.read(&format!("http://{host}/file"));
    assert!(!format!("{file:?}").contains("root:"), "{file:?}");
}

struct Artifacts(std::path::PathBuf);

impl Resources for Artifacts {
    fn resolve(&self, url: &str) -> Result<Option<Resource>, String> {
        match url {
            "artifact://1" => Ok(Some(Resource::Text("one\ntwo\nthree\n".to_owned()))),
            "umbo://jobs/1/output" => Ok(Some(Resource::File(self.0.clone()))),
            url if url.starts_with("artifact://") => Err("there is only artifact://1".to_owned()),
            _ => Ok(None),
        }
    }
}

#[test]
fn urls_of_the_caller_are_resolved_by_the_caller() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(outside.path(), "logged\n").unwrap();
    let resources = Arc::new(Artifacts(outside.path().to_path_buf()));
    let project = Project::with(|workspace| Session::new(workspace).with_resources(resources));
    let page = project.page("artifact://1:2-2");
    assert_eq!(
        (page.text(LineStyle::Plain).as_str(), page.source.clone()),
        ("two\n", TextSource::Resource)
    );
    assert!(page.lines[0].anchor.is_none());
    assert_eq!(project.page("umbo://jobs/1/output").lines[0].text, "logged");
    assert!(project.read("artifact://2").unwrap_err().to_string().contains("only artifact://1"));
    assert!(matches!(project.read("other://x"), Err(Error::NotFound { .. })));
    let Content::Text(_) = project.read("artifact://1").unwrap().content else { panic!() };
}
