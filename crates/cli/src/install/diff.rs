//! What an edit changes, as people and `patch` read it.

use std::path::Path;

use similar::TextDiff;

/// A unified diff. Lines are shown without anything that could move the cursor or turn the text: the
/// file may be a stranger's, and a person decides by what they see.
pub(crate) fn unified(file: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| match text {
        Some(_) => file.display().to_string(),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (lines(before), lines(after));
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&old, &new);
    let text = diff.unified_diff().header(&name(before), &name(after)).to_string();
    text.split_inclusive('\n').map(shown).collect()
}

/// Lines end where editors say, not at every carriage return.
fn lines(text: Option<&str>) -> Vec<&str> {
    text.unwrap_or_default().split_inclusive('\n').collect()
}

fn shown(line: &str) -> String {
    let content = line.strip_suffix('\n').unwrap_or(line);
    let content = content.strip_suffix('\r').unwrap_or(content);
    format!("{}\n", umbo_view::visible(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_shown_with_a_little_around_it() {
        let before = "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n";
        let before = before.replace('\n', "\r\n");
        let after = before.replace("line 5\r\n", "line 5\r\nnew\r\n");
        let diff = unified(Path::new("/x"), Some(&before), Some(&after));
        assert_eq!(
            diff,
            "--- /x\n+++ /x\n@@ -3,6 +3,7 @@\n line 3\n line 4\n line 5\n+new\n line 6\n line 7\n \
             line 8\n"
        );
        let made = unified(Path::new("/x"), None, Some("a\n"));
        assert_eq!(made, "--- /dev/null\n+++ /x\n@@ -0,0 +1 @@\n+a\n");
    }

    #[test]
    fn a_file_cannot_repaint_the_diff() {
        let diff = unified(Path::new("/x"), None, Some("a\u{1b}[2Kb\rc\u{202e}d\te\n"));
        assert!(diff.ends_with("+a\\u{1b}[2Kb\\u{d}c\\u{202e}d\te\n"), "{diff}");
    }
}
