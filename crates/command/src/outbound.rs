//! What leaves the machine in a command that talks to another one, whichever program it is.
//!
//! A header, an agent, a cookie, the name of a host, a query and what is on standard input all reach the
//! other side. What the text puts there decides: the same data is the same danger in each of them.

use crate::argv::{self, Options};
use crate::effect::{Does, Kind, SECRET, SEND, UNKNOWN, UPLOAD};
use crate::risk::Risk;
use crate::row::{Reader, Takes};
use crate::table;
use crate::walk::{Input, Walk};
use crate::word::{Expansion, Word};

const ASKS_METADATA: Does =
    Does { phrase: "asks the cloud for the credentials of this machine", ..SECRET };
const SENDS_UNKNOWN: Does =
    Does { phrase: "sends something only known at run time to another machine", ..UNKNOWN };

/// Programs that show something of this machine: what they print is local data.
const SHOWS_LOCAL: &str = "cat tac head tail base64 base32 xxd od hexdump hd strings tar zip gzip bzip2 xz zstd env printenv set export declare history find ls tree ps sed awk gawk grep rg egrep jq yq cut sort uniq nl tr paste fold dd openssl gpg sqlite3 git cp less more bat ip ifconfig ss netstat lsof dmesg journalctl crontab getent defaults security pbpaste xclip wl-paste python python3 perl ruby node";

/// Whether an address is one at which a cloud gives a machine its credentials.
pub(crate) fn is_metadata(text: &str) -> bool {
    let after = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = after.split(['/', '?', '#']).next().unwrap_or(after);
    let authority = authority.rsplit('@').next().unwrap_or(authority).to_ascii_lowercase();
    let bracketed = authority.strip_prefix('[').and_then(|rest| rest.split(']').next());
    if let Some(address) = bracketed {
        return address.starts_with("fd00:ec2:")
            || address.ends_with("169.254.169.254")
            || address.ends_with("a9fe:a9fe");
    }
    let host = authority.split(':').next().unwrap_or(&authority).trim_end_matches('.');
    if matches!(host, "metadata.google.internal" | "metadata" | "instance-data")
        || host.ends_with(".metadata.google.internal")
        || host.contains("169.254.169.254.")
    {
        return true;
    }
    // 169.254.169.254 (most clouds), 169.254.170.2 (containers), 100.100.100.200, 192.0.0.192.
    let known = [0xa9fe_a9fe, 0xa9fe_aa02, 0xa9fe_aa17, 0x6464_64c8, 0xc000_00c0];
    number(host).is_some_and(|address| known.contains(&address))
}

/// An address as every resolver reads it: one to four numbers, decimal, octal or hexadecimal.
fn number(host: &str) -> Option<u32> {
    let parts: Vec<u32> = host
        .split('.')
        .map(|part| match part {
            _ if part.starts_with("0x") => u32::from_str_radix(&part[2..], 16).ok(),
            _ if part.len() > 1 && part.starts_with('0') => u32::from_str_radix(part, 8).ok(),
            _ => part.parse().ok(),
        })
        .collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 || first.iter().any(|part| *part > 255) {
        return None;
    }
    let mut address = 0_u32;
    for (at, part) in first.iter().enumerate() {
        address |= part << (24 - 8 * at);
    }
    Some(address | last)
}

/// Whether what is substituted in a text shows something of this machine.
fn shows_local(text: &str) -> bool {
    let begins = text.split("$(").skip(1).chain(text.split('`').skip(1).step_by(2));
    begins.flat_map(|script| script.split(['|', ';', '&', '(', '\n'])).any(|part| {
        let part = part.trim_start();
        let program = part.split_whitespace().next().unwrap_or("").trim_end_matches([')', '"']);
        let name = program.rsplit('/').next().unwrap_or(program);
        // `$(< file)`; of git only what prints contents.
        part.starts_with('<')
            || SHOWS_LOCAL.split(' ').any(|one| one == name)
                && (name != "git"
                    || ["git diff", "git show", "git log", "git cat-file", "git config"]
                        .iter()
                        .any(|shows| part.starts_with(shows)))
    })
}

