//! Edits of odd texts: what is added, what is left alone, and what is refused.

use proptest::prelude::*;

use super::clients::CLIENTS;
use super::*;

fn client(name: &str) -> &'static Client {
    CLIENTS.iter().find(|client| client.name == name).unwrap()
}

fn server() -> Server {
    Server { name: "umbo".into(), command: "/x/umbo".into(), arguments: vec!["mcp".into()] }
}

/// The text with umbo put in.
fn with(name: &str, text: &str) -> (String, bool) {
    match put(client(name), text, &server()) {
        Ok(Put::Added { text, made_section }) => (text, made_section),
        other => panic!("{name}: {other:?} for:\n{text}"),
    }
}

/// The text with umbo taken out.
fn without(name: &str, text: &str, emptied: Emptied) -> String {
    match remove(client(name), text, "umbo", emptied) {
        Ok(Removal::Removed { text }) => text,
        other => panic!("{name}: {other:?} for:\n{text}"),
    }
}

/// Puts umbo in, compares, and takes it out again by the text alone.
#[track_caller]
fn there_and_back(name: &str, before: &str, after: &str) {
    let (text, made_section) = with(name, before);
    assert_eq!(text, after, "{name}");
    assert!(matches!(put(client(name), &text, &server()), Ok(Put::Same)), "{text}");
    let emptied = if made_section { Emptied::Goes } else { Emptied::Stays };
    assert_eq!(without(name, &text, emptied), before, "{name}, out again");
}

fn refusal(name: &str, text: &str) -> Problem {
    match put(client(name), text, &server()) {
        Err(problem) => problem,
        other => panic!("{name}: {other:?} for:\n{text}"),
    }
}

const ENTRY: &str = r#"{"command":"/x/umbo","args":["mcp"]}"#;
const SPACED: &str = r#"{"command": "/x/umbo", "args": ["mcp"]}"#;

