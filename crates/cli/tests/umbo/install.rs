//! Umbo in other programs' settings: real files, edited by the real binary, to the byte.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::gate::{at_a_terminal, person};
use crate::harness::{Call, UMBO, Umbo, copy_of_umbo};

/// Variables that say where clients keep their settings; empty is as good as unset.
const ELSEWHERE: [&str; 7] = [
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "GOOSE_PATH_ROOT",
    "VSCODE_APPDATA",
    "VSCODE_PORTABLE",
    "XDG_CONFIG_HOME",
];

/// A call as a person with empty hands makes it, in the project.
fn call<'a>(umbo: &'a Umbo, words: &[&str]) -> Call<'a> {
    let call = ELSEWHERE.iter().fold(umbo.call(words), |call, name| call.env(name, ""));
    call.env("PATH", "/usr/bin:/bin").current_dir(&project(umbo))
}

fn home(umbo: &Umbo) -> PathBuf {
    umbo.path().join("home")
}

fn project(umbo: &Umbo) -> PathBuf {
    let project = umbo.path().join("project");
    fs::create_dir_all(project.join(".git")).unwrap();
    project
}

/// The binary as it is written down.
fn binary() -> String {
    fs::canonicalize(UMBO).unwrap().to_str().unwrap().to_owned()
}

/// A sample of a client's settings, and what it must become. `BINARY` stands for the path.
struct Sample {
    client: &'static str,
    file: &'static str,
    before: &'static str,
    after: &'static str,
}