/// Whether the program takes an address to talk to from its arguments.
fn talks_to_anybody(name: &str) -> bool {
    let program = name.split(' ').next().unwrap_or(name);
    let by_row = table::find(program).is_some_and(|row| {
        row.takes == Takes::Hosts
            || matches!(
                row.reader,
                Reader::Curl | Reader::Wget | Reader::Netcat | Reader::Sql | Reader::Redis
            )
    });
    by_row
        || matches!(
            program,
            "ssh"
                | "telnet"
                | "ftp"
                | "sftp"
                | "mail"
                | "mailx"
                | "sendmail"
                | "mutt"
                | "swaks"
                | "getent"
        )
        || name == "openssl"
}

/// Whether code opens a connection and gives a shell to whoever is there.
pub(crate) fn is_reverse_shell(code: &str) -> bool {
    const CONNECTS: [&str; 7] =
        ["socket", "Socket", "fsockopen", "TCPClient", "/inet/tcp", "net.connect", "net.Dial"];
    const GIVES: [&str; 12] = [
        "/bin/sh",
        "/bin/bash",
        "/bin/zsh",
        "cmd.exe",
        "pty.spawn",
        "dup2",
        "subprocess",
        "os.system",
        "exec(",
        "proc_open",
        "spawn(",
        "|& getline",
    ];
    CONNECTS.iter().any(|part| code.contains(part)) && GIVES.iter().any(|part| code.contains(part))
}

impl Walk {
    /// What `tee` is fed is in its files afterwards.
    pub(crate) fn kept_by_tee(&mut self, name: &str, argv: &[Word]) {
        if name != "tee" {
            return;
        }
        let Some(text) = self.input_text() else { return };
        let appends = argv.iter().any(|word| matches!(word.text.as_str(), "-a" | "--append"));
        for word in argv.iter().skip(1).filter(|word| !word.starts_with("-")) {
            let file = word.likely().to_owned();
            self.files.write(&file, &text, appends);
        }
    }

    /// Judges what a command sends that was found to talk to another machine.
    pub(crate) fn outbound(&mut self, argv: &[Word], before: usize) {
        let name = argv.first().and_then(Word::exact).unwrap_or_default();
        let Some(name) = crate::judge::program_name(name) else { return };
        if matches!(name, "scp" | "rsync") {
            self.copies_out(name, argv, before);
            return;
        }
        let leaves = |kind| matches!(kind, Kind::Network | Kind::Execute | Kind::Unknown);
        if !self.found[before..].iter().any(|it| leaves(it.does.kind)) && !asks_database(name) {
            return;
        }
        if argv.iter().skip(1).any(names_metadata) && may_ask(name) {
            self.find(ASKS_METADATA, name, format!("{name} for metadata"));
        }
        if !talks_to_anybody(name) {
            return;
        }
        // Where an option may be hidden, the program still talks to somebody.
        let may_talk = |kind| matches!(kind, Kind::Network | Kind::Unknown);
        let talks = self.found[before..].iter().any(|it| may_talk(it.does.kind))
            || asks_database(name)
            || name == "telnet";
        let is_local_store = name == "redis-cli"
            && !argv.iter().any(|word| word.starts_with("-h") || word.starts_with("-u"));
        if !talks || is_local_store || is_on_this_machine(argv) {
            return;
        }
        let tls = name == "openssl" && argv.get(1).and_then(Word::exact) == Some("s_client");
        if tls || matches!(name, "ssh" | "telnet" | "mail" | "mailx" | "sendmail" | "mutt") {
            self.sends_input(name);
        }
        for word in argv.iter().skip(1).filter(|word| !word.literal) {
            let what = || format!("{name} {}", word.text);
            if word.expansions.contains(&Expansion::Substitution) {
                let does = if shows_local(&word.text) { UPLOAD } else { SENDS_UNKNOWN };
                let harmless = does == SENDS_UNKNOWN && !word.may_be_option;
                if !harmless {
                    self.find(does, name, what());
                }
            } else if word.expansions.contains(&Expansion::Variable) && !word.free {
                self.find(SENDS_UNKNOWN, name, what());
            }
        }
    }

    /// What a program that sends its standard input sends there.
    fn sends_input(&mut self, name: &str) {
        let what = format!("{name} with input from this machine");
        match &self.input {
            // What comes through a pipe is not followed in other languages.
            Input::Inherited if !self.shell.is_posix_like() => self.find(SEND, name, what),
            Input::Inherited => {}
            Input::Text(text) if matches!(text.trim(), "" | "Q" | "QUIT") => {}
            Input::Text(_) => self.find(SEND, name, what),
            Input::Likely(_) | Input::Decoded | Input::Other => self.find(UPLOAD, name, what),
        }
    }

