//! `curl`: what it sends and where it puts what comes back.

use crate::argv::{self, Options};
use crate::effect::{
    Does, FETCH, PRIVILEGE, PUBLISH, READ, REMOTE, RUN, SECRET, SEND, UNKNOWN, UPLOAD,
};
use crate::risk::Risk;
use crate::row::Row;
use crate::walk::Walk;
use crate::word::Word;

/// Options that only change how curl asks and prints.
const PLAIN: &str = "-s -S -f -L -i -I -v -k -g -4 -6 -N -# -0 -1 -2 -3 --silent --show-error --fail --fail-with-body --location --include --head --verbose --insecure --compressed --globoff --ipv4 --ipv6 --no-buffer --http1.1 --http2 --http2-prior-knowledge --http3 --no-progress-meter --progress-bar --path-as-is --tlsv1.2 --tlsv1.3 --ssl-reqd --tcp-nodelay --raw --anyauth --basic --disable -q --get -G --version -V --help --styled-output --no-styled-output --parallel -Z --fail-early --location-trusted --ssl --ntlm --digest --negotiate --manual -M -h --crlf --tr-encoding --http0.9 --http1.0 --sslv2 --sslv3 --tlsv1 --tlsv1.0 --tlsv1.1 --no-keepalive --no-sessionid --no-alpn --disallow-username-in-url --post301 --post302 --post303 --ftp-pasv --list-only -l --suppress-connect-headers --tcp-fastopen --tls-earlydata --ca-native --cert-status --false-start --haproxy-protocol --ignore-content-length --junk-session-cookies -j";

/// Options whose value only changes how curl asks and prints.
const VALUED: &str = "-H -A -e -m -u -b -r -y -Y -z --header --user-agent --referer --max-time --connect-timeout --user --cookie --retry --retry-delay --retry-max-time --max-redirs --range --resolve --limit-rate --interface --cacert --capath --url --proto --speed-time --speed-limit --max-filesize --unix-socket --oauth2-bearer --aws-sigv4 --ciphers --noproxy --time-cond --url-query --tls-max --tls13-ciphers --dns-servers --dns-interface --happy-eyeballs-timeout-ms --keepalive-time --local-port --proto-default --proto-redir --request-target --connect-to --expect100-timeout --curves --pinnedpubkey --create-file-mode --parallel-max --retry-all-errors --rate -C --continue-at";

/// Commands of FTP that change nothing.
const FTP_QUESTIONS: &str = "PWD LIST NLST STAT SIZE MDTM NOOP SYST CDUP CWD FEAT HELP MLST MLSD";

fn listed(list: &str, option: &str) -> bool {
    list.split_whitespace().any(|one| one == option)
}

impl Walk {
    pub(super) fn curl(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let from = self.found.len();
        let mut at = 0;
        let mut urls: Vec<&Word> = Vec::new();
        while let Some(word) = args.get(at) {
            let text = word.text.as_str();
            at += 1;
            if !text.starts_with('-') || text == "-" {
                if word.may_be_option
                    && !word.text.starts_with("\"http")
                    && !word.text.starts_with("http")
                {
                    self.find(
                        UNKNOWN,
                        name,
                        format!("{name} with an argument only known at run time"),
                    );
                }
                urls.push(word);
                continue;
            }
            if !word.literal {
                self.find(UNKNOWN, name, format!("{name} {text}"));
                continue;
            }
            if text.starts_with("--") {
                let (option, inline) =
                    text.split_once('=').map_or((text, None), |(o, v)| (o, Some(v)));
                let value = inline.map(Word::literal);
                if self.curl_option(name, option, value.as_ref().or_else(|| args.get(at)))
                    && inline.is_none()
                {
                    at += 1;
                }
                continue;
            }
            for (index, letter) in text[1..].char_indices() {
                let option = format!("-{letter}");
                let rest = &text[1 + index + letter.len_utf8()..];
                let inline = (!rest.is_empty()).then(|| Word::literal(rest));
                if self.curl_option(name, &option, inline.as_ref().or_else(|| args.get(at))) {
                    at += usize::from(inline.is_none());
                    break;
                }
            }
        }
        let sends = self.found[from..].iter().any(|finding| finding.does.risk > Risk::ReadOnly);
        let deletes = |word: &&&Word| {
            let lower = word.likely().to_ascii_lowercase();
            lower.contains("/dodelete") || lower.contains("_delete_by_query")
        };
        if sends && let Some(word) = urls.iter().find(deletes) {
            self.find(REMOTE, name, format!("{name} {}", word.text));
        }
        let socket = |word: &Word| word.likely().ends_with("docker.sock");
        if sends && args.iter().any(socket) {
            self.find(PRIVILEGE, name, format!("{name} to the container engine"));
        }
        self.curl_urls(row, name, &urls);
    }