const SAMPLES: [Sample; 8] = [
    Sample {
        client: "claude-code",
        file: ".claude.json",
        before: r#"{
  "numStartups": 3,
  "mcpServers": {
    "other": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y"
      ],
      "env": {}
    }
  },
  "tipsHistory": "first"
}"#,
        after: r#"{
  "numStartups": 3,
  "mcpServers": {
    "other": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y"
      ],
      "env": {}
    },
    "umbo": {
      "type": "stdio",
      "command": "BINARY",
      "args": ["mcp"]
    }
  },
  "tipsHistory": "first"
}"#,
    },
    Sample {
        client: "codex",
        file: ".codex/config.toml",
        before: "\u{feff}# mine\r\nmodel = \"first\"   # odd   spaces\r\n\r\n[mcp_servers.other]\r\nargs = [\r\n    'a', # why\r\n]\r\ncommand = 'x'\r\n\r\n[mcp_servers.other.env]\r\nK = 'v'\r\n\r\n[projects.\"/a b\"]\r\ntrust_level = \"trusted\"\r\n# end\r\n",
        after: "\u{feff}# mine\r\nmodel = \"first\"   # odd   spaces\r\n\r\n[mcp_servers.other]\r\nargs = [\r\n    'a', # why\r\n]\r\ncommand = 'x'\r\n\r\n[mcp_servers.other.env]\r\nK = 'v'\r\n\r\n[projects.\"/a b\"]\r\ntrust_level = \"trusted\"\r\n# end\r\n\r\n[mcp_servers.umbo]\r\ncommand = \"BINARY\"\r\nargs = [\"mcp\"]\r\nenv_vars = [\"UMBO_STATE_DIR\", \"UMBO_CONFIG_DIR\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\", \"XDG_DATA_HOME\", \"XDG_CACHE_HOME\", \"XDG_RUNTIME_DIR\", \"SSH_AUTH_SOCK\", \"DBUS_SESSION_BUS_ADDRESS\", \"CARGO_HOME\", \"RUSTUP_HOME\", \"GOPATH\", \"JAVA_HOME\", \"NVM_DIR\", \"PYENV_ROOT\", \"VIRTUAL_ENV\", \"http_proxy\", \"https_proxy\", \"HTTPS_PROXY\", \"NO_PROXY\"]\r\ndefault_tools_approval_mode = \"approve\"\r\n",
    },
    Sample {
        client: "cursor",
        file: ".cursor/mcp.json",
        before: "{\n\t\"mcpServers\": {\n\t\t// the first\n\t\t\"other\": { \"url\": \"https://a.example/mcp\" } // no comma\n\t}\n}\n",
        after: "{\n\t\"mcpServers\": {\n\t\t// the first\n\t\t\"other\": { \"url\": \"https://a.example/mcp\" }, // no comma\n\t\t\"umbo\": {\n\t\t\t\"command\": \"BINARY\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t}\n}\n",
    },
    Sample {
        client: "gemini",
        file: ".gemini/settings.json",
        before: "{\n  /* first */\n  \"mcpServers\": {},\n  \"ui\": { \"theme\": \"Dracula\" }\n}\n",
        after: "{\n  /* first */\n  \"mcpServers\": {\n    \"umbo\": {\n      \"command\": \"BINARY\",\n      \"args\": [\"mcp\"]\n    }\n  },\n  \"ui\": { \"theme\": \"Dracula\" }\n}\n",
    },
    Sample {
        client: "goose",
        file: ".config/goose/config.yaml",
        before: "# first\nGOOSE_MODEL: x\nextensions:\n  developer: # built in\n    bundled: true\n    enabled: true\n    name: developer\n    timeout: 300\n    type: builtin\n\n# the rest\nGOOSE_MODE: auto\n",
        after: "# first\nGOOSE_MODEL: x\nextensions:\n  developer: # built in\n    bundled: true\n    enabled: true\n    name: developer\n    timeout: 300\n    type: builtin\n  umbo:\n    enabled: true\n    type: stdio\n    name: umbo\n    cmd: BINARY\n    args:\n    - mcp\n    timeout: 300\n\n# the rest\nGOOSE_MODE: auto\n",
    },
    Sample {
        client: "opencode",
        file: ".config/opencode/opencode.jsonc",
        before: "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // first\n  \"mcp\": {\n    \"other\": { \"type\": \"local\", \"command\": [\"x\"], },\n  },\n}\n",
        after: "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // first\n  \"mcp\": {\n    \"other\": { \"type\": \"local\", \"command\": [\"x\"], },\n    \"umbo\": {\n      \"type\": \"local\",\n      \"command\": [\"BINARY\", \"mcp\"],\n      \"enabled\": true,\n    },\n  },\n}\n",
    },
    Sample {
        client: "vscode",
        file: ".config/Code/User/mcp.json",
        before: "{\r\n    \"inputs\": [ { \"type\": \"promptString\", \"id\": \"first\" } ]\r\n}\r\n",
        after: "{\r\n    \"inputs\": [ { \"type\": \"promptString\", \"id\": \"first\" } ],\r\n    \"servers\": {\r\n        \"umbo\": {\r\n            \"type\": \"stdio\",\r\n            \"command\": \"BINARY\",\r\n            \"args\": [\"mcp\"]\r\n        }\r\n    }\r\n}\r\n",
    },
    Sample {
        client: "zed",
        file: ".config/zed/settings.json",
        before: "// Zed settings: first\n{\n  \"theme\": \"One Dark\",\n  \"languages\": { \"Rust\": { \"tab_size\": 4, }, },\n  // \"vim_mode\": true,\n}\n",
        after: "// Zed settings: first\n{\n  \"theme\": \"One Dark\",\n  \"languages\": { \"Rust\": { \"tab_size\": 4, }, },\n  \"context_servers\": {\n    \"umbo\": {\n      \"command\": \"BINARY\",\n      \"args\": [\"mcp\"],\n    },\n  },\n  // \"vim_mode\": true,\n}\n",
    },
];

