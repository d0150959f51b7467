//! The calls, generated from lists, and what may differ.

use std::fmt;

use serde_json::{Value, json};

/// One call, and what is done to it.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    /// What is typed when the file `ready` is there.
    pub(crate) typed: Vec<Value>,
    /// Whether it is cancelled when the file `ready` is there.
    pub(crate) is_cancelled: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tool, self.arguments)
    }
}

/// Lines whose end both tell, with and without a terminal.
const LINES: &[&str] = &[
    "echo hi",
    "echo out; echo err >&2; exit 3",
    "printf 'no newline'",
    "true",
    "no-such-command-at-all",
    "cd sub && pwd",
    "pwd",
    "( exit 5 )",
    "echo 'a  b'",
    "echo ünïcödé 日本",
    "true | false",
    "set -e; false; echo no",
    "yes | head -3",
    "seq 1 500",
    "seq 1 500 >&2",
    "ls /no/such/place",
    "trap 'echo bye' EXIT; echo hi",
    "test -t 0 && echo tty || echo none",
    "test -t 1 && echo tty || echo none",
    "test -t 2 && echo tty || echo none",
    r"printf '\033[31mred\033[0m\n'",
    r"printf 'a\ab\n'",
    r"printf 'tab\tx\n'",
    r"printf '10%%\r20%%\rdone\n'",
    r"printf 'abc\033[2Kdef\n'",
    r"printf 'abcd\010\010x\n'",
    r"printf '\033]0;title\007text\n'",
    r"printf '\377\376abc\n'",
    r"printf 'a\r\nb\r\n'",
    r"printf '\033(Btext\n'",
    r"printf '\177x\n'",
    "echo a; sleep 0.2; echo b; sleep 0.2; echo c",
    "printenv PWD",
    "head -c 40000 /dev/zero | tr '\\0' x",
    "umask; ulimit -c",
];

#[derive(Default)]
struct Cases(Vec<Case>);

impl Cases {
    fn add(&mut self, tool: &'static str, arguments: Value) {
        self.0.push(plain(tool, arguments));
    }
}

/// All calls.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Cases::default();
    for tool in ["exec_command", "start_command"] {
        for code in [0, 1, 2, 7, 126, 127, 255] {
            cases.add(tool, json!({"cmd": format!("exit {code}")}));
        }
        for line in LINES.iter().map(ToString::to_string).chain(generated(40)) {
            cases.add(tool, json!({"cmd": line}));
        }
        for signal in ["TERM", "KILL", "INT", "HUP"] {
            cases.add(tool, json!({"cmd": format!("kill -{signal} $$")}));
        }
        for place in ["sub", "sub/deep", ".", "..", "/", "nowhere", "file", "", "sub/../sub"] {
            cases.add(tool, json!({"cmd": "pwd", "workdir": place}));
        }
        for shell in ["/bin/sh", "/bin/bash", "bash", "/no/such/shell", ""] {
            cases.add(tool, json!({"cmd": "echo $0", "shell": shell}));
        }
        for shell in ["/bin/bash", "/bin/sh"] {
            cases.add(tool, json!({"cmd": "echo it runs", "shell": shell, "login": true}));
        }
        for wrong in [json!({}), json!({"cmd": 5}), json!({"cmd": null}), json!({"cmd": ["a"]})] {
            cases.add(tool, wrong);
        }
        for (field, value) in [
            ("login", json!("yes")),
            ("workdir", json!(5)),
            ("shell", json!(5)),
            ("max_output_tokens", json!(0)),
            ("max_output_tokens", json!(-1)),
            ("max_output_tokens", json!("many")),
            ("unknown", json!(1)),
        ] {
            cases.add(tool, json!({"cmd": "echo ran", field: value}));
        }
        for name in ["login", "workdir", "shell", "max_output_tokens"] {
            cases.add(tool, json!({"cmd": "echo ran", name: null}));
        }
        cases.add(tool, json!({"cmd": "seq 1 100", "max_output_tokens": 1000}));
        cases.add(tool, json!({"cmd": "seq 1 5000", "max_output_tokens": 100}));
        cases.add(tool, json!({"cmd": "seq 1 200000"}));
        cases.add(tool, json!({"cmd": ""}));
        cases.add(tool, json!({"cmd": " "}));
        cases.0.push(cancelled(tool, "touch ready; sleep 99"));
        cases
            .0
            .push(cancelled(tool, "trap '' TERM INT HUP; touch ready; while :; do sleep 1; done"));
    }
    for line in ["echo a; sleep 99", "echo e >&2; sleep 99", "trap '' TERM; echo a; sleep 99"] {
        cases.add("exec_command", json!({"cmd": line, "timeout_ms": 1000}));
    }
    for timeout in [json!(0), json!(-1), json!("5"), json!(1.5), json!(null), json!(60000)] {
        cases.add("exec_command", json!({"cmd": "echo ran", "timeout_ms": timeout}));
    }
    cases.add("exec_command", json!({"cmd": "cat; echo closed"}));
    for (line, typed) in typed() {
        let arguments = json!({"cmd": format!("touch ready; {line}")});
        let is_cancelled = false;
        cases.0.push(Case { tool: "start_command", arguments, typed, is_cancelled });
    }
    cases.0
}

/// Lines made of pieces, the same ones each time.
fn generated(count: usize) -> Vec<String> {
    let mut seed: u64 = 20_260_101;
    let mut below = move |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let mut line = || {
        let mut parts = Vec::new();
        for _ in 0..=below(4) {
            let number = below(100);
            parts.push(match below(8) {
                0 => format!("echo out{number}"),
                1 => format!("sh -c 'echo child{number}; exit {number}'"),
                2 => format!("printf 'part{number}'"),
                3 => format!("seq 1 {number}"),
                4 => format!("(echo sub; exit {number})"),
                5 => "false || echo otherwise".to_owned(),
                6 => format!("for i in 1 2 3; do echo loop $i {number}; done"),
                _ => format!("x={number}; echo $((x * 3))"),
            });
        }
        if below(3) == 0 {
            parts.push(format!("exit {}", below(256)));
        }
        parts.join("; ")
    };
    (0..count).map(|_| line()).collect()
}

/// What reads at a terminal, and what is typed into it.
fn typed() -> Vec<(&'static str, Vec<Value>)> {
    let chars = |text: &str| json!({"chars": text, "close_stdin": false});
    let last = |text: &str| json!({"chars": text, "close_stdin": true});
    vec![
        ("read a; echo got $a", vec![chars("one\n")]),
        ("read a; read b; echo $b $a", vec![chars("one\n"), chars("two\n")]),
        ("read a; read b; echo $b $a", vec![chars("one\ntwo\n")]),
        ("read a; echo got $a", vec![chars("half "), chars("and half\n")]),
        ("read a; echo \"[$a]\"; exit 4", vec![chars("\n")]),
        ("trap 'echo caught; exit 9' INT; while :; do sleep 0.1; done", vec![chars("\u{3}")]),
        ("cat; echo closed", vec![last("text\n")]),
        ("cat; echo closed", vec![last("")]),
        ("stty size", vec![]),
    ]
}

fn plain(tool: &'static str, arguments: Value) -> Case {
    Case { tool, arguments, typed: Vec::new(), is_cancelled: false }
}

fn cancelled(tool: &'static str, line: &str) -> Case {
    Case { tool, arguments: json!({"cmd": line}), typed: Vec::new(), is_cancelled: true }
}
