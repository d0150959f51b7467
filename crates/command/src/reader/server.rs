//! Programs that listen: whom an address lets in.
//!
//! That only this machine can reach a server is said of exact words alone; that others can, of likely
//! ones too.

use std::net::IpAddr;

use crate::effect::{LISTEN, REMOTE, RUN, SERVE};
use crate::row::Row;
use crate::walk::Walk;
use crate::word::Word;

/// Options that say where a server listens.
const ADDRESS: [&str; 7] =
    ["--host", "--hostname", "--bind", "--binding", "--ip", "--address", "--server.address"];
/// The same in a letter, which means something else to other programs.
const LETTERS: [&str; 4] = ["-H", "-h", "-b", "-a"];

impl Walk {
    /// A server of a project that listens to this machine unless it is told otherwise.
    pub(super) fn server(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        self.plain(row, name, args);
        if name == "wrangler" && super::verbs::tells_to_destroy(args) {
            self.find(REMOTE, name, format!("{name} delete"));
        }
        let is_open = |address: Option<&str>| address.is_none_or(|address| !is_loopback(address));
        let is_foreign = |address: &str| {
            host(address).parse::<IpAddr>().is_ok_and(|address| !address.is_loopback())
        };
        let long = addresses(args, &ADDRESS).filter(|(_, address)| is_open(*address));
        let short = addresses(args, &LETTERS).filter(|(_, given)| given.is_some_and(is_foreign));
        if let Some((option, _)) = long.chain(short).next() {
            self.find(LISTEN, name, format!("{name} {option}"));
        }
        self.open_to_all(name, args);
    }

    /// An address that stands for all of this machine's says so in any program that takes it.
    pub(super) fn open_to_all(&mut self, name: &str, args: &[Word]) {
        let options = || addresses(args, &ADDRESS).chain(addresses(args, &LETTERS));
        let given = options().filter_map(|(_, address)| address);
        // As `manage.py runserver 0.0.0.0:8000`.
        let operands = args.iter().map(Word::likely).filter(|word| word.contains(':'));
        if let Some(address) = given.chain(operands).find(|address| is_everywhere(address)) {
            self.find(LISTEN, name, format!("{name} on {address}"));
        }
    }

    /// `python -m http.server [PORT]`.
    pub(super) fn http_server(&mut self, name: &str, args: &[Word]) {
        let what = format!("{name} -m http.server");
        let valued = ["-b", "--bind", "-d", "--directory", "-p", "--protocol"];
        let is_value = |at: usize| at > 0 && valued.contains(&args[at - 1].text.as_str());
        let is_plain = |at: usize| {
            let text = args[at].text.as_str();
            let option = text.split('=').next().unwrap_or_default();
            is_value(at) || !text.starts_with('-') || valued.contains(&option)
        };
        let mut bound = addresses(args, &["--bind", "-b"]).peekable();
        let is_local = bound.peek().is_some()
            && bound.all(|(_, address)| address.is_some_and(is_loopback))
            && args.iter().all(|word| word.literal)
            && (0..args.len()).all(is_plain);
        self.find(if is_local { SERVE } else { LISTEN }, name, what);
    }

    /// `php [OPTIONS] -S ADDRESS:PORT [-t DIRECTORY] [ROUTER]`.
    pub(super) fn php_server(&mut self, name: &str, args: &[Word]) {
        let mut bound = args.iter().enumerate().filter_map(|(at, word)| {
            let attached = word.text.strip_prefix("-S")?;
            Some(if attached.is_empty() {
                args.get(at + 1).map_or("", Word::likely)
            } else {
                attached
            })
        });
        let is_local = bound.all(is_loopback) && args.iter().all(|word| word.literal);
        self.find(if is_local { SERVE } else { LISTEN }, name, "php -S");
        self.find(RUN, name, "php -S");
    }

    /// `nc -l 127.0.0.1 9000`, `nc -l -s 127.0.0.1 -p 9000`.
    pub(super) fn netcat(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        if is_local_netcat(args) {
            self.find(SERVE, name, format!("{name} {}", args[0].text));
        } else {
            self.plain(row, name, args);
        }
    }
}

/// Whether PHP is told to serve, not to run a script that has a `-S` of its own.
pub(super) fn is_php_server(args: &[Word]) -> bool {
    let is_option = |at: usize| {
        let takes_value = |word: &Word| matches!(word.text.as_str(), "-t" | "-d" | "-c");
        args[at].starts_with("-") || (at > 0 && takes_value(&args[at - 1]))
    };
    (0..args.len()).take_while(|at| is_option(*at)).any(|at| args[at].starts_with("-S"))
}

/// Whether it talks to this machine alone and starts nothing. Options that are not known to be
/// harmless, as a proxy or a program to run, speak against it.
fn is_local_netcat(args: &[Word]) -> bool {
    let (mut listens, mut bound, mut operands) = (false, None, Vec::new());
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.exact() else { return false };
        match text {
            "--listen" => listens = true,
            "-s" => bound = words.next().and_then(Word::exact),
            "-p" | "-w" | "-i" | "-q" => {
                if words.next().and_then(Word::exact).is_none() {
                    return false;
                }
            }
            _ if !text.starts_with('-') => operands.push(text),
            _ if text.len() > 1 && text[1..].chars().all(|c| "lkvnu46tNd".contains(c)) => {
                listens |= text.contains('l');
            }
            _ => return false,
        }
    }
    let is_local = |address: &&str| is_loopback(address);
    match (listens, bound) {
        (true, Some(address)) => is_loopback(address),
        // A port alone is open to all.
        _ => operands.len() == 2 && operands.first().is_some_and(is_local),
    }
}

/// The options of `names` that are there, each with its value if it has one.
fn addresses<'a>(
    args: &'a [Word],
    names: &'a [&'a str],
) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    args.iter().enumerate().filter_map(move |(at, word)| {
        let text = word.likely();
        if names.contains(&text) {
            let next = args.get(at + 1).map(Word::likely);
            return Some((text, next.filter(|next| !next.starts_with('-'))));
        }
        let (name, value) = text.split_once('=')?;
        names.contains(&name).then_some((name, Some(value)))
    })
}

/// Whether only this machine reaches an address, with a port or without.
fn is_loopback(address: &str) -> bool {
    let host = host(address);
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether an address stands for all that a machine has.
fn is_everywhere(address: &str) -> bool {
    host(address).parse::<IpAddr>().is_ok_and(|address| address.is_unspecified())
}

/// An address without its port.
fn host(address: &str) -> &str {
    if let Some((host, _)) = address.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return host;
    }
    match address.split_once(':') {
        Some((host, port)) if !port.contains(':') => host,
        _ => address,
    }
}