impl Sample {
    fn named(client: &str) -> &'static Self {
        SAMPLES.iter().find(|sample| sample.client == client).unwrap()
    }

    /// The file as it is before umbo, in the person's home.
    fn lay(&self, umbo: &Umbo) -> PathBuf {
        let path = home(umbo).join(self.file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, self.before).unwrap();
        path
    }

    fn expected(&self) -> String {
        self.after.replace("BINARY", &binary())
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn every_client_gets_umbo_and_loses_it_again_to_the_byte() {
    for sample in &SAMPLES {
        let umbo = Umbo::new();
        let path = sample.lay(&umbo);
        let client = sample.client;
        let added = call(&umbo, &["install", client, "--yes", "--json"]).json();
        let shown: Vec<&Value> =
            ["client", "scope", "name", "state", "written"].map(|key| &added[key]).to_vec();
        assert_eq!(json!(shown), json!([client, "user", "umbo", "added", true]));
        assert_eq!(added["file"], path.to_str().unwrap());
        assert_eq!(text(&path), sample.expected(), "{client}");
        assert_eq!(text(Path::new(added["backup"].as_str().unwrap())), sample.before);
        let again = call(&umbo, &["install", client, "--yes", "--json"]).json();
        assert_eq!((&again["state"], &again["written"]), (&json!("present"), &json!(false)));
        assert_eq!(text(&path), sample.expected(), "{client}: a second time changes nothing");
        let removed = call(&umbo, &["uninstall", client, "--yes", "--json"]).json();
        assert_eq!((&removed["state"], &removed["written"]), (&json!("removed"), &json!(true)));
        assert_eq!(text(&path), sample.before, "{client}");
        let absent = call(&umbo, &["uninstall", client, "--yes", "--json"]).json();
        assert_eq!((&absent["state"], &absent["written"]), (&json!("absent"), &json!(false)));
        assert_eq!(text(&path), sample.before, "{client}");
    }
}

#[test]
fn what_somebody_changed_in_between_stays_when_umbo_goes() {
    for sample in &SAMPLES {
        let umbo = Umbo::new();
        let path = sample.lay(&umbo);
        call(&umbo, &["install", sample.client, "--yes", "--json"]).json();
        let changed = sample.expected().replacen("first", "second", 1);
        assert_ne!(changed, sample.expected());
        fs::write(&path, changed).unwrap();
        call(&umbo, &["uninstall", sample.client, "--yes", "--json"]).json();
        assert_eq!(text(&path), sample.before.replacen("first", "second", 1), "{}", sample.client);
    }
}

#[test]
fn a_server_can_be_started_as_it_is_written_down() {
    let umbo = Umbo::new();
    let words = [
        "install",
        "claude-code",
        "--yes",
        "--json",
        "--dialect",
        "codex",
        "--mode",
        "auto",
        "--name",
        "shell",
    ];
    call(&umbo, &words).json();
    let said: Value = serde_json::from_str(&text(&home(&umbo).join(".claude.json"))).unwrap();
    let entry = &said["mcpServers"]["shell"];
    assert_eq!(entry["args"], json!(["mcp", "--dialect", "codex", "--mode", "auto"]));
    let arguments: Vec<&str> =
        entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let hello = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
        r#""capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        "\n"
    );
    assert_eq!(entry["command"], binary());
    let served = call(&umbo, &arguments).stdin(hello.as_bytes()).answer();
    assert!(served.text().contains("exec_command"), "{served:?}");
}

#[test]
fn a_missing_file_is_made_and_goes_again_with_its_directory() {
    for sample in &SAMPLES {
        let umbo = Umbo::new();
        call(&umbo, &["install", sample.client, "--yes", "--json"]).json();
        let listed = call(&umbo, &["install", "--json"]).json();
        let mine = |client: &&Value| client["client"] == sample.client;
        let standing = listed.as_array().unwrap().iter().find(mine).unwrap();
        assert_eq!(standing["user"]["installed"], true, "{standing}");
        let path = PathBuf::from(standing["user"]["file"].as_str().unwrap());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600, "it may come to hold keys");
        let printed = call(&umbo, &["mcp", "--print-config", sample.client]).answer();
        assert_eq!(text(&path), printed.text(), "what is pasted is what is written");
        call(&umbo, &["uninstall", sample.client, "--yes", "--json"]).json();
        let left: Vec<_> = fs::read_dir(home(&umbo)).unwrap().flatten().collect();
        assert!(left.is_empty(), "{}: {left:?}", sample.client);
    }
}

#[test]
fn an_empty_file_is_empty_again() {
    for sample in &SAMPLES {
        let umbo = Umbo::new();
        let path = sample.lay(&umbo);
        fs::write(&path, "").unwrap();
        call(&umbo, &["install", sample.client, "--yes", "--json"]).json();
        assert!(text(&path).contains(&binary()));
        call(&umbo, &["uninstall", sample.client, "--yes", "--json"]).json();
        assert_eq!(text(&path), "", "{}", sample.client);
    }
}