    /// One option; whether it takes a value.
    fn curl_option(&mut self, name: &str, option: &str, value: Option<&Word>) -> bool {
        let what = format!("{name} {option}");
        let text = value.map_or("", |word| word.likely());
        match option {
            _ if listed(PLAIN, option) => return false,
            "-o" | "--output" | "-D" | "--dump-header" | "-c" | "--cookie-jar" | "--trace"
            | "--trace-ascii" | "--stderr" | "--etag-save" | "--hsts" | "--alt-svc"
            | "--libcurl" | "--output-dir" => {
                if text != "-" {
                    self.writes(name, what, value);
                }
            }
            "-O"
            | "--remote-name"
            | "-J"
            | "--remote-header-name"
            | "--remote-name-all"
            | "--create-dirs" => {
                self.find(crate::effect::OVERWRITE, name, what);
                return false;
            }
            "-X" | "--request" => {
                let does = match text.to_ascii_uppercase().as_str() {
                    "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PROPFIND" => FETCH,
                    "DELETE" => REMOTE,
                    _ => SEND,
                };
                self.find(does, name, format!("{what} {text}"));
            }
            "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-urlencode"
            | "--data-ascii" | "--json" | "-F" | "--form" | "--form-string" | "-T"
            | "--upload-file" => {
                let uploads = matches!(option, "-T" | "--upload-file")
                    || text.starts_with('@')
                    || text.contains("=@")
                    || text.contains("=<")
                    || option == "--data-urlencode"
                        && text.split('=').next().is_some_and(|name| name.contains('@'));
                let does: Does = if self.is_secret(text) {
                    SECRET
                } else if uploads {
                    UPLOAD
                } else {
                    SEND
                };
                self.find(does, name, what);
                if value.is_some_and(|word| !word.literal) {
                    self.find(
                        UNKNOWN,
                        name,
                        format!("{name} sending something only known at run time"),
                    );
                }
            }
            _ if listed(VALUED, option) => {
                let cookie_file = matches!(option, "-b" | "--cookie") && !text.contains('=');
                let sends_file = text.starts_with('@') || queries_file(option, text);
                if self.is_secret(text) && (cookie_file || sends_file) {
                    self.find(SECRET, name, what);
                } else if sends_file {
                    self.find(UPLOAD, name, what);
                } else if value.is_some_and(|word| !word.literal && word.may_split) {
                    self.find(
                        UNKNOWN,
                        name,
                        format!("{name} with an argument only known at run time"),
                    );
                }
            }
            "-w" | "--write-out" => {
                // `%output{file}` sends what follows to a file.
                let plain = value.is_some_and(|word| word.literal) && !text.starts_with('@');
                if !plain {
                    self.find(UNKNOWN, name, what);
                } else if text.contains("%output") {
                    self.find(crate::effect::OVERWRITE, name, what);
                }
            }
            // Commands for an FTP server; those of this list ask.
            "-Q" | "--quote" => {
                let command = text.trim_start_matches(['-', '+', '*']);
                let verb = command.split(' ').next().unwrap_or_default().to_ascii_uppercase();
                let asks = value.is_some_and(|word| word.literal) && listed(FTP_QUESTIONS, &verb);
                self.find(if asks { FETCH } else { UNKNOWN }, name, format!("{what} {text}"));
            }
            // -K names a file of more options, and whatever else curl has is not known here.
            "-K" | "--config" | "--engine" | "-x" | "--proxy" | "--preproxy" | "--netrc-file"
            | "--cert" | "-E" | "--key" => {
                self.find(RUN, name, what);
            }
            _ => {
                self.find(UNKNOWN, name, what);
                return false;
            }
        }
        true
    }

