//! Properties over generated commands.

use proptest::prelude::*;
use umbo_command::{Risk, Shell, read};

/// Commands whose verdict is `dangerous` by themselves.
const DANGEROUS: [&str; 12] = [
    "rm -rf x",
    "git push --force",
    "git reset --hard",
    "find . -delete",
    "dd if=/dev/zero of=/dev/sda",
    "chmod -R 777 /",
    "kill -9 1",
    "sudo ls",
    "terraform destroy",
    "cat ~/.ssh/id_rsa",
    "npm publish",
    "shred file",
];

/// Ways to run a command without changing what it does.
const WRAPPERS: [&str; 44] = [
    "{}",
    "({})",
    "{ {}; }",
    "! {}",
    "ls; {}",
    "ls && {}",
    "ls || {}",
    "{} | cat",
    "ls | {}",
    "{} &",
    "if true; then {}; fi",
    "if {}; then ls; fi",
    "for i in 1 2; do {}; done",
    "while {}; do ls; done",
    "case a in a) {};; esac",
    "f() { {}; }; f",
    "echo $({})",
    "echo \"$({})\"",
    "cat <({})",
    "x=$({})",
    "time {}",
    "timeout 5 {}",
    "nice {}",
    "nice -n 5 {}",
    "nohup {}",
    "env {}",
    "env A=b {}",
    "command {}",
    "exec {}",
    "setsid {}",
    "stdbuf -oL {}",
    "sudo {}",
    "sudo -u root {}",
    "xargs {}",
    "ls\n{}",
    "{} # done",
    "{} 2>/dev/null",
    "{} > /dev/null 2>&1",
    "A=b {}",
    "cat <<E\n$({})\nE",
    "echo ${x:-$({})}",
    "unbuffer {}",
    "frobnicate {}",
    "( ls; ( {} ) )",
];

/// Wrappers that take the command as one quoted text.
const QUOTING: [&str; 12] = [
    "bash -c '{}'",
    "sh -c '{}'",
    "bash -lc '{}'",
    "bash -e -c '{}'",
    "zsh -c '{}'",
    "eval '{}'",
    "watch '{}'",
    "ssh host '{}'",
    "su -c '{}'",
    "trap '{}' EXIT",
    "echo '{}' | sh",
    "bash <<< '{}'",
];

/// The first word of a command spelled differently.
fn respell(command: &str, how: usize) -> String {
    let (first, rest) = command.split_once(' ').unwrap_or((command, ""));
    let (head, tail) = first.split_at(1);
    let first = match how {
        0 => first.to_owned(),
        1 => format!("\\{first}"),
        2 => format!("'{first}'"),
        3 => format!("\"{first}\""),
        4 => format!("{head}''{tail}"),
        5 => format!("{head}\"\"{tail}"),
        6 => format!("{head}\\{tail}"),
        7 => format!("$'\\x{:02x}{tail}'", head.as_bytes()[0]),
        8 => format!("/usr/bin/{first}"),
        _ => format!("/bin/{first}"),
    };
    format!("{first} {rest}")
}

fn seed() -> proptest::test_runner::RngSeed {
    let given = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok());
    proptest::test_runner::RngSeed::Fixed(given.unwrap_or(7))
}

