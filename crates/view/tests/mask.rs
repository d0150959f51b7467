//! Masking: sources, modes, forms, formats, streams.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use std::sync::LazyLock;

use proptest::prelude::*;
use umbo_view::mask::{
    MaskError, MaskStream, Masker, Mode, format_names, looks_secret, merge_secrets, parse_secrets,
};
use umbo_view::{Budget, Follower, Memory, Reader, Stream};

fn plain(value: &str) -> Masker {
    Masker::builder().environment([("TEST_TOKEN", value)]).without_formats().build().unwrap()
}

fn listed(yaml: &str) -> Masker {
    let entries = parse_secrets("secrets.yml", yaml).unwrap();
    Masker::builder().entries(entries).without_formats().build().unwrap()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes
        .chunks(3)
        .map(|three| {
            let mut block = [0_u8; 3];
            block[..three.len()].copy_from_slice(three);
            let n = u32::from_be_bytes([0, block[0], block[1], block[2]]);
            (0..4)
                .map(|i| {
                    if i <= three.len() {
                        char::from(LETTERS[(n >> (18 - 6 * i) & 63) as usize])
                    } else {
                        '='
                    }
                })
                .collect::<String>()
        })
        .collect()
}

#[test]
fn variables_with_telling_names_are_secret() {
    for name in [
        "API_KEY",
        "apikey",
        "GITHUB_TOKEN",
        "DB_PASSWORD",
        "PGPASSWORD",
        "MY_SECRET_VALUE",
        "AUTH",
        "BASIC_AUTH",
        "AWS_ACCESS_KEY_ID",
        "GOOGLE_CREDENTIALS",
        "SSH_PRIVATE",
        "OAUTH_X",
        "REDIS_PASS",
        "dbPassword",
        "ACCESSKEY",
        "DB_PWD",
        "AUTHTOKEN",
    ] {
        assert!(looks_secret(name), "{name}");
    }
    for name in [
        "PATH",
        "HOME",
        "GIT_AUTHOR_NAME",
        "MONKEY",
        "COMPASS_DIR",
        "PWD",
        "OLDPWD",
        "KEYBOARD_LAYOUT",
        "TOKENIZERS_PARALLELISM",
        "AUTHORITY",
        "SHELL",
        "PASSENGER_COUNT",
    ] {
        assert!(!looks_secret(name), "{name}");
    }
}

#[test]
fn a_variable_is_masked_and_comes_back() {
    let value = concat!("correct-horse", "-battery");
    let masker = plain(value);
    let hidden = masker.mask_text(&format!("login with {value}!"));
    assert!(!hidden.contains(value));
    let placeholder = &hidden["login with ".len()..hidden.len() - 1];
    assert_eq!(placeholder.len(), 6);
    assert!(placeholder[1..5].bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()));
    assert_eq!(masker.restore(&hidden), format!("login with {value}!"));
    assert_eq!(masker.mask_text(&hidden), hidden, "masking twice changes nothing");
    assert_eq!(plain(value).mask_text(value), placeholder, "the same in every process");
}

#[test]
fn short_values_and_other_names_are_left_alone() {
    let masker = Masker::builder()
        .environment([
            ("A_TOKEN", "short"),
            ("EDITOR", "some-long-editor"),
            ("SSH_AUTH_SOCK", "/run/user/1000/agent"),
        ])
        .build()
        .unwrap();
    let text = "short some-long-editor /run/user/1000/agent";
    assert_eq!(masker.mask_text(text), text);
}