    /// `scp` and `rsync`: what goes to another machine is an upload.
    fn copies_out(&mut self, name: &str, argv: &[Word], before: usize) {
        let Some(row) = table::find(name) else { return };
        if self.found[before..].iter().all(|it| it.does.risk == Risk::ReadOnly) {
            return;
        }
        let options = Options::of(row, &argv[1..]);
        let Some((last, sources)) = options.operands.split_last() else { return };
        if is_remote(last.likely()) && sources.iter().any(|word| !is_remote(word.likely())) {
            let host = argv::host(last.likely());
            self.find_at(UPLOAD, name, format!("{name} {}", last.text), host);
        }
    }
}

/// Clients whose statements reach another machine.
fn asks_database(name: &str) -> bool {
    matches!(name, "psql" | "mysql" | "mariadb" | "redis-cli" | "mongosh" | "sqlcmd")
}

/// Whether a word names the metadata of a cloud.
fn names_metadata(word: &Word) -> bool {
    let text = word.likely().trim_matches('"');
    let value =
        text.strip_prefix("--").and_then(|rest| rest.split_once('=')).map(|(_, value)| value);
    [Some(text), value].into_iter().flatten().any(|text| {
        (text.contains('.') || text.contains("://") || text.contains(':')) && is_metadata(text)
    })
}

/// Programs that print a name or keep it in a list do not ask for it.
fn may_ask(name: &str) -> bool {
    !matches!(name, "echo" | "printf" | "grep" | "rg" | "ip" | "route" | "iptables" | "ufw" | "git")
}

/// Whether every address among the arguments is this machine.
fn is_on_this_machine(argv: &[Word]) -> bool {
    let mut hosts = argv.iter().skip(1).filter_map(|word| {
        let text = word.likely().trim_matches('"');
        argv::host(text).filter(|_| !text.starts_with('-'))
    });
    let mut any = false;
    let all = hosts.all(|host| {
        any = true;
        argv::is_local(&host)
    });
    any && all
}

/// `host:path`, `user@host:path`, `host::module`, `rsync://host/…`.
pub(crate) fn is_remote(text: &str) -> bool {
    let Some((host, path)) = text.split_once(':') else { return false };
    let drive = host.len() == 1 && path.starts_with(['/', '\\']);
    text.contains("://")
        || !host.is_empty() && !host.contains('/') && !host.starts_with('.') && !drive
}

#[cfg(test)]
mod tests {
    use super::{is_metadata, is_remote, shows_local};

    #[test]
    fn the_address_of_the_metadata_is_seen_however_it_is_written() {
        for address in [
            "http://169.254.169.254/latest/",
            "http://2852039166/",
            "http://0xa9fea9fe/",
            "http://0xa9.0xfe.0xa9.0xfe/",
            "http://0251.0376.0251.0376/",
            "http://169.254.43518/",
            "http://[fd00:ec2::254]/",
            "http://[::ffff:169.254.169.254]/",
            "http://metadata.google.internal/x",
            "http://user@169.254.169.254:80/",
            "169.254.169.254",
            "http://169.254.169.254.nip.io/",
        ] {
            assert!(is_metadata(address), "{address}");
        }
        for address in ["https://example.com/169.254.169.254", "http://10.0.0.1/", "1.2.3", "x"] {
            assert!(!is_metadata(address), "{address}");
        }
    }

    #[test]
    fn what_a_substitution_shows_of_this_machine_is_seen() {
        assert!(shows_local("x=$(cat y)") && shows_local("`base64 y`") && shows_local("$(<y)"));
        assert!(shows_local("$(echo a | tr a b; /bin/cat y)"));
        assert!(!shows_local("$(date +%s)") && !shows_local("$(git rev-parse HEAD)"));
    }

    #[test]
    fn another_machine_is_told_from_a_path() {
        assert!(
            is_remote("host:")
                && is_remote("u@h:/x")
                && is_remote("h::m")
                && is_remote("rsync://h/x")
        );
        assert!(!is_remote("./a:b") && !is_remote("/x:y") && !is_remote("a") && !is_remote("C:/x"));
    }
}
