//! The interceptor: a better tool is pointed to, if there is one.

use umbo_command::{Shell, read};
use umbo_gate::intercept;

const ALL: [&str; 5] = ["read", "search", "find", "edit", "write"];

fn says(command: &str, tools: &[&str]) -> Option<String> {
    intercept(command, &read(command, Shell::Bash), tools)
}

#[test]
fn each_habit_points_to_its_tool_and_only_if_it_is_offered() {
    for (command, tool) in [
        ("cat src/main.rs", "read"),
        ("head -n 20 x", "read"),
        ("grep -rn foo src", "search"),
        ("rg foo", "search"),
        ("find . -name '*.rs'", "find"),
        ("fd main", "find"),
        ("sed -i s/a/b/ f", "edit"),
        ("perl -pi -e s/a/b/ f", "edit"),
        ("echo hi > out.txt", "write"),
        ("cat > f <<X\nhello\nX\n", "write"),
        ("printf 'a' >> f", "write"),
    ] {
        let said = says(command, &ALL).unwrap_or_else(|| panic!("{command} passed"));
        assert!(said.starts_with(&format!("Blocked: Use the `{tool}` tool")), "{command}: {said}");
        assert!(said.ends_with(&format!("Original command: {command}")), "{said}");
        let others: Vec<&str> = ALL.into_iter().filter(|name| *name != tool).collect();
        assert_eq!(says(command, &others), None, "{command} without {tool}");
    }
}

#[test]
fn what_the_shell_does_best_passes() {
    for command in [
        "cat a b | sort | uniq -c",
        "git log | head",
        "ps aux | grep umbo",
        "find . -delete",
        "sed -n 1,5p f",
        "echo hi",
        "cargo build > log 2>&1",
        "ls > /dev/null",
        "cat",
    ] {
        assert_eq!(says(command, &ALL), None, "{command}");
    }
}