#[test]
fn encoded_forms_are_masked() {
    let value = "pässword with/slash+plus&more";
    let masker = plain(value);
    for before in ["", "x", "xy", "xyz"] {
        for after in ["", "z", "zz"] {
            let encoded = base64(format!("{before}{value}{after}").as_bytes());
            let hidden = masker.mask_text(&encoded);
            assert!(hidden.len() < 20, "{before}|{after}: {hidden}");
            assert_eq!(masker.restore(&hidden), encoded);
            let safe = encoded.replace('+', "-").replace('/', "_");
            assert!(masker.mask_text(&safe).len() < 20);
        }
    }
    for encoded in [
        "p%C3%A4ssword%20with%2Fslash%2Bplus%26more",
        "p%c3%a4ssword%20with%2fslash%2bplus%26more",
        "p%C3%A4ssword+with%2Fslash%2Bplus%26more",
    ] {
        assert_eq!(masker.mask_text(encoded).len(), 6, "{encoded}");
    }
}

/// A text in hexadecimal.
fn hex_of(text: &str) -> String {
    text.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// A text in lines of a width, as encoders break it.
fn broken(text: &str, width: usize, between: &str) -> String {
    let bytes: Vec<&str> =
        text.as_bytes().chunks(width).map(|line| std::str::from_utf8(line).unwrap()).collect();
    bytes.join(between)
}

#[test]
fn forms_of_json_and_hexadecimal_numbers_are_masked() {
    let value = "pä/ss\"w<rd> & \\more";
    let masker = plain(value);
    for escaped in [
        r#"pä/ss\"w<rd> & \\more"#,
        r#"p\u00e4/ss\"w<rd> & \\more"#,
        r#"p\u00E4/ss\"w<rd> & \\more"#,
        r#"pä/ss\"w\u003crd\u003e \u0026 \\more"#,
        r#"pä\/ss\"w<rd> & \\more"#,
        r#"pä/ss\\\"w<rd> & \\\\more"#,
    ] {
        assert_eq!(masker.mask_text(escaped).len(), 6, "{escaped}");
        assert_eq!(masker.restore(&masker.mask_text(escaped)), escaped);
    }
    let masker = plain("hunter2-hunter2");
    for hex in [
        "68756e746572322d68756e74657232",
        "68756E746572322D68756E74657232",
        "68 75 6e 74 65 72 32 2d 68 75 6e 74 65 72 32",
        "68:75:6E:74:65:72:32:2D:68:75:6E:74:65:72:32",
    ] {
        assert_eq!(masker.mask_text(hex).len(), 6, "{hex}");
    }
    assert!(
        !masker
            .mask_text(r"\x68\x75\x6e\x74\x65\x72\x32\x2d\x68\x75\x6e\x74\x65\x72\x32")
            .contains("75")
    );
}

#[test]
fn an_encoded_value_is_masked_though_it_is_broken_into_lines() {
    let value = "correct-horse-battery-staple-0123456789";
    let masker = plain(value);
    let hex = hex_of(value);
    let core = base64(value.as_bytes());
    for before in 0..100 {
        for (width, between) in [(76, "\n"), (64, "\n"), (60, "\n"), (64, "\n    "), (16, "\n")] {
            let noise = "q".repeat(before);
            let text = format!("{noise}{value}{noise}");
            let encoded = broken(&base64(text.as_bytes()), width, between);
            let hidden = masker.mask_text(&encoded);
            let bare: String = hidden.split(['\n', ' ']).collect();
            assert!(!bare.contains(&core[12..24]), "{before} at {width}: {hidden}");
            assert!(hidden.contains('#'), "{before} at {width}: {hidden}");
            let hidden =
                masker.mask_text(&broken(&hex_of(&text), width, between)).replace(['\n', ' '], "");
            assert!(!hidden.contains(&hex[10..30]), "{before} at {width}: {hidden}");
        }
    }
    let words = "the last word of a line is no-thing-to-be-joined\nwith the first of the next\n";
    assert_eq!(masker.mask_text(words), words);
}

#[test]
fn a_value_of_many_lines_is_masked_whole_escaped_and_by_line() {
    let value = "first line of the long value\nsecond line of the long value\n";
    let masker = Masker::builder().environment([("CERT_KEY", value)]).build().unwrap();
    assert_eq!(masker.mask_text(&format!("<{value}>")).len(), 8);
    let escaped = value.replace('\n', "\\n");
    assert!(!masker.mask_text(&escaped).contains("line of"));
    assert!(!masker.mask_text("    second line of the long value").contains("second"));
}

#[test]
fn overlapping_secrets_leave_nothing_over() {
    let masker = Masker::builder()
        .environment([("A_KEY", "abcdefghij"), ("B_KEY", "hijklmnopq"), ("C_KEY", "cdefghij")])
        .build()
        .unwrap();
    let hidden = masker.mask_text("..abcdefghijklmnopq..");
    assert_eq!(hidden.len(), "..#AAAA##BBBB#..".len());
    assert!(hidden.starts_with("..#") && hidden.ends_with("#.."));
}

#[test]
fn entries_choose_what_becomes_of_them() {
    let masker = listed(concat!(
        "# a comment\n",
        "- type: plain\n  content: hunter2\n  mode: replace\n  replacement: \"********\"\n",
        "- type: plain\n  content: same-length-value\n  mode: replace\n",
        "- type: regex\n  content: \"api[_-]?key\\\\s*=\\\\s*\\\\w+\"\n  flags: i\n",
        "- type: regex\n  content: \"/bearer\\\\s+[a-z\\\\/]+/i\"\n",
        "- type: regex\n  content: \"postgres://[^\\\\s]+\"\n  mode: replace\n  replacement: \"postgres://***\"\n",
    ));
    assert_eq!(masker.mask_text("x hunter2 y"), "x ******** y");
    let same = masker.mask_text("same-length-value");
    assert_eq!(same.len(), "same-length-value".len());
    assert_ne!(same, "same-length-value");
    assert_eq!(masker.restore(&same), same);
    let key = masker.mask_text("set API_KEY = abc123, ok");
    assert_eq!(key.len(), "set #XXXX#, ok".len());
    assert_eq!(masker.restore(&key), "set API_KEY = abc123, ok");
    assert_eq!(masker.mask_text("BEARER abc/def.").len(), 7);
    assert_eq!(masker.mask_text("at postgres://u:p@h/db now"), "at postgres://*** now");
}

#[test]
fn a_project_entry_replaces_the_global_one() {
    let global = parse_secrets(
        "global",
        "- {type: plain, content: shared-secret}\n- {type: plain, content: only-global}",
    )
    .unwrap();
    let project = parse_secrets(
        "project",
        "- {type: plain, content: shared-secret, mode: replace, replacement: X}",
    )
    .unwrap();
    let merged = merge_secrets(global, project);
    assert_eq!(merged.len(), 2);
    let masker = Masker::builder().entries(merged).build().unwrap();
    assert_eq!(masker.mask_text("shared-secret"), "X");
    assert_eq!(masker.mask_text("only-global").len(), 6);
}

#[test]
fn errors_name_the_place_and_never_the_value() {
    for (yaml, expected) in [
        ("- type: plain", "secrets.yml, entry 1: `content` is missing"),
        (
            "- content: topsecretvalue",
            "secrets.yml, entry 1: `type` is missing: write `plain` or `regex`",
        ),
        (
            "- {type: glob, content: topsecretvalue}",
            "secrets.yml, entry 1: `type` must be `plain` or `regex`",
        ),
        (
            "- {type: plain, content: a1}\n- {type: plain, content: topsecretvalue, mode: hide}",
            "secrets.yml, entry 2: `mode` must be `obfuscate` or `replace`",
        ),
        (
            "- {type: plain, content: topsecretvalue, replacement: x}",
            "secrets.yml, entry 1: `replacement` needs `mode: replace`",
        ),
        (
            "- {type: plain, content: topsecretvalue, mode: replace, replacement: atopsecretvalue}",
            "secrets.yml, entry 1: `replacement` contains the secret itself",
        ),
        (
            "- {type: plain, content: topsecretvalue, flags: i}",
            "secrets.yml, entry 1: `flags` belongs to `type: regex` only",
        ),
        (
            "- {type: regex, content: 'topsecretvalue(', flags: i}",
            "secrets.yml, entry 1: `content` is not a pattern this engine supports (of look-around, only \
             (?<=…) at its beginning and (?=…) at its end; no back-references)",
        ),
        (
            "- {type: regex, content: 'topsecretvalue', flags: q}",
            "secrets.yml, entry 1: `flags` has the unknown flag `q`",
        ),
        (
            "- {type: regex, content: 'x*'}",
            "secrets.yml, entry 1: `content` matches the empty text, so it would mask everything",
        ),
    ] {
        assert_eq!(parse_secrets("secrets.yml", yaml).unwrap_err().to_string(), expected);
    }
    for yaml in [
        "topsecretvalue",
        "- [topsecretvalue",
        "- {type: plain, content: {a: topsecretvalue}}",
        "- {typo: topsecretvalue}",
        "a: topsecretvalue",
    ] {
        let error = parse_secrets("secrets.yml", yaml).unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains("secrets.yml") && !text.contains("topsecret"), "{text}");
    }
    assert_eq!(parse_secrets("x", "\n# nothing\n").unwrap().len(), 0);
}

