//! Changing one value of a file of settings and nothing else of it: comments, order and spacing stay.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use toml_edit::{Document, DocumentMut, Item, Table, TableLike, Value};

/// The text with a value in it.
pub(crate) fn set(text: &str, name: &[&str], value: &Value) -> Result<String, String> {
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    let old = find(document.as_table(), name).map(|found| found.item);
    if let Some(span) = old.and_then(Item::as_value).and_then(Value::span) {
        return Ok(format!("{}{value}{}", &text[..span.start], &text[span.end..]));
    }
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let Some((last, tables)) = name.split_last() else { return Err("no setting is named".into()) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let mut is_inline = false;
    for name in tables {
        let fresh = || {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        };
        let inner = table.entry(name).or_insert_with(fresh);
        // The space before a closing brace belongs to the last value, which this one is no more.
        is_inline |= inner.is_inline_table();
        for (_, value) in inner.as_inline_table_mut().into_iter().flat_map(|list| list.iter_mut()) {
            value.decor_mut().set_suffix("");
        }
        table = inner.as_table_like_mut().ok_or_else(|| format!("`{name}` is no table"))?;
    }
    let suffix = if is_inline { " " } else { "" };
    table.insert(last, Item::Value(value.clone().decorated(" ", suffix)));
    Ok(document.to_string())
}

/// The text without a value; `None` if it has none.
pub(crate) fn unset(text: &str, name: &[&str]) -> Result<Option<String>, String> {
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    let Some(found) = find(document.as_table(), name) else { return Ok(None) };
    if let (false, Some(key), Some(value)) = (found.is_inline, found.key, found.item.as_value())
        && let (Some(key), Some(value)) = (key.span(), value.span())
    {
        // Its own lines go; a comment above it may be about more than this.
        let start = text[..key.start].rfind('\n').map_or(0, |end| end + 1);
        let end = text[value.end..].find('\n').map_or(text.len(), |end| value.end + end + 1);
        return Ok(Some(format!("{}{}", &text[..start], &text[end..])));
    }
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let Some((last, tables)) = name.split_last() else { return Ok(None) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for name in tables {
        let inner = table.get_mut(name).and_then(Item::as_table_like_mut);
        let Some(inner) = inner else { return Ok(None) };
        table = inner;
    }
    table.remove(last);
    Ok(Some(document.to_string()))
}

/// Something in a document.
struct Placed<'a> {
    key: Option<&'a toml_edit::Key>,
    item: &'a Item,
    /// Whether it shares a line with others.
    is_inline: bool,
}

fn find<'a>(root: &'a Table, name: &[&str]) -> Option<Placed<'a>> {
    let (last, tables) = name.split_last()?;
    let mut table: &dyn TableLike = root;
    let mut is_inline = false;
    for name in tables {
        let item = table.get(name)?;
        is_inline |= item.is_inline_table();
        table = item.as_table_like()?;
    }
    Some(Placed { key: table.key(last), item: table.get(last)?, is_inline })
}

/// Puts a text in the place of a file, whole or not at all. A link stays one.
pub(crate) fn save(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = target.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let mode = fs::metadata(&target).map_or(0o600, |facts| facts.mode() & 0o777);
    let draft = draft_of(&target);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&draft)
        .and_then(|mut file| {
            // What was asked for at the opening is less whatever the umask takes.
            file.set_permissions(fs::Permissions::from_mode(mode))?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&draft, &target));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn draft_of(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# mine\nmax_running = 4 # few\n\n[tools.shell] # seed\n# on\nenabled = true\n\
                        default_timeout_secs = 60\n\n[exec]\nmode = \"open\"\n";

    fn changed(name: &str, value: impl Into<Value>) -> String {
        set(TEXT, &name.split('.').collect::<Vec<_>>(), &value.into()).unwrap()
    }

    fn without(text: &str, name: &str) -> Option<String> {
        unset(text, &name.split('.').collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_value_that_is_there_is_changed_in_its_place() {
        assert_eq!(changed("max_running", 9), TEXT.replace("= 4", "= 9"));
        assert_eq!(changed("exec.mode", "auto"), TEXT.replace("\"open\"", "\"auto\""));
    }

    #[test]
    fn a_new_value_comes_into_its_table() {
        assert_eq!(
            changed("tools.shell.shell", "sh"),
            TEXT.replace("secs = 60\n", "secs = 60\nshell = \"sh\"\n")
        );
        assert_eq!(changed("output.lines", 5), format!("{TEXT}\n[output]\nlines = 5\n"));
        let mode = changed("tools.mode", "auto");
        assert!(mode.contains("[tools]\nmode = \"auto\"\n"), "{mode}");
        assert_eq!(set("", &["max_running"], &3.into()).unwrap(), "max_running = 3\n");
        let dotted = set("tools.mode = 'auto'\n", &["tools", "dialect"], &"lash".into()).unwrap();
        assert_eq!(dotted, "tools.mode = 'auto'\ntools.dialect = \"lash\"\n");
        let inline = set("exec = { mode = 'auto' }\n", &["exec", "shell"], &"sh".into()).unwrap();
        assert_eq!(inline, "exec = { mode = 'auto', shell = \"sh\" }\n");
        assert!(set("exec = 1", &["exec", "mode"], &"open".into()).is_err());
    }

    #[test]
    fn only_the_lines_of_a_value_go() {
        assert_eq!(
            without(TEXT, "tools.shell.enabled"),
            Some(TEXT.replace("enabled = true\n", ""))
        );
        assert_eq!(without(TEXT, "max_running"), Some(TEXT.replace("max_running = 4 # few\n", "")));
        assert_eq!(without(TEXT, "output.lines"), None);
        let inline = without("exec = { mode = 'auto', shell = 'sh' } # x\n", "exec.mode").unwrap();
        assert!(inline.contains("shell = 'sh'") && inline.contains("# x"), "{inline}");
        assert!(!inline.contains("mode"), "{inline}");
        let long = "[environment]\nexclude = [\n  \"A\", # a\n]\ninherit = 'core'\n";
        let left = without(long, "environment.exclude").unwrap();
        assert_eq!(left, "[environment]\ninherit = 'core'\n");
        let table =
            without("[environment.set]\nA = '1'\n[exec]\nmode = 'open'\n", "environment.set");
        assert_eq!(table.unwrap(), "[exec]\nmode = 'open'\n");
    }

    #[test]
    fn a_link_stays_a_link_and_the_file_keeps_its_mode() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().unwrap();
        let (real, link) = (directory.path().join("real"), directory.path().join("link"));
        fs::write(&real, "").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        save(&link, "a = 1\n").unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "a = 1\n");
        assert!(link.is_symlink());
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o640);
        let fresh = directory.path().join("new/dir/config.toml");
        save(&fresh, "").unwrap();
        assert_eq!(fs::metadata(&fresh).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3, "no draft is left");
    }
}