proptest! {
    // One seed, so that a run can be repeated; PROPTEST_RNG_SEED gives others.
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, rng_seed: seed(), ..ProptestConfig::default() })]

    #[test]
    fn no_wrapping_or_spelling_makes_a_danger_smaller(
        which in 0..DANGEROUS.len(),
        how in 0..10_usize,
        wrappers in prop::collection::vec(0..WRAPPERS.len(), 0..4),
        quoting in prop::option::of(0..QUOTING.len()),
    ) {
        let mut command = DANGEROUS[which].to_owned();
        match quoting {
            Some(quoting) => command = QUOTING[quoting].replace("{}", &command),
            None => command = respell(&command, how),
        }
        // An assignment is one only in front of everything else.
        let (outermost, inner): (Vec<usize>, Vec<usize>) = wrappers.into_iter().partition(|w| WRAPPERS[*w].starts_with("A=b"));
        for wrapper in inner.into_iter().chain(outermost) {
            // xargs takes the standard input away from what it runs.
            let fed = quoting.is_some_and(|quoting| quoting >= 10);
            if fed && WRAPPERS[wrapper].starts_with("xargs") {
                continue;
            }
            // A here-document must end its text.
            if !command.contains('\n') || WRAPPERS[wrapper].contains("{}\n") || wrapper == 0 {
                command = WRAPPERS[wrapper].replace("{}", &command);
            }
        }
        let reading = read(&command, Shell::Bash);
        // A program name behind two layers of keywords may stop the grammar, never the alarm.
        prop_assert!(reading.risk >= Risk::Unknown, "{command:?}: {:?}", reading.risk);
        if reading.exact {
            prop_assert_eq!(reading.risk, Risk::Dangerous, "{:?}", command);
        }
    }

    #[test]
    fn adding_a_danger_to_any_text_never_leaves_it_read_only(before in "[a-z '\"|&;()$`\\\\#<>{}\n]{0,24}") {
        for text in [format!("{before}\nrm -rf x"), format!("{before};rm -rf x"), format!("rm -rf x;{before}"), format!("rm -rf x\n{before}")] {
            let reading = read(&text, Shell::Bash);
            // Unless the text makes it a comment, an argument or a quotation, which an exact parse shows.
            let runs = reading.commands.iter().any(|command| command.argv[0].text == "rm");
            prop_assert!(reading.risk >= Risk::Unknown || !runs, "{text:?}");
        }
    }

    #[test]
    fn arbitrary_text_is_read_without_panic(text in any::<String>()) {
        for shell in [Shell::Posix, Shell::Bash, Shell::Zsh, Shell::Nu, Shell::Fish, Shell::PowerShell] {
            let reading = read(&text, shell);
            prop_assert!(reading.exact || reading.risk >= Risk::Unknown);
        }
        let _ = umbo_command::tasks::classify(&text);
    }

    #[test]
    fn shell_like_text_is_read_without_panic(
        parts in prop::collection::vec(prop::sample::select(vec![
            "$(", ")", "`", "\"", "'", "#", "\n", "\\", ";", "|", "&&", "echo", "rm", " ", "<<E", "\nE\n", "{", "}", "(", "case x in", "esac", "x)", ";;", "$", "${x:-", "$((", "))",
            "[[", "]]", "if", "then", "fi", "for i in", "do", "done", "!", "*", "~", "é", "1>", "99999999999>", "<(", ">", "<<<", "f()", "time", "coproc", "{a,b}", "sed", "awk", "find -exec",
            "xargs", "git -c", "$'", "\u{a0}", "\0", "-", "--", "=",
        ]), 0..24)
    ) {
        let text: String = parts.concat();
        for shell in [Shell::Posix, Shell::Bash, Shell::Zsh] {
            let _ = read(&text, shell);
        }
    }
}

#[test]
fn deep_nesting_and_long_text_end_and_are_unknown() {
    let deep = 10_000;
    let texts = [
        "(".repeat(deep),
        format!("{}ls{}", "(".repeat(deep), ")".repeat(deep)),
        format!("{}ls{}", "( ".repeat(deep), " )".repeat(deep)),
        format!("echo {}ls{}", "$(".repeat(deep), ")".repeat(deep)),
        format!("{}ls;{}", "{ ".repeat(deep), " };".repeat(deep)),
        format!("{}ls;{}", "if ls; then ".repeat(deep), " fi;".repeat(deep)),
        format!("echo {}1{}", "$((".repeat(deep), "))".repeat(deep)),
        format!("echo {}x{}", "${x:-".repeat(deep), "}".repeat(deep)),
        format!("[[ {} a ]]", "! ".repeat(deep)),
        format!("{} ls", "! ".repeat(deep)),
        format!("{}ls", "sudo ".repeat(deep)),
        format!("{}ls", "env ".repeat(deep)),
        format!("{}ls", "eval ".repeat(deep)),
        format!("{}ls", "coproc ".repeat(deep)),
        format!("echo {}", "\"`".repeat(deep)),
        (0..40).fold("ls".to_owned(), |inner, _| {
            format!("{}echo $({inner}){}", "( ".repeat(50), " )".repeat(50))
        }),
        (0..200).fold("ls".to_owned(), |inner, _| format!("( echo \"$({inner})\" )")),
        "x".repeat(1 << 20),
        "ls; ".repeat(1 << 18),
        "ls && ".repeat(1 << 16),
        "a b ".repeat(60_000),
        "'".repeat(100_001),
        "$".repeat(200_000),
        "<<E ".repeat(30_000),
        format!("echo {}", "a".repeat(200_000)),
    ];
    for text in texts {
        let reading = read(&text, Shell::Bash);
        let head: String = text.chars().take(24).collect();
        if !text.starts_with("echo aaa") {
            assert!(reading.risk >= Risk::Unknown, "{head}: {:?}", reading.risk);
        }
    }
}

