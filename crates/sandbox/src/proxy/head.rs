//! What a client of the proxy asks for, in the three ways that clients ask.

use std::io::{self, BufRead, Read, Write};

/// A head of a request may be this long.
const LONGEST_HEAD: u64 = 64 << 10;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) how: How,
}

/// In which way.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum How {
    /// `CONNECT host:port`: bytes both ways after an answer.
    Connect,
    /// `GET http://host/path`: the head, rewritten for the host itself.
    Forward(Vec<u8>),
    /// SOCKS version 5.
    Socks,
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Reads a request from a client; `writer` is for what SOCKS says first.
pub(super) fn read(reader: &mut impl BufRead, writer: impl Write) -> io::Result<Wanted> {
    match reader.fill_buf()?.first() {
        Some(5) => read_socks(reader, writer),
        Some(_) => read_http(reader),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn read_socks(reader: &mut impl Read, mut writer: impl Write) -> io::Result<Wanted> {
    let [_, methods] = bytes(reader)?;
    let mut offered = vec![0; usize::from(methods)];
    reader.read_exact(&mut offered)?;
    if !offered.contains(&0) {
        writer.write_all(&[5, 0xff])?;
        return Err(wrong("no way to sign in that is needed here"));
    }
    writer.write_all(&[5, 0])?;
    let [version, command, _, kind] = bytes(reader)?;
    if version != 5 || command != 1 {
        writer.write_all(&[5, 7, 0, 1, 0, 0, 0, 0, 0, 0])?;
        return Err(wrong("only connections can be made"));
    }
    let host = match kind {
        1 => std::net::Ipv4Addr::from(bytes::<4>(reader)?).to_string(),
        4 => std::net::Ipv6Addr::from(bytes::<16>(reader)?).to_string(),
        3 => {
            let [length] = bytes(reader)?;
            let mut name = vec![0; usize::from(length)];
            reader.read_exact(&mut name)?;
            String::from_utf8(name).map_err(|_| wrong("a host name is no text"))?
        }
        _ => return Err(wrong("an address of an unknown kind")),
    };
    let port = u16::from_be_bytes(bytes(reader)?);
    Ok(Wanted { host, port, how: How::Socks })
}

fn bytes<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_http(reader: &mut impl BufRead) -> io::Result<Wanted> {
    let mut head = reader.take(LONGEST_HEAD);
    let mut line = || {
        let mut line = String::new();
        head.read_line(&mut line)?;
        if line.ends_with('\n') { Ok(line) } else { Err(wrong("the head of a request is cut")) }
    };
    let first = line()?;
    let mut words = first.split_ascii_whitespace();
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next())
    else {
        return Err(wrong("that is no request"));
    };
    let mut fields = Vec::new();
    loop {
        let field = line()?;
        if field.trim().is_empty() {
            break;
        }
        fields.push(field);
    }
    if method.eq_ignore_ascii_case("CONNECT") {
        let (host, port) = authority(target, 443)?;
        return Ok(Wanted { host, port, how: How::Connect });
    }
    let rest =
        target.strip_prefix("http://").ok_or_else(|| wrong("only http:// can be forwarded"))?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(end);
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let (host, port) = authority(place, 80)?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut forwarded = format!("{method} {slash}{path} {version}\r\nHost: {place}\r\n");
    for field in fields {
        let name = field.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
        // The host is the one that was judged, and the connection is for one request.
        let is_ours = matches!(name.as_str(), "host" | "connection" | "keep-alive" | "upgrade")
            || name.starts_with("proxy-");
        if !is_ours {
            forwarded.push_str(&field);
        }
    }
    forwarded.push_str("Connection: close\r\n\r\n");
    Ok(Wanted { host, port, how: How::Forward(forwarded.into_bytes()) })
}

/// A host and a port; an address of version 6 is in brackets.
fn authority(text: &str, usual: u16) -> io::Result<(String, u16)> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = port.map_or(Ok(usual), str::parse).map_err(|_| wrong("a port is no number"))?;
    if host.is_empty() {
        return Err(wrong("no host is named"));
    }
    Ok((host.to_owned(), port))
}

#[cfg(test)]
mod tests;