#[test]
fn debug_and_explain_never_show_values() {
    let value = "very-private-thing";
    let entries = parse_secrets("s.yml", &format!("- {{type: plain, content: {value}2}}")).unwrap();
    let builder = Masker::builder().environment([("A_TOKEN", value)]).entries(entries.clone());
    let debug = format!("{builder:?} {entries:?}");
    let masker = builder.build().unwrap();
    let mut stream = MaskStream::new(&masker);
    stream.push("very-priv");
    let all = format!("{debug} {masker:?} {:?} {stream:?}", masker.explain());
    assert!(!all.contains("very-priv"), "{all}");
    let first = &masker.explain()[0];
    assert_eq!(first.source, "variable A_TOKEN");
    assert_eq!(first.mode, Mode::Obfuscate);
    assert_eq!(first.placeholder.as_deref(), Some(masker.mask_text(value).as_str()));
}

#[test]
fn a_salt_changes_the_placeholders() {
    let with = |salt: &str| {
        Masker::builder().environment([("A_KEY", "a-long-value")]).salt(salt).build().unwrap()
    };
    assert_ne!(with("a").mask_text("a-long-value"), with("b").mask_text("a-long-value"));
}

/// Made-up tokens of the right shape, assembled so that no scanner takes them for live ones.
fn samples() -> Vec<(&'static str, String)> {
    let hex = "0123456789abcdef".repeat(4);
    let mixed = "aB3dE5gH7jK9mN1pQ".repeat(6);
    vec![
        ("aws-access-key", format!("{}{}", "AKIA", "ABCDEFGHIJKLMNOP")),
        ("github-token", format!("{}_{}", "ghp", &mixed[..36])),
        ("github-fine-grained", format!("{}_{}", "github_pat", &mixed[..40])),
        ("gitlab-token", format!("{}-{}", "glpat", &mixed[..20])),
        ("slack-token", format!("{}-{}", "xoxb", &mixed[..30])),
        ("stripe-key", format!("{}_{}_{}", "sk", "live", &mixed[..24])),
        ("google-api-key", format!("{}{}", "AIza", &mixed[..35])),
        ("google-oauth", format!("{}.{}", "ya29", &mixed[..40])),
        ("anthropic-key", format!("{}-{}-{}", "sk", "ant", &mixed[..60])),
        ("openai-key", format!("{}-{}-{}", "sk", "proj", &mixed[..48])),
        ("groq-xai-key", format!("{}_{}", "gsk", &mixed[..52])),
        ("hugging-face-token", format!("{}_{}", "hf", &mixed[..34])),
        ("npm-token", format!("{}_{}", "npm", &mixed[..36])),
        ("pypi-token", format!("{}-{}", "pypi", &mixed[..80])),
        ("docker-token", format!("{}_{}", "dckr_pat", &mixed[..27])),
        ("sendgrid-key", format!("{}.{}.{}", "SG", &mixed[..22], &mixed[..43])),
        ("twilio-key", format!("{}{}", "SK", &hex[..32])),
        ("digitalocean-token", format!("{}_{}", "dop_v1", &hex[..64])),
        ("vault-token", format!("{}.{}", "hvs", &mixed[..30])),
        (
            "age-key",
            format!("{}{}", "AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".repeat(2)),
        ),
        ("jwt", format!("{}J{}.{}J{}.{}", "ey", &mixed[..20], "ey", &mixed[..40], &mixed[..43])),
    ]
}

