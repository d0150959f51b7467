use proptest::prelude::*;

use super::*;

fn request(text: &[u8]) -> io::Result<Wanted> {
    read(&mut io::BufReader::new(text), io::sink())
}

#[test]
fn the_three_ways_to_ask_are_understood() {
    let connect = request(b"CONNECT example.com:8443 HTTP/1.1\r\nHost: other\r\n\r\n").unwrap();
    assert_eq!(connect, Wanted { host: "example.com".into(), port: 8443, how: How::Connect });
    let six = request(b"CONNECT [::1]:22 HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!((six.host.as_str(), six.port), ("::1", 22));
    let socks = request(b"\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x00\x50").unwrap();
    assert_eq!(socks, Wanted { host: "example.com".into(), port: 80, how: How::Socks });
}

#[test]
fn a_forwarded_request_names_the_host_that_was_judged() {
    let text = b"GET http://u:p@example.com:81/a?b HTTP/1.1\r\nHost: evil.example\r\nProxy-Connection: x\r\n\
                 Connection: keep-alive\r\nAccept: */*\r\n\r\n";
    let Wanted { host, port, how: How::Forward(head) } = request(text).unwrap() else { panic!() };
    assert_eq!((host.as_str(), port), ("example.com", 81));
    let head = String::from_utf8(head).unwrap();
    let wanted =
        "GET /a?b HTTP/1.1\r\nHost: example.com:81\r\nAccept: */*\r\nConnection: close\r\n\r\n";
    assert_eq!(head, wanted);
}

#[test]
fn a_head_without_an_end_is_given_up() {
    let endless = b"GET http://a/ HTTP/1.1\r\n".iter().chain(b"x: y\r\n".iter().cycle());
    let endless: Vec<u8> = endless.take(1 << 20).copied().collect();
    assert!(request(&endless).is_err());
}

proptest! {
    #[test]
    fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = request(&bytes);
    }

    #[test]
    fn no_line_is_too_strange(line in "(GET|CONNECT|POST) [ -~]{0,60} HTTP/1.1\r\n([ -~]{0,20}\r\n){0,3}\r\n") {
        if let Ok(Wanted { host, how: How::Forward(head), .. }) = request(line.as_bytes()) {
            let head = String::from_utf8(head).unwrap();
            let hosts = head.lines().filter(|line| line.to_ascii_lowercase().starts_with("host:")).count();
            prop_assert_eq!(hosts, 1);
            prop_assert!(!host.is_empty());
        }
    }
}