    /// `wget`: to standard output it only asks.
    pub(super) fn wget(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        const PLAIN: &str = "-O -q -S -T -t -U -4 -6 --output-document --quiet --server-response --timeout --tries --user-agent --header --no-verbose --no-check-certificate --https-only --max-redirect --compression --content-on-error";
        let options = Options::of(row, args);
        let to = options.value_of("-O").or_else(|| options.value_of("--output-document"));
        // `-` is a value here, though it begins with a dash.
        let dashes = args.iter().any(|word| {
            let text = word.text.as_str();
            text == "-" || text == "--output-document=-" || text.ends_with("O-")
        });
        let prints = dashes && to.is_none_or(|to| to.text == "-");
        let address = |word: &&&Word| !word.literal;
        if prints && options.outside(&Row { valued: "", rules: &[], ..*row }, PLAIN).is_none() {
            if options.operands.iter().find(address).is_some() || options.may_hide_option() {
                self.find(UNKNOWN, name, format!("{name} to an address only known at run time"));
            }
            self.targets(row, FETCH, name, &options);
            return;
        }
        self.plain(row, name, args);
    }

    /// `gh api`: a GET, or a query that changes nothing, only asks.
    pub(super) fn gh_api(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let options = Options::of(row, args);
        let method = options.value_of("-X").or_else(|| options.value_of("--method"));
        let gets = method.as_ref().is_some_and(|method| {
            method.exact().is_some_and(|method| matches!(method, "GET" | "HEAD"))
        });
        let fields: Vec<&Word> = args
            .windows(2)
            .filter(|pair| matches!(pair[0].text.as_str(), "-f" | "-F" | "--field" | "--raw-field"))
            .map(|pair| &pair[1])
            .collect();
        if fields.iter().any(|field| field.likely().contains("=@")) {
            self.find(UPLOAD, name, format!("{name} -F @file"));
        }
        let graphql = options.operands.first().is_some_and(|word| word.text == "graphql");
        let asks = |field: &&Word| {
            field.exact().is_some_and(|text| !text.to_ascii_lowercase().contains("mutation"))
        };
        let only_asks = (gets || (graphql && method.is_none() && !fields.is_empty()))
            && !options.has("--input")
            && !options.may_hide_option()
            && fields.iter().all(asks);
        if only_asks {
            self.find(row.does, name, name);
        } else if gets {
            self.find(PUBLISH, name, name);
        } else {
            self.plain(row, name, args);
        }
    }

    fn curl_urls(&mut self, row: &'static Row, name: &str, urls: &[&Word]) {
        for word in urls {
            let text = word.likely().trim_matches('"');
            let host = argv::host(text);
            let local = host.as_deref().is_some_and(argv::is_local);
            let lower = text.to_ascii_lowercase();
            if !word.literal
                && (!local || word.expansions.contains(&crate::word::Expansion::Substitution))
            {
                self.find(UNKNOWN, name, format!("{name} to an address only known at run time"));
            }
            if lower.starts_with("file:") {
                let does = if self.is_secret(text) { SECRET } else { READ };
                self.find(does, name, format!("{name} {text}"));
            } else if lower.contains("://")
                && !["http://", "https://", "ftp://", "ftps://"]
                    .iter()
                    .any(|it| lower.starts_with(it))
            {
                self.find(UNKNOWN, name, format!("{name} {text}"));
            }
            self.find_at(row.does, name, name, host);
        }
        if urls.is_empty() {
            self.find(row.does, name, name);
        }
    }
}

/// `--url-query name@file`: what is in the file is sent.
fn queries_file(option: &str, text: &str) -> bool {
    option == "--url-query" && text.split('=').next().is_some_and(|name| name.contains('@'))
}