#[test]
fn well_known_formats_are_masked() {
    let masker = Masker::builder().build().unwrap();
    let samples = samples();
    for (name, token) in &samples {
        for text in [token.clone(), format!("key={token}, next"), format!("\"{token}\"")] {
            let hidden = masker.mask_text(&text);
            assert!(!hidden.contains(&token[6..]), "{name}: {hidden}");
            assert_eq!(masker.restore(&hidden), text, "{name}");
        }
        let without = Masker::builder().without_formats().build().unwrap();
        assert_eq!(&without.mask_text(token), token);
    }
    // These have tests of their own.
    let special = "slack-webhook bearer authorization-header url-password private-key dotenv npmrc netrc \
                   kubeconfig docker-config aws-secret-key";
    let special: Vec<&str> = special.split_whitespace().collect();
    for name in format_names() {
        assert!(samples.iter().any(|(id, _)| *id == name) || special.contains(&name), "{name}");
    }
}

/// Files that hold secrets, each with the secret in it.
const SETTINGS: &[(&str, &str)] = &[
    ("DB_PASSWORD=correct-horse\nDEBUG=1\n", "correct-horse"),
    ("export STRIPE_API_KEY='whatever 12 34'\n", "whatever 12 34"),
    ("API_KEY=\"with a space, and more\"\n", "with a space, and more"),
    ("SESSION_SECRET=c29tZXRoaW5nIGVsc2U=\n", "c29tZXRoaW5nIGVsc2U="),
    (
        "//registry.example.org/:_authToken=0a1b2c3d-4e5f-6789-aaaa-bbbbccccdddd\n",
        "0a1b2c3d-4e5f-6789-aaaa-bbbbccccdddd",
    ),
    ("_auth = dXNlcjpwYXNzd29yZA==\n", "dXNlcjpwYXNzd29yZA=="),
    ("machine example.org login me password hunter2hunter\n", "hunter2hunter"),
    ("machine example.org\n  login me\n  password hunter2hunter\n", "hunter2hunter"),
    (
        "users:\n- name: me\n  user:\n    token: abcdef0123456789abcdef0123\n",
        "abcdef0123456789abcdef0123",
    ),
    ("    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURQo=\n", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURQo="),
    (
        "{\"auths\": {\"example.org\": {\"auth\": \"dXNlcjpwYXNzd29yZA==\"}}}\n",
        "dXNlcjpwYXNzd29yZA==",
    ),
    (
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    ),
    (
        "\"SecretAccessKey\": \"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\",\n",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    ),
];

#[test]
fn secrets_in_files_of_settings_are_masked_alone() {
    let masker = Masker::builder().build().unwrap();
    for (text, secret) in SETTINGS {
        let hidden = masker.mask_text(text);
        assert!(!hidden.contains(secret), "{hidden}");
        let (before, after) = text.split_once(secret).unwrap();
        assert!(hidden.starts_with(before) && hidden.ends_with(after), "{hidden}");
        for size in [1, 3, 10] {
            assert_eq!(streamed(&masker, text, &[size]), hidden);
        }
    }
}

#[test]
fn settings_that_hold_no_secret_are_left_alone() {
    let masker = Masker::builder().build().unwrap();
    for text in [
        "TOKEN=$(cat token)\n",
        "PASSWORD=${DB_PASSWORD}\nAPI_KEY=<your key>\n",
        "PASSWORD=\nTOKEN=short\n",
        "login failed: password is wrong\n",
        "token: expected `;`\n",
        "\"auth\": {\"type\": \"none\"}\n",
        "SSH_TOKEN_FILE=/run/secrets/token\n",
        "MAX_TOKENS=4096\n",
        "the session_token = None\n",
    ] {
        assert_eq!(masker.mask_text(text), text);
    }
}

#[test]
fn secrets_inside_urls_and_headers_are_masked_alone() {
    let masker = Masker::builder().build().unwrap();
    let url = masker.mask_text("clone https://me:p4ss-w0rd@git.example/x and go");
    assert_eq!(url.len(), "clone https://me:#XXXX#@git.example/x and go".len());
    assert!(url.starts_with("clone https://me:#") && url.ends_with("@git.example/x and go"));
    let header = masker.mask_text("authorization: Basic dXNlcjpwYXNz");
    assert!(header.starts_with("authorization: Basic #"), "{header}");
    let hook =
        format!("https://{}/{}/T0000/B000/{}", "hooks.slack.com", "services", "x1".repeat(12));
    assert!(!masker.mask_text(&hook).contains("T0000"));
    for innocent in [
        "http://example.com:8080/a@b",
        "see https://x.y/z",
        "task-force-is-something-longer",
        "sk-learn-contrib-imbalanced-learn",
        "basic understanding of internationalization",
        "EYJAFJALLAJOKULL",
        "AKIAB",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "-----BEGIN CERTIFICATE-----",
    ] {
        assert_eq!(masker.mask_text(innocent), innocent);
    }
}

fn key_block() -> String {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    format!(
        "-----{} {} KEY-----\n{}Aa0=\n-----{} {} KEY-----",
        "BEGIN",
        "PRIVATE",
        format!("{line}\n").repeat(20),
        "END",
        "PRIVATE"
    )
}

#[test]
fn private_keys_are_masked_as_blocks() {
    let masker = Masker::builder().build().unwrap();
    let text = format!("before\n{}\nafter\n", key_block());
    let hidden = masker.mask_text(&text);
    assert_eq!(hidden.len(), "before\n#XXXX#\nafter\n".len(), "{hidden}");
    assert_eq!(masker.restore(&hidden), text);
    let cut = &text[..400];
    assert_eq!(masker.mask_text(cut).len(), "before\n#XXXX#".len());
    let escaped = key_block().replace('\n', "\\n");
    assert_eq!(masker.mask_text(&escaped).len(), 6);
}

#[test]
fn formats_can_be_left_out_by_name() {
    let token = format!("{}_{}", "npm", "a1".repeat(18));
    let masker = Masker::builder().without_format("npm-token").build().unwrap();
    assert_eq!(masker.mask_text(&token), token);
    let error = Masker::builder().without_format("nope").build().unwrap_err();
    assert_eq!(error, MaskError::UnknownFormat { id: "nope".to_owned() });
}

fn streamed(masker: &Masker, text: &str, sizes: &[usize]) -> String {
    let mut stream = MaskStream::new(masker);
    let mut out = String::new();
    let characters: Vec<char> = text.chars().collect();
    let mut at = 0;
    for &size in sizes.iter().cycle() {
        if at >= characters.len() || sizes.is_empty() {
            break;
        }
        let end = (at + size.max(1)).min(characters.len());
        out += &stream.push(&characters[at..end].iter().collect::<String>());
        at = end;
    }
    out += &stream.push(&characters[at..].iter().collect::<String>());
    out + &stream.finish()
}

#[test]
fn a_stream_masks_the_same_in_every_chunking() {
    let value = "s3cr3t-value-abc";
    let yaml = "- {type: regex, content: 'id-[0-9]{4}-[0-9]{4}'}";
    let with_patterns = Masker::builder()
        .environment([("X_KEY", value), ("Y_KEY", "value-abc-more")])
        .entries(parse_secrets("s", yaml).unwrap())
        .build()
        .unwrap();
    let without = Masker::builder().environment([("X_KEY", value)]).build().unwrap();
    let mut text = format!("a {value}\nid-1234-5678 {value}-more é{value}é\n{}\nx\n", key_block());
    for (_, token) in samples() {
        text.extend(["use ", token.as_str(), " now\nAuthorization: Basic dXNlcjpwYXNz\n"]);
    }
    for masker in [&with_patterns, &without] {
        let whole = masker.mask_text(&text);
        assert!(!whole.contains("s3cr3t"));
        for size in [1, 2, 3, 7, 16, 61, 500] {
            assert_eq!(streamed(masker, &text, &[size]), whole, "chunks of {size}");
        }
    }
}

#[test]
fn a_stream_holds_back_no_more_than_it_must() {
    let masker = plain("abcdefgh-secret");
    let mut stream = MaskStream::new(&masker);
    assert_eq!(stream.push("hello wor"), "hello wor");
    assert_eq!(stream.push("ld abcdef"), "ld ");
    assert_eq!(stream.push(" nothing"), "abcdef nothing");
    assert_eq!(stream.finish(), "");
}

#[test]
fn an_endless_line_does_not_fill_the_memory() {
    let masker = listed("- {type: regex, content: 'id-[0-9]{4}'}");
    let mut stream = MaskStream::new(&masker);
    let chunk = "x".repeat(1000);
    let length: usize = (0..1000).map(|_| stream.push(&chunk).len()).sum();
    assert!(length > 900_000);
}

proptest! {
    #[test]
    fn a_broken_secret_is_masked_the_same_in_every_chunking(
        value in "[a-z0-9-]{8,40}",
        before in "[a-z]{0,90}",
        after in "[a-z]{0,90}",
        width in 16_usize..80,
        indent in 0_usize..4,
        around in "[ a-z]{0,20}",
        sizes in prop::collection::vec(1_usize..30, 1..6),
    ) {
        let masker = plain(&value);
        let encoded = base64(format!("{before}{value}{after}").as_bytes());
        let between = format!("\n{}", " ".repeat(indent));
        let text = format!("{around}{}\n{around}", broken(&encoded, width, &between));
        let hidden = masker.mask_text(&text);
        // Of the letters that are the value's alone none is left in a row.
        let core = &base64(format!("{}{value}", &before[..before.len() / 3 * 3]).as_bytes());
        if before.len().is_multiple_of(3) && value.len() >= 12 {
            let start = before.len() / 3 * 4;
            let bare = hidden.replace(['\n', ' '], "");
            prop_assert!(!bare.contains(&core[start..start + 12]), "{}", hidden);
        }
        prop_assert_eq!(streamed(&masker, &text, &sizes), hidden);
    }

    #[test]
    fn a_secret_never_appears_in_a_stream(
        value in "[a-z#]{8,14}",
        noise in prop::collection::vec("[a-z# \\n]{0,10}", 1..8),
        sizes in prop::collection::vec(1_usize..12, 1..6),
    ) {
        let masker = plain(&value);
        let text = noise.join(&value);
        let hidden = streamed(&masker, &text, &sizes);
        if noise.len() > 1 {
            prop_assert!(!hidden.contains(&value));
        }
        prop_assert_eq!(hidden, masker.mask_text(&text));
    }

    #[test]
    fn any_text_comes_back(value in "[ -~]{8,20}", before in "[a-z ]{0,20}", after in "[a-z ]{0,20}") {
        let masker = plain(&value);
        let text = format!("{before}{value}{after}");
        prop_assert_eq!(masker.restore(&masker.mask_text(&text)), text);
    }
}

#[test]
fn a_thousand_secrets_are_no_burden() {
    let values =
        (0..1_000).map(|n| (format!("S{n}_TOKEN"), format!("value-number-{n:06}-{}", n * 7)));
    let masker = Masker::builder().environment(values).build().unwrap();
    let text = "nothing value-number-000500-3500 here value-number-000999-6993\n".repeat(100);
    let hidden = masker.mask_text(&text);
    assert_eq!(hidden.len(), "nothing #XXXX# here #XXXX#\n".len() * 100);
    assert_eq!(masker.restore(&hidden), text);
}

#[test]
fn entries_are_the_same_by_content_whatever_their_flags() {
    let global = parse_secrets("g", "- {type: regex, content: 'abc[0-9]'}").unwrap();
    let project = parse_secrets("p", "- {type: regex, content: '/abc[0-9]/i'}").unwrap();
    assert_eq!(merge_secrets(global, project).len(), 1);
}

/// Patterns that go over line ends: a block, and a name whose value may be on the next line.
fn over_lines() -> &'static Masker {
    // Compiling them takes longer than a case.
    static MASKER: LazyLock<Masker> = LazyLock::new(|| {
        listed(concat!(
            "- type: regex\n  content: '/----BEGIN X----[\\s\\S]*?----END X----/'\n",
            "- type: regex\n  content: 'secret:\\s*\\w+'\n",
        ))
    });
    &MASKER
}