#[test]
fn a_project_gets_a_file_of_its_own_or_a_clear_no() {
    let umbo = Umbo::new();
    let inside = project(&umbo).join("deep/er");
    fs::create_dir_all(&inside).unwrap();
    for (client, file) in [
        ("claude-code", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", "opencode.json"),
        ("vscode", ".vscode/mcp.json"),
        ("zed", ".zed/settings.json"),
    ] {
        let words = ["install", client, "--project", "--yes"];
        let said = call(&umbo, &words).current_dir(&inside).answer();
        let path = project(&umbo).join(file);
        assert_eq!(said.text(), format!("added `umbo` to {}\n", path.display()), "{said:?}");
        assert!(text(&path).contains(&binary()), "{client}");
        assert!(
            fs::metadata(&path).unwrap().mode() & 0o044 != 0,
            "a project's file is for all in it"
        );
        call(&umbo, &["uninstall", client, "--project", "--yes", "--json"]).json();
        assert!(!path.exists(), "{client}");
    }
    let mut left: Vec<_> =
        fs::read_dir(project(&umbo)).unwrap().flatten().map(|entry| entry.file_name()).collect();
    left.sort();
    assert_eq!(left, [".git", "deep"]);
    let no = call(&umbo, &["install", "goose", "--project", "--yes"]).refused();
    assert!(no.contains("goose has no settings of a project"), "{no}");
}

#[test]
fn a_link_is_followed_and_stays_one_and_modes_stay() {
    let umbo = Umbo::new();
    let sample = Sample::named("zed");
    let path = sample.lay(&umbo);
    let dotfiles = umbo.path().join("dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    let real = dotfiles.join("zed.json");
    fs::rename(&path, &real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../../../dotfiles/zed.json", &path).unwrap();
    call(&umbo, &["install", "zed", "--yes", "--json"]).json();
    assert!(path.is_symlink());
    assert_eq!(
        (text(&real), fs::metadata(&real).unwrap().mode() & 0o777),
        (sample.expected(), 0o640)
    );
    call(&umbo, &["uninstall", "zed", "--yes", "--json"]).json();
    assert!(path.is_symlink());
    assert_eq!(
        (text(&real), fs::metadata(&real).unwrap().mode() & 0o777),
        (sample.before.into(), 0o640)
    );
    let left: Vec<_> = fs::read_dir(&dotfiles).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "no draft is left: {left:?}");
    fs::remove_file(&real).unwrap();
    let no = call(&umbo, &["install", "zed", "--yes"]).refused();
    assert!(no.contains("is a link to ../../../dotfiles/zed.json, where nothing is"), "{no}");
}

#[test]
fn a_project_cannot_lead_umbo_out_of_itself() {
    let umbo = Umbo::new();
    let (project, outside) = (project(&umbo), umbo.path().join("outside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("mcp.json"), "{}").unwrap();
    symlink(&outside, project.join(".cursor")).unwrap();
    symlink(outside.join("mcp.json"), project.join(".mcp.json")).unwrap();
    for client in ["cursor", "claude-code"] {
        for verb in ["install", "uninstall"] {
            let no = call(&umbo, &[verb, client, "--project", "--yes"]).refused();
            assert!(no.contains("leads out of the project"), "{no}");
        }
    }
    assert_eq!(text(&outside.join("mcp.json")), "{}");
    // A link that stays inside is the project's own business.
    fs::create_dir(project.join("settings")).unwrap();
    symlink("settings", project.join(".vscode")).unwrap();
    call(&umbo, &["install", "vscode", "--project", "--yes", "--json"]).json();
    assert!(text(&project.join("settings/mcp.json")).contains(&binary()));
}

#[test]
fn a_broken_file_is_left_alone_with_the_line_and_what_to_paste() {
    for (client, broken, line) in [
        ("claude-code", "{\n  \"a\": 1,\n  // no comments here\n}\n", 3),
        ("codex", "a = 1\n[b\n", 2),
        ("goose", "a: 1\nb: [\n", 2),
        ("zed", "{\n  \"a\": 1\n", 1),
    ] {
        let umbo = Umbo::new();
        let sample = Sample::named(client);
        let path = sample.lay(&umbo);
        fs::write(&path, broken).unwrap();
        let no = call(&umbo, &["install", client, "--yes"]).refused();
        assert!(no.contains(&format!("{}:{line}: ", path.display())), "{client}: {no}");
        let snippet = call(&umbo, &["mcp", "--print-config", client]).answer().text();
        assert!(no.contains("nothing was changed") && no.contains(snippet.trim_end()), "{no}");
        let no = call(&umbo, &["uninstall", client, "--yes"]).refused();
        assert!(no.contains("nothing was changed"), "{no}");
        assert_eq!(text(&path), broken, "{client}");
        let listed = call(&umbo, &["install"]).answer();
        assert!(
            String::from_utf8_lossy(&listed.stderr)
                .contains(&format!("{}:{line}: ", path.display())),
            "{listed:?}"
        );
    }
}

#[test]
fn what_to_paste_fits_into_the_table_that_is_there() {
    for (client, before, told) in [
        ("codex", "mcp_servers = { a = { command = \"b\" } }\n", "`mcp_servers` that it has:"),
        ("goose", "extensions: {a: {cmd: b}}\n", "`extensions` that it has:"),
        (
            "codex",
            "mcp_servers = { a = {}, umbo = { command = \"/old/umbo\", args = [\"mcp\"] } }\n",
            "`mcp_servers` that it has instead of its `umbo`:",
        ),
    ] {
        let umbo = Umbo::new();
        let path = Sample::named(client).lay(&umbo);
        fs::write(&path, before).unwrap();
        let no = call(&umbo, &["install", client, "--yes"]).refused();
        assert!(no.contains(told), "{no}");
        let line = no.trim_end().lines().last().unwrap();
        // Who does what it says is done.
        let start = before.find('{').unwrap() + 1;
        let rest = match before.find("umbo") {
            Some(_) => "}\n".to_owned(),
            None => format!(", {}", &before[start..]),
        };
        fs::write(&path, format!("{}{line}{rest}", &before[..start])).unwrap();
        let done = call(&umbo, &["install", client, "--yes", "--json"]).json();
        assert_eq!(done["state"], "present", "{}", text(&path));
    }
    let umbo = Umbo::new();
    let path = Sample::named("codex").lay(&umbo);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let no = call(&umbo, &["install", "codex", "--yes"]).refused();
    assert!(no.contains("it would have to say:\n\n[mcp_servers.umbo]\n"), "{no}");
}

#[test]
fn files_that_are_not_to_be_changed_are_not() {
    let umbo = Umbo::new();
    let sample = Sample::named("cursor");
    let path = sample.lay(&umbo);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let no = call(&umbo, &["install", "cursor", "--yes"]).refused();
    assert!(no.contains("it is read-only (mode 0444)") && no.contains("mcpServers"), "{no}");
    let shown = call(&umbo, &["install", "cursor", "--print"]).answer();
    assert_eq!(shown.status, 0, "to look at it is no change");
    assert_eq!(text(&path), sample.before);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let no = call(&umbo, &["install", "cursor", "--yes"]).refused();
    assert!(no.contains("it is not a plain file"), "{no}");
    fs::remove_dir(&path).unwrap();
    fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    let no = call(&umbo, &["install", "cursor", "--yes"]).refused();
    assert!(no.contains("is not UTF-8"), "{no}");
    let taken = r#"{"mcpServers": {"umbo": {"command": "npx", "args": ["umbo-theme"]}}}"#;
    fs::write(&path, taken).unwrap();
    let no = call(&umbo, &["install", "cursor", "--yes"]).refused();
    assert!(
        no.contains("another server called `umbo` (npx umbo-theme); choose a name with --name"),
        "{no}"
    );
    let no = call(&umbo, &["uninstall", "cursor", "--yes"]).refused();
    assert!(no.contains("is not umbo (npx umbo-theme)"), "{no}");
    assert_eq!(text(&path), taken);
}

#[test]
fn an_entry_that_differs_is_shown_and_changed_and_the_original_comes_back() {
    let umbo = Umbo::new();
    let sample = Sample::named("codex");
    let path = sample.lay(&umbo);
    call(&umbo, &["install", "codex", "--yes", "--json"]).json();
    let shown = call(&umbo, &["install", "codex", "--dialect", "codex", "--print"]).answer().text();
    let lines: Vec<&str> =
        shown.lines().filter(|line| line.starts_with(['-', '+'])).skip(2).collect();
    assert_eq!(
        lines,
        ["-args = [\"mcp\"]", "+args = [\"mcp\", \"--dialect\", \"codex\"]"],
        "{shown}"
    );
    assert_eq!(text(&path), sample.expected());
    let changed =
        call(&umbo, &["install", "codex", "--dialect", "codex", "--yes", "--json"]).json();
    assert_eq!(changed["state"], "changed");
    call(&umbo, &["uninstall", "codex", "--yes", "--json"]).json();
    assert_eq!(text(&path), sample.before);
}

#[test]
fn print_shows_the_change_and_makes_none() {
    for sample in &SAMPLES {
        let umbo = Umbo::new();
        let path = sample.lay(&umbo);
        let shown = call(&umbo, &["install", sample.client, "--print"]).answer();
        assert!(shown.status == 0 && shown.stderr.is_empty(), "{shown:?}");
        let shown = shown.text();
        let lines = |sign: char| shown.lines().filter(move |line| line.starts_with(sign)).count();
        assert!(shown.contains(&binary()) && lines('-') <= 2, "{shown}");
        assert_eq!(text(&path), sample.before);
        let answer = call(&umbo, &["install", sample.client, "--print", "--json"]).json();
        assert_eq!((&answer["state"], &answer["written"]), (&json!("added"), &json!(false)));
        assert_eq!(answer["diff"].as_str(), Some(shown.as_str()));
        assert!(!umbo.state().join("backups").exists());
    }
}

#[test]
fn a_person_is_asked_and_may_say_no() {
    let umbo = Umbo::new();
    let directory = project(&umbo);
    let path = directory.join(".mcp.json");
    let ask = |words: &[&str], typed: &str| person(&umbo, &directory, words, typed);
    let no = ask(&["install", "claude-code", "--project"], "n\n");
    let said = String::from_utf8_lossy(&no.stderr).into_owned();
    assert!(no.status.code() == Some(125) && said.contains("nothing was changed"), "{no:?}");
    assert!(
        said.contains("+++ ") && said.contains(&format!("Change {}?", path.display())),
        "{said}"
    );
    assert!(!path.exists());
    let yes = ask(&["install", "claude-code", "--project"], "y\n");
    assert!(yes.status.success() && path.exists(), "{yes:?}");
    let gone = ask(&["uninstall", "claude-code", "--project"], "yes\n");
    assert!(gone.status.success() && !path.exists(), "{gone:?}");
    let nobody = call(&umbo, &["install", "claude-code", "--project"]).refused();
    assert!(nobody.contains("--yes does it, --print only shows it"), "{nobody}");
    assert!(!path.exists());
}

#[test]
fn a_file_that_changes_while_the_person_thinks_is_not_written() {
    let umbo = Umbo::new();
    let directory = project(&umbo);
    let path = directory.join(".mcp.json");
    for (first, second) in [(None, "{}"), (Some("{}"), "{ }")] {
        if let Some(first) = first {
            fs::write(&path, first).unwrap();
        }
        let words = ["install", "claude-code", "--project"];
        let (mut command, mut keyboard) = at_a_terminal(&umbo, &directory, &words);
        let mut asking = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(asking.stderr.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("Change ") {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "it did not ask");
        }
        fs::write(&path, second).unwrap();
        keyboard.write_all(b"y\n").unwrap();
        line.clear();
        said.read_to_string(&mut line).unwrap();
        assert_eq!(asking.wait().unwrap().code(), Some(125), "{line}");
        assert!(line.contains("was changed by somebody else in the meantime"), "{line}");
        assert_eq!(text(&path), second);
    }
}

#[test]
fn an_agent_does_not_change_settings_from_inside_a_job() {
    let umbo = Umbo::new();
    let sample = Sample::named("codex");
    let path = sample.lay(&umbo);
    for verb in ["install", "uninstall"] {
        let line = format!("{UMBO} {verb} codex --yes");
        let said = call(&umbo, &["exec", "--json", &line]).answer();
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        assert_eq!(said["error"]["code"], "denied", "{said}");
        assert!(said["error"]["by"].to_string().contains("umbo-install"), "{said}");
    }
    // The gate knows the verb by the program's name; under another the job itself gives it away.
    let copy = umbo.path().join("copied");
    copy_of_umbo(&copy);
    let run = |rest: &str| call(&umbo, &["exec", &format!("{} {rest}", copy.display())]).answer();
    for verb in ["install", "uninstall"] {
        let no = run(&format!("{verb} codex --yes"));
        let said = String::from_utf8_lossy(&no.stderr).into_owned();
        assert!(no.status == 125 && said.contains("does not run inside a job"), "{no:?}");
    }
    assert_eq!(text(&path), sample.before);
    let shown = run("install codex --print");
    assert!(shown.status == 0 && shown.text().contains("[mcp_servers.umbo]"), "{shown:?}");
    assert!(run("install").text().contains("claude-code"), "whoever wants may look");
}

#[test]
fn a_list_says_who_is_here_and_who_has_umbo() {
    let umbo = Umbo::new();
    Sample::named("zed").lay(&umbo);
    fs::create_dir(home(&umbo).join(".cursor")).unwrap();
    call(&umbo, &["install", "cursor", "--project", "--yes", "--json"]).json();
    let listed = call(&umbo, &["install", "--json"]).json();
    let find =
        |name: &str| listed.as_array().unwrap().iter().find(|row| row["client"] == name).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), SAMPLES.len());
    for (client, found) in
        [("zed", true), ("cursor", true), ("goose", false), ("claude-code", false)]
    {
        assert_eq!(find(client)["found"], found, "{client}");
    }
    assert_eq!(find("cursor")["user"]["installed"], false);
    assert_eq!(find("cursor")["project"]["installed"], true);
    assert_eq!(find("zed")["user"]["exists"], true);
    assert_eq!(find("goose")["project"], Value::Null);
    let table = call(&umbo, &["install"]).answer().text();
    assert!(
        table.lines().any(|line| line.starts_with("cursor       yes    no        yes")),
        "{table}"
    );
}

#[test]
fn variables_move_the_files_as_they_move_them_for_the_client() {
    let umbo = Umbo::new();
    let elsewhere = umbo.path().join("elsewhere");
    for (variable, client, file) in [
        ("CLAUDE_CONFIG_DIR", "claude-code", ".claude.json"),
        ("CODEX_HOME", "codex", "config.toml"),
        ("GEMINI_CLI_HOME", "gemini", ".gemini/settings.json"),
        ("GOOSE_PATH_ROOT", "goose", "config/config.yaml"),
        ("VSCODE_PORTABLE", "vscode", "user-data/User/mcp.json"),
        ("XDG_CONFIG_HOME", "zed", "zed/settings.json"),
    ] {
        let said =
            call(&umbo, &["install", client, "--yes", "--json"]).env(variable, &elsewhere).json();
        assert_eq!(said["file"], elsewhere.join(file).to_str().unwrap());
        assert!(elsewhere.join(file).exists(), "{client}");
    }
}

#[test]
fn a_program_on_the_path_is_written_by_its_name() {
    let umbo = Umbo::new();
    let programs = umbo.path().join("bin");
    fs::create_dir(&programs).unwrap();
    symlink(UMBO, programs.join("umbo")).unwrap();
    let path = format!("relative:{}:/usr/bin:/bin", programs.display());
    let config = |path: &str| {
        let said = call(&umbo, &["mcp", "--print-config"]).env("PATH", path).answer();
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        said["mcpServers"]["umbo"]["command"].as_str().unwrap().to_owned()
    };
    assert_eq!(config(&path), "umbo");
    // Another umbo is found first: then the name would start that one.
    let first = umbo.path().join("first");
    fs::create_dir(&first).unwrap();
    fs::write(first.join("umbo"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(first.join("umbo"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(config(&format!("{}:{path}", first.display())), binary());
    assert_eq!(config("/usr/bin:/bin"), binary());
}

#[test]
fn a_client_of_the_desktop_gets_the_path_unless_the_file_is_shared() {
    let umbo = Umbo::new();
    let programs = umbo.path().join("bin");
    fs::create_dir(&programs).unwrap();
    let link = programs.join("umbo");
    symlink(UMBO, &link).unwrap();
    let path = format!("{}:/usr/bin:/bin", programs.display());
    for (client, desktop) in
        [("cursor", true), ("vscode", true), ("zed", true), ("codex", false), ("gemini", false)]
    {
        let added = |words: &[&str]| {
            let words = [&["install", client, "--print"], words].concat();
            let said = call(&umbo, &words).env("PATH", &path).answer().text();
            let command = said.lines().find(|line| line.contains("command")).unwrap();
            command.split('"').rfind(|part| part.contains("umbo")).unwrap().to_owned()
        };
        let linked = link.to_str().unwrap();
        assert_eq!(added(&[]), if desktop { linked } else { "umbo" }, "{client}");
        assert_eq!(added(&["--project"]), "umbo", "{client}");
    }
}

#[test]
fn a_state_directory_that_is_named_is_written_down() {
    let umbo = Umbo::new();
    let state = project(&umbo).join("state");
    let expected = json!(["--state-dir", state, "mcp", "--mode", "auto"]);
    let said = call(&umbo, &["--state-dir", "state", "mcp", "--print-config", "--mode", "auto"]);
    assert_eq!(said.json()["mcpServers"]["umbo"]["args"], expected);
    let words = ["install", "cursor", "--yes", "--mode", "auto", "--json", "--state-dir", "state"];
    assert_eq!(call(&umbo, &words).json()["state"], "added");
    let file: Value = serde_json::from_str(&text(&home(&umbo).join(".cursor/mcp.json"))).unwrap();
    assert_eq!(file["mcpServers"]["umbo"]["args"], expected);
    assert_eq!(call(&umbo, &words).json()["state"], "present");
    // A variable is the shell's, not the entry's.
    let said = call(&umbo, &["mcp", "--print-config"]).json();
    assert_eq!(said["mcpServers"]["umbo"]["args"], json!(["mcp"]));
}

#[test]
fn a_renamed_umbo_knows_its_own_entry() {
    let umbo = Umbo::new();
    let renamed = umbo.path().join("shield");
    copy_of_umbo(&renamed);
    let run = |words: &[&str]| {
        let mut command = Command::new(&renamed);
        command.env_clear().env("HOME", home(&umbo)).env("UMBO_STATE_DIR", umbo.state());
        let answer = command.current_dir(project(&umbo)).args(words).output().unwrap();
        assert!(answer.status.success(), "{answer:?}");
        serde_json::from_slice::<Value>(&answer.stdout).unwrap()["state"].clone()
    };
    assert_eq!(run(&["install", "zed", "--yes", "--json"]), "added");
    assert_eq!(run(&["install", "zed", "--yes", "--json", "--dialect", "codex"]), "changed");
    assert_eq!(run(&["uninstall", "zed", "--yes", "--json"]), "removed");
}

#[test]
fn what_to_paste_is_printed_for_any_client() {
    let umbo = Umbo::new();
    let any = call(&umbo, &["mcp", "--print-config", "--json"]).json();
    assert_eq!(
        (&any["client"], &any["format"], &any["file"]),
        (&json!("any"), &json!("json"), &Value::Null)
    );
    let said: Value = serde_json::from_str(any["snippet"].as_str().unwrap()).unwrap();
    assert_eq!(said, json!({"mcpServers": {"umbo": {"command": binary(), "args": ["mcp"]}}}));
    let codex =
        call(&umbo, &["mcp", "--dialect", "codex", "--mode", "default", "--print-config", "codex"])
            .answer();
    assert!(
        codex.text().contains(r#"args = ["mcp", "--dialect", "codex", "--mode", "default"]"#),
        "{codex:?}"
    );
    assert!(String::from_utf8_lossy(&codex.stderr).contains(".codex/config.toml"));
    let no = call(&umbo, &["mcp", "--print-config", "emacs"]).refused();
    assert!(no.contains("claude-code") && no.contains("zed"), "it names those there are: {no}");
}

#[test]
fn wrong_words_name_the_way_out() {
    let umbo = Umbo::new();
    for (words, hint) in [
        (&["install", "coddex"][..], "codex"),
        (&["install", "codex", "--dialect", "french"], "there are: umbo"),
        (&["install", "codex", "--mode", "wild"], "guard"),
        (&["install", "codex", "--name", "a b"], "letters, digits"),
        (&["install", "codex", "--yes", "--print"], "--print"),
        (&["install", "--project"], "CLIENT"),
        (&["uninstall"], "CLIENT"),
    ] {
        let said = call(&umbo, words).refused();
        assert!(said.contains(hint), "{words:?}: {said}");
    }
}

#[test]
fn secrets_beside_the_entry_are_not_shown() {
    let umbo = Umbo::new();
    let path = home(&umbo).join(".claude.json");
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let before = format!(
        "{{\n  \"mcpServers\": {{\n    \"x\": {{\"env\": {{\"T\": \"{token}\"}}}}\n  }},\n  \"a\": 1\n}}\n"
    );
    fs::write(&path, &before).unwrap();
    let done = call(&umbo, &["install", "claude-code", "--yes"]).answer();
    assert!(
        done.status == 0 && !String::from_utf8_lossy(&done.stderr).contains(&token),
        "{done:?}"
    );
    assert!(text(&path).contains(&token), "they are still in the file");
    let backups: Vec<_> = fs::read_dir(umbo.state().join("backups")).unwrap().flatten().collect();
    assert_eq!(backups.len(), 1);
    assert_eq!(backups[0].metadata().unwrap().mode() & 0o777, 0o600);
}