#[test]
fn json_on_one_line_stays_on_one_line() {
    there_and_back(
        "cursor",
        r#"{"mcpServers":{"a":{}},"z":1}"#,
        &format!(r#"{{"mcpServers":{{"a":{{}},"umbo":{ENTRY}}},"z":1}}"#),
    );
    there_and_back(
        "cursor",
        r#"{"z":1}"#,
        &format!(r#"{{"z":1,"mcpServers":{{"umbo":{ENTRY}}}}}"#),
    );
    there_and_back(
        "cursor",
        "{ \"mcpServers\": { \"a\": {} } }\n",
        &format!("{{ \"mcpServers\": {{ \"a\": {{}}, \"umbo\": {SPACED} }} }}\n"),
    );
    there_and_back(
        "cursor",
        r#"{"z": 1, "mcpServers": {}}"#,
        &format!(r#"{{"z": 1, "mcpServers": {{"umbo": {SPACED}}}}}"#),
    );
    there_and_back(
        "cursor",
        "{\n  \"mcpServers\": {\"a\": {}} // one line\n}\n",
        &format!("{{\n  \"mcpServers\": {{\"a\": {{}}, \"umbo\": {SPACED}}} // one line\n}}\n"),
    );
}

#[test]
fn json_keeps_its_comments_commas_tabs_and_line_endings() {
    let entry =
        "\"umbo\": {\r\n\t\t\t\"command\": \"/x/umbo\",\r\n\t\t\t\"args\": [\"mcp\"]\r\n\t\t}";
    there_and_back(
        "zed",
        "\u{feff}{\r\n\t// mine\r\n\t\"context_servers\": {\r\n\t\t\"a\": {} // no comma\r\n\t\t// last\r\n\t}\r\n}\r\n",
        &format!(
            "\u{feff}{{\r\n\t// mine\r\n\t\"context_servers\": {{\r\n\t\t\"a\": {{}}, // no comma\r\n\t\t{entry}\r\n\t\t// last\r\n\t}}\r\n}}\r\n"
        ),
    );
    there_and_back(
        "zed",
        "// top\n{\n  \"z\": [1, 2,], /* odd */\n  \"y\": {},\n  // end\n}\n// bottom\n",
        "// top\n{\n  \"z\": [1, 2,], /* odd */\n  \"y\": {},\n  \"context_servers\": {\n    \"umbo\": {\n      \
         \"command\": \"/x/umbo\",\n      \"args\": [\"mcp\"],\n    },\n  },\n  // end\n}\n// bottom\n",
    );
    there_and_back(
        "gemini",
        "{\n    \"mcpServers\": {},\n    \"z\": 1 // one\n}",
        "{\n    \"mcpServers\": {\n        \"umbo\": {\n            \"command\": \"/x/umbo\",\n            \
         \"args\": [\"mcp\"]\n        }\n    },\n    \"z\": 1 // one\n}",
    );
}

#[test]
fn a_blank_text_becomes_one() {
    for name in ["claude-code", "zed", "codex", "goose"] {
        for blank in ["", "\n", "\u{feff}"] {
            let (text, made) = with(name, blank);
            assert!(made && text.contains("/x/umbo"), "{name} {blank:?}: {text}");
            assert!(is_blank(&without(name, &text, Emptied::Goes)), "{name} {blank:?}");
        }
    }
    assert!(with("zed", "// only words\n").0.starts_with("// only words\n{"));
    assert!(with("codex", "# only words\n").0.starts_with("# only words\n\n[mcp"));
    assert!(with("goose", "# only words\n").0.starts_with("# only words\nextensions:\n"));
}

#[test]
fn an_entry_that_differs_is_changed_only_where_it_does() {
    let changed = |name: &str, text: &str| match put(client(name), text, &server()) {
        Ok(Put::Changed { text }) => text,
        other => panic!("{name}: {other:?}"),
    };
    let old = "{\n  \"mcpServers\": {\n    \"umbo\": {\n      // mine\n      \"args\": [\"mcp\", \"-x\"],\n      \
               \"env\": {\"A\": \"b\"},\n      \"command\": \"/x/umbo\"\n    }\n  }\n}\n";
    assert_eq!(changed("cursor", old), old.replace("[\"mcp\", \"-x\"]", "[\"mcp\"]"));
    let old = "[mcp_servers.umbo] # mine\nargs = [\n  'mcp', # why\n  '-x',\n]\nenabled = false\n\n\
               [mcp_servers.umbo.env]\nA = 'b'\n";
    let new = "[mcp_servers.umbo] # mine\nargs = [\"mcp\"]\nenabled = false\n\n[mcp_servers.umbo.env]\nA = 'b'\n";
    let old = format!("{}command = \"/old/umbo\"\n{CODEX}{}", &old[..26], &old[26..]);
    assert_eq!(
        changed("codex", &old),
        format!("{}command = \"/x/umbo\"\n{CODEX}{}", &new[..26], &new[26..])
    );
    let old = "extensions:\n    umbo:\n        args:\n        - mcp\n        - -x\n        # why\n        \
               cmd: umbo # short\n        enabled: false\n        type: stdio\n        env_keys: []\n    b: {}\n";
    let new = "extensions:\n    umbo:\n        timeout: 300\n        name: umbo\n        args:\n        - mcp\n        \
               # why\n        cmd: /x/umbo\n        enabled: true\n        type: stdio\n        env_keys: []\n    b: {}\n";
    assert_eq!(changed("goose", old), new);
    let more = CODEX.trim_end().replace('\n', ", ");
    let inline =
        format!("[mcp_servers]\numbo = {{ command = \"umbo\", args = [\"mcp\"], {more} }}\n");
    assert_eq!(changed("codex", &inline), inline.replace("\"umbo\"", "\"/x/umbo\""));
}

/// What Codex is told beside.
const CODEX: &str = "env_vars = [\"UMBO_STATE_DIR\", \"UMBO_CONFIG_DIR\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\", \"XDG_DATA_HOME\", \"XDG_CACHE_HOME\", \"XDG_RUNTIME_DIR\", \"SSH_AUTH_SOCK\", \"DBUS_SESSION_BUS_ADDRESS\", \"CARGO_HOME\", \"RUSTUP_HOME\", \"GOPATH\", \"JAVA_HOME\", \"NVM_DIR\", \"PYENV_ROOT\", \"VIRTUAL_ENV\", \"http_proxy\", \"https_proxy\", \"HTTPS_PROXY\", \"NO_PROXY\"]\ndefault_tools_approval_mode = \"approve\"\n";

#[test]
fn toml_is_appended_to_and_cut_out_of() {
    let entry = &format!("[mcp_servers.umbo]\ncommand = \"/x/umbo\"\nargs = [\"mcp\"]\n{CODEX}");
    for before in [
        "model = \"o\" # mine\n",
        "[mcp_servers.a]\ncommand = \"x\"\n\n[mcp_servers.a.env]\nK = '''\n[not.a.table]\n'''\n",
        "mcp_servers.a.command = \"x\"\n",
        "[mcp_servers]\n# none yet\n",
        "[a]\n\n\n# end\n",
    ] {
        there_and_back("codex", before, &format!("{before}\n{entry}"));
    }
    let crlf = "[a]\r\nb = 1\r\n";
    there_and_back("codex", crlf, &format!("{crlf}\r\n{}", entry.replace('\n', "\r\n")));
    let middle = format!(
        "[a]\n\n{entry}enabled = true\n[mcp_servers.umbo.env]\nA = 'b' # c\n\n# of z\n[z]\n"
    );
    assert_eq!(without("codex", &middle, Emptied::Stays), "[a]\n\n# of z\n[z]\n");
    assert_eq!(with("codex", "[a]\nb = 1").0, format!("[a]\nb = 1\n\n{entry}"));
}

#[test]
fn yaml_is_edited_by_lines() {
    let entry = |depth: usize| {
        let pad = " ".repeat(depth);
        format!(
            "{pad}umbo:\n{pad}  enabled: true\n{pad}  type: stdio\n{pad}  name: umbo\n{pad}  cmd: /x/umbo\n{pad}  \
             args:\n{pad}  - mcp\n{pad}  timeout: 300\n"
        )
    };
    let before = "# mine\nGOOSE_MODEL: x\nextensions: # all\n    a:\n        args:\n        - |\n          # text\n          \
                  extensions:\n        # about b\n    b: {}\n\n    # end of extensions\nZ: 1\n# end\n";
    let at = before.find("\n    # end").unwrap();
    there_and_back("goose", before, &format!("{}{}{}", &before[..at], entry(4), &before[at..]));
    there_and_back("goose", "a: 1\n", &format!("a: 1\nextensions:\n{}", entry(2)));
    there_and_back("goose", "extensions: {}\nz: 1\n", &format!("extensions:\n{}z: 1\n", entry(2)));
    there_and_back(
        "goose",
        "---\r\na: 1\r\n",
        &format!("---\r\na: 1\r\nextensions:\r\n{}", entry(2).replace('\n', "\r\n")),
    );
    assert_eq!(with("goose", "a: 1").0, format!("a: 1\nextensions:\n{}", entry(2)));
    assert_eq!(
        with("goose", "extensions: # none\n").0,
        format!("extensions: # none\n{}", entry(2))
    );
}

#[test]
fn what_is_not_certain_is_refused() {
    for (name, text, line) in [
        ("claude-code", "{\n  // comment\n}\n", Some(2)),
        ("claude-code", "{\"a\": 1,}", Some(1)),
        ("gemini", "{\n  \"a\": [1,]\n}\n", Some(2)),
        ("zed", "{\n  \"a\": 1\n  \"b\": 2\n}\n", Some(2)),
        ("zed", "{a: 1}", Some(1)),
        ("zed", "{\"context_servers\": []}", None),
        ("zed", "[]", None),
        ("zed", "{\"context_servers\": {}, \"context_servers\": {}}", None),
        ("codex", "a = 1\nb =\n", Some(2)),
        ("codex", "a = 1\na = 2\n", Some(2)),
        ("codex", "mcp_servers = 3\n", Some(1)),
        ("codex", "mcp_servers = { a = { command = \"x\" } }\n", Some(1)),
        ("goose", "a: [1\nb: 2\n", Some(2)),
        ("goose", "a: 1\na: 2\n", Some(2)),
        ("goose", "a: 1\n---\nb: 1\n", Some(3)),
        ("goose", "extensions: {a: {}}\n", Some(1)),
        ("goose", "extensions:\n- a\n", None),
        ("goose", "{a: 1}\n", None),
        ("goose", "x: &x {a: {}}\nextensions: *x\n", Some(2)),
        ("goose", "a: 1\n...\n", None),
        ("goose", "a: 1\nb: 2\rextensions: {}\n", Some(2)),
    ] {
        let problem = refusal(name, text);
        assert_eq!(problem.line, line, "{name}: {text:?}: {}", problem.why);
    }
}

#[test]
fn another_server_of_the_same_name_is_left_alone() {
    let text = r#"{"mcpServers": {"umbo": {"command": "npx", "args": ["-y", "umbo"]}}}"#;
    let words = match (
        put(client("cursor"), text, &server()),
        remove(client("cursor"), text, "umbo", Emptied::Stays),
    ) {
        (Ok(Put::Foreign { words }), Ok(Removal::Foreign { words: same })) if words == same => {
            words
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(words, "npx -y umbo");
}

#[test]
fn what_somebody_else_put_beside_it_stays_when_it_goes() {
    let (text, made) = with("zed", "{}");
    assert!(made);
    let text = text.replacen("{\n    \"umbo\"", "{\n    // mine\n    \"umbo\"", 1);
    assert_eq!(
        without("zed", &text, Emptied::Goes),
        "{\n  \"context_servers\": {\n    // mine\n  }\n}"
    );
    let (text, _) = with("goose", "a: 1\n");
    let text = text.replace("  umbo:", "  # mine\n  umbo:");
    assert_eq!(without("goose", &text, Emptied::Goes), "a: 1\nextensions: {}\n  # mine\n");
}

#[test]
fn every_client_gets_what_it_can_read() {
    let odd = Server {
        name: "on".into(),
        command: "/a b/\"ü\\\t/umbo".into(),
        arguments: vec!["mcp".into(), "--x: y # z".into(), "yes".into()],
    };
    for client in clients::CLIENTS.iter().chain([&clients::ANY]) {
        let text = snippet(client, &odd).unwrap();
        let entry = find(client, &text, "on").unwrap().unwrap();
        let mut words = vec![odd.command.clone()];
        words.extend(odd.arguments.clone());
        assert_eq!(server::words(&entry), words, "{}: {text}", client.name);
        assert!(!client.user.is_empty() || client.name == "any");
    }
}

/// Settings to be mangled: each format with all that it has.
const MANGLED: [(&str, &str); 4] = [
    (
        "zed",
        "// top\n{\n  \"z\": [1, {\"ü\": null,},], /* odd */\n  \"context_servers\": {\n    \"a\": {\"x\": \"y\"}, // b\n    \
         // c\n  },\n  \"e\": 1.5e3,\n}\n",
    ),
    (
        "claude-code",
        "{\"a\":{\"b\":[]},\"mcpServers\":{\"ü\":{\"command\":\"\\u00fc\"}},\"c\":true}",
    ),
    (
        "codex",
        "# ü\r\na = 1\n[mcp_servers.a]\ncommand = 'x' # c\nargs = [\n 'y',\n]\n[mcp_servers.a.env]\nK = \"\"\"\n[z]\n\"\"\"\n\
         [[list]]\nb = { c = 1 }\n",
    ),
    (
        "goose",
        "# ü\na: |\n  extensions:\n   b\nextensions: # c\n  a:\n    args: [x, \"y\"]\n    cmd: 'z'\n  b:\n    list:\n    - 1\n  \
         # end\nz: {q: 1}\n",
    ),
];

/// One thing that happens to a text, at a share of its length.
fn mangle(text: &str, at: f64, how: usize) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place in a text"
    )]
    #[expect(clippy::cast_precision_loss, reason = "a short text")]
    let at = (at * characters.len() as f64) as usize;
    match how {
        0 if at < characters.len() => drop(characters.remove(at)),
        1 => characters.truncate(at),
        2 => characters.splice(at..at, text.chars().take(at)).for_each(drop),
        other => {
            let signs = "{}[]\",:#/*-\n\r\t 'é=&";
            characters.insert(at, signs.chars().nth(other % 20).unwrap_or('x'));
        }
    }
    characters.into_iter().collect()
}

/// Whether all that is said in one text is said in another, in the same order.
fn is_kept(before: &str, after: &str) -> bool {
    let mut after = after.chars().filter(|c| !c.is_whitespace());
    before.chars().filter(|c| !c.is_whitespace()).all(|c| after.any(|other| other == c))
}

proptest! {
    // The same texts in every run: what fails once fails again.
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]
    #[test]
    fn no_text_makes_it_lose_a_word_or_panic(
        which in 0..MANGLED.len(),
        accidents in proptest::collection::vec((0.0..1.0_f64, 0..40_usize), 0..4),
    ) {
        let (name, text) = MANGLED[which];
        let text = accidents.iter().fold(text.to_owned(), |text, (at, how)| mangle(&text, *at, *how));
        let client = client(name);
        match put(client, &text, &server()) {
            Ok(Put::Added { text: edited, made_section }) => {
                // Of an empty mapping in YAML the braces have to go.
                let before = if name == "goose" { text.replacen("{}", "", 1) } else { text.clone() };
                prop_assert!(is_kept(&before, &edited), "{text}\n--\n{edited}");
                prop_assert!(matches!(put(client, &edited, &server()), Ok(Put::Same)));
                let emptied = if made_section { Emptied::Goes } else { Emptied::Stays };
                if let Ok(Removal::Removed { text: left }) = remove(client, &edited, "umbo", emptied) {
                    prop_assert!(is_kept(&before, &left), "{text}\n--\n{left}");
                    prop_assert!(matches!(find(client, &left, "umbo"), Ok(None)));
                } else {
                    prop_assert!(false, "what was put in does not come out:\n{edited}");
                }
            }
            Ok(other) => prop_assert!(false, "{other:?}"),
            Err(problem) => prop_assert!(!problem.why.is_empty()),
        }
    }
}