/// Texts that grow with a number, and that once took longer than their length explains.
type Family = (&'static str, fn(usize) -> String);

fn families() -> Vec<Family> {
    vec![
        ("lists", |n| "ls; ".repeat(n)),
        ("programs nobody knows", |n| "frob rm x; ".repeat(n)),
        ("functions", |n| {
            (0..n).map(|at| format!("f{at}() {{ :; }}; ")).collect::<Vec<_>>().concat()
        }),
        ("assignments", |n| (0..n).map(|at| format!("v{at}=a; ")).collect::<Vec<_>>().concat()),
        ("redirections", |n| (0..n).map(|at| format!("echo>f{at}; ")).collect::<Vec<_>>().concat()),
        ("words", |n| format!("cat {}", "a ".repeat(n))),
        ("arguments of a program nobody knows", |n| format!("frob {}", "a ".repeat(n))),
        ("substitutions side by side", |n| format!("echo {}", "$(ls) ".repeat(n))),
        ("here-documents", |n| "cat <<E\nx\nE\n".repeat(n)),
        ("statements", |n| format!("psql -c '{}'", "select 1; ".repeat(n))),
        ("substitutions in one word", |n| format!("echo {}", "$(ls)".repeat(n))),
        ("backquotes in one word", |n| format!("echo {}", "`ls`".repeat(n))),
        ("here-documents that expand", |n| "cat <<E\n$(ls)\nE\n".repeat(n)),
        ("shells in shells", |n| "bash -c 'ls -l'; ".repeat(n)),
        ("wrappers", |n| "timeout 5 env A=b nice ls; ".repeat(n)),
        ("assignments that use each other", |n| "a=$a$b; b=$a; ".repeat(n)),
        ("conditions", |n| "[[ a == b ]]; ".repeat(n)),
        ("loops", |n| "for i in a b; do ls; done; ".repeat(n)),
        ("letters in one option", |n| format!("ls -{}", "l".repeat(n))),
        ("programs that find runs", |n| format!("find . {}", "-exec ls {} + ".repeat(n))),
        ("a script of sed", |n| format!("sed '{}'", "s/a/b/;".repeat(n))),
        ("a program of awk", |n| format!("awk '{}'", "{print $1} ".repeat(n))),
        ("a text for a shell in a shell", |n| format!("sh -c \"sh -c '{}'\"", "ls; ".repeat(n))),
    ]
}

/// Texts whose work once grew faster than they do, or depends on what came before.
fn hungry() -> Vec<Family> {
    vec![
        ("directories", |n| "cd a; cat b; ".repeat(n)),
        ("substitutions in substitutions, padded", |n| {
            let level = format!("echo {} $(", "x ".repeat(n / 50));
            format!("{}ls{}", level.repeat(50), ")".repeat(50))
        }),
        ("texts in texts", |n| format!("{}{}", "eval ".repeat(14), "ls ".repeat(n))),
        ("machines behind machines", |n| "ssh h ".repeat(n)),
        ("not closed", |n| {
            format!("echo `{}", "curl -H x psql -c 'select 1' bash -c 'ls' ".repeat(n))
        }),
        ("set again and again", |n| format!("x+=1; {}", "curl -H $x bash -c 'ls' ".repeat(n))),
        ("different letters in one option", |n| {
            let letters = (0..n)
                .filter_map(|at| char::from_u32(0x4e00 + u32::try_from(at).unwrap_or_default()));
            format!("ls -{}", letters.collect::<String>())
        }),
    ]
}

/// What the longest text may cost: at some 20 ns a step, less than 50 ms.
const MOST_STEPS: usize = 2_000_000;

#[test]
fn no_text_of_the_greatest_length_is_too_much_work() {
    for (name, family) in families().into_iter().chain(hungry()) {
        let each = family(100).len() / 100;
        let text = family(128 * 1024 / each.max(1));
        let cut = (0..=128 * 1024).rev().find(|at| text.is_char_boundary(*at));
        let text = text.get(..cut.unwrap_or(0)).unwrap_or(&text);
        let steps = umbo_command::steps(text, Shell::Bash);
        assert!(steps <= MOST_STEPS, "{name}: {steps} steps for {} bytes", text.len());
    }
}

#[test]
fn the_work_grows_with_the_text_and_not_faster() {
    for (name, family) in families() {
        let (short, long) = (family(200), family(400));
        let (few, many) =
            (umbo_command::steps(&short, Shell::Bash), umbo_command::steps(&long, Shell::Bash));
        let growth = long.len() * 100 / short.len();
        assert!(many * 100 <= few * (growth + 30), "{name}: {few} steps, then {many}");
        assert!(
            read(&long, Shell::Bash).reason
                != "There is too much to read, so what it does is not certain.",
            "{name}"
        );
    }
}

#[test]
fn an_explanation_costs_a_few_readings_however_long_the_text() {
    for (name, family) in families() {
        let text = family(1600);
        let read = umbo_command::steps(&text, Shell::Bash);
        let explained = umbo_command::explain_steps(&text, Shell::Bash);
        // To say what would make a command less, it is read again some times: that much of any text.
        assert!(
            explained <= 6 * read + 1_000_000,
            "{name}: {read} steps, explained in {explained}"
        );
    }
}

#[test]
fn a_level_of_nesting_costs_its_length_and_is_not_read_twice() {
    let nested =
        |deep: usize| format!("{}ls{}", "echo $(echo ".repeat(deep), " | cat)".repeat(deep));
    let (ten, twenty) = (nested(10), nested(20));
    let steps = |text: &str| umbo_command::steps(text, Shell::Bash);
    // Each level reads what is inside of it once: the work is that of all levels together.
    assert!(steps(&twenty) <= 5 * steps(&ten), "{} and {}", steps(&ten), steps(&twenty));
    assert_eq!(read(&twenty, Shell::Bash).risk, Risk::ReadOnly);
}

/// What begins something that the same may stand in.
const OPENERS: [&str; 35] = [
    "a[",
    "'",
    "\"",
    "`",
    "$(",
    "${",
    "${a[",
    "${a:-",
    "$((",
    "$[",
    "(",
    "((",
    "{ ",
    "[[ ",
    "a=(",
    "[",
    "]",
    ")",
    "if ",
    "while ",
    "case x in x) ",
    "x) ",
    "f() ",
    "! ",
    "~",
    "\\",
    "<(",
    "@(",
    "$'",
    "a ",
    "| ",
    "; ",
    "1-",
    "_",
    "=~ ",
];

/// Neither the grammar nor what is around it reads anything twice at each level: that would take longer than
/// anybody waits, and so than this test may.
#[test]
fn whatever_stands_in_itself_is_read_to_its_end() {
    for before in ["", "let ", "a[", "[[ "] {
        for (first, second) in OPENERS.iter().flat_map(|o| OPENERS.map(|second| (o, second))) {
            let nested = format!("{first}{second}").repeat(60);
            let reading = read(&format!("{before}{nested}"), Shell::Bash);
            assert!(reading.exact || reading.risk >= Risk::Unknown, "{before}{first}{second}");
        }
    }
}

#[test]
fn cases_and_subscripts_that_people_write_are_read() {
    let cases = "case a in a) case b in b) case c in c) ls;; *) ls; esac; esac;; esac";
    assert_eq!(read(cases, Shell::Bash).risk, Risk::ReadOnly);
    let many = "case a in esac; case a in a) ls;; esac\n".repeat(100);
    assert_eq!(read(&many, Shell::Bash).risk, Risk::ReadOnly);
    let elements = r#"declare -A m; m["$x $y"]="${m["$x"]:-} ${m["$y"]:-} $HOME $((1+2))"; ls"#;
    let reason = read(elements, Shell::Bash).reason;
    assert!(!reason.contains("too much"), "{reason}");
}

#[test]
fn nesting_within_the_limit_is_read() {
    let text = format!("{}ls{}", "( ".repeat(40), " )".repeat(40));
    assert_eq!(read(&text, Shell::Bash).risk, Risk::ReadOnly);
    let text = format!("echo {}pwd{}", "$(echo ".repeat(20), ")".repeat(20));
    assert_eq!(read(&text, Shell::Bash).risk, Risk::ReadOnly);
    let mut text = "ls".to_owned();
    for _ in 0..3 {
        text = format!("bash -c \"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    }
    assert_eq!(read(&text, Shell::Bash).risk, Risk::ReadOnly);
}