#[test]
fn a_secret_of_several_lines_is_masked_as_one_and_comes_back() {
    let masker = over_lines();
    let text = "a\n----BEGIN X----\nabc\ndef\n----END X----\nsecret:\n  hunter\nb\n";
    let hidden = masker.mask_text(text);
    assert_eq!(hidden.len(), "a\n#AAAA#\n#BBBB#\nb\n".len(), "{hidden}");
    assert_eq!(masker.restore(&hidden), text);
}

#[test]
fn half_of_a_secret_of_several_lines_is_shown_to_nobody() {
    let masker = over_lines();
    let budget = Budget::default();
    let mut log = Memory::default().open();
    let mut follower = Follower::new(0);
    let mut shown = String::new();
    for line in ["start\n", "----BEGIN X----\n", "abc\n", "def\n", "----END X----\n", "end\n"] {
        log.append(Stream::Stdout, 0, line.as_bytes());
        let reader = Reader::new(&log).mask(masker);
        shown += &follower.next(&reader, &budget).unwrap().to_text();
        assert!(!shown.contains("abc") && !shown.contains("BEGIN"), "{shown}");
        // Who looks at the end of what is there sees no half of it either.
        let tail = reader.tail(3, &budget).unwrap().to_text();
        assert!(!tail.contains("abc") && !tail.contains("def"), "{tail}");
    }
    assert!(shown.starts_with("start\n#") && shown.ends_with("#\nend\n"), "{shown}");
    // A page that begins inside of it shows nothing of it.
    let reader = Reader::new(&log).mask(masker);
    let inside = reader.page(27, &budget).unwrap().to_text();
    assert!(!inside.contains("def"), "{inside}");
}

proptest! {
    #[test]
    fn patterns_over_lines_mask_the_same_in_every_chunking(
        pieces in prop::collection::vec(prop_oneof![
            3 => "[a-z ]{0,12}\n",
            2 => "[a-z]{0,4}",
            2 => Just("----BEGIN X----".to_owned()),
            2 => Just("----END X----\n".to_owned()),
            1 => Just("secret:".to_owned()),
            1 => Just("\n".to_owned()),
            1 => Just("----BEG".to_owned()),
        ], 0..30),
        sizes in prop::collection::vec(1_usize..30, 1..6),
    ) {
        let masker = over_lines();
        let text = pieces.concat();
        let whole = masker.mask_text(&text);
        prop_assert_eq!(&streamed(masker, &text, &sizes), &whole);
        prop_assert_eq!(masker.restore(&whole), text);
    }
}
