//! What a patch would change, as an editor shows it: of each hunk the lines before and after.

use std::path::Path;

use super::calls::Change;

/// The changes of a unified diff or an envelope `*** Begin Patch`; of anything else none.
pub(super) fn changes_of_patch(patch: &str, directory: &Path) -> Vec<Change> {
    let mut reader = Reader { directory, changes: Vec::new(), file: None };
    for line in patch.lines() {
        reader.read(line);
    }
    reader.end_hunk();
    reader.changes
}

struct Reader<'a> {
    directory: &'a Path,
    changes: Vec<Change>,
    file: Option<File>,
}

/// The file that is read of, and its hunk so far.
struct File {
    path: String,
    is_new: bool,
    old: String,
    new: String,
}

impl Reader<'_> {
    fn read(&mut self, line: &str) {
        for (mark, is_new) in
            [("*** Add File: ", true), ("*** Update File: ", false), ("*** Delete File: ", false)]
        {
            if let Some(path) = line.strip_prefix(mark) {
                return self.begin(path, is_new);
            }
        }
        if let Some(path) = line.strip_prefix("--- ") {
            return self.begin(path.strip_prefix("a/").unwrap_or(path), path == "/dev/null");
        }
        if let Some(path) = line.strip_prefix("+++ ") {
            if let Some(file) = &mut self.file
                && path != "/dev/null"
            {
                path.strip_prefix("b/").unwrap_or(path).clone_into(&mut file.path);
            }
            return;
        }
        if line.starts_with("@@") || line.starts_with("***") {
            return self.end_hunk();
        }
        let Some(file) = &mut self.file else { return };
        let (mark, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
        if mark != "+" {
            file.old.push_str(rest);
            file.old.push('\n');
        }
        if mark != "-" {
            file.new.push_str(rest);
            file.new.push('\n');
        }
    }

    fn begin(&mut self, path: &str, is_new: bool) {
        self.end_hunk();
        let path = path.trim_end().to_owned();
        self.file = Some(File { path, is_new, old: String::new(), new: String::new() });
    }

    fn end_hunk(&mut self) {
        let Some(file) = &mut self.file else { return };
        let (old, new) = (std::mem::take(&mut file.old), std::mem::take(&mut file.new));
        if old == new {
            return;
        }
        let (path, old) = (self.directory.join(&file.path), Some(old).filter(|_| !file.is_new));
        self.changes.push(Change { path, old, new });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(patch: &str) -> Vec<(String, Option<String>, String)> {
        let changes = changes_of_patch(patch, Path::new("/p"));
        let row = |change: Change| (change.path.display().to_string(), change.old, change.new);
        changes.into_iter().map(row).collect()
    }

    #[test]
    fn hunks_of_an_envelope_and_of_a_unified_diff_have_what_was_and_what_is() {
        let one = |path: &str, old: Option<&str>, new: &str| {
            (path.to_owned(), old.map(str::to_owned), new.to_owned())
        };
        assert_eq!(
            shown(
                "*** Begin Patch\n*** Update File: a\n@@ fn x\n k\n-o\n+n\n@@\n-p\n+q\n\
                 *** Add File: d/b\n+1\n+2\n*** End Patch"
            ),
            [
                one("/p/a", Some("k\no\n"), "k\nn\n"),
                one("/p/a", Some("p\n"), "q\n"),
                one("/p/d/b", None, "1\n2\n"),
            ]
        );
        assert_eq!(
            shown("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
            [one("/p/x", Some("a\nb\n"), "a\nc\n")]
        );
        assert_eq!(
            shown("--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+z\n"),
            [one("/p/y", None, "z\n")]
        );
        assert!(shown("no patch at all").is_empty());
    }
}
