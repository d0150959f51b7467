//! What of a git repository git runs while it only reads: programs that settings name, and one hook.

use std::fs;
use std::path::{Path, PathBuf};

use crate::surroundings::text_of;

/// More repositories of submodules than this are not looked at.
const MOST_SUBMODULES: usize = 100;
/// `git status` writes the index anew, and then runs it.
const HOOK: &str = "post-index-change";

/// What git may run in a directory although it is only asked to read, if there is anything.
pub(crate) fn helper(cwd: &Path) -> Option<String> {
    for above in cwd.ancestors() {
        // Git takes a directory that looks like a repository for one, also in the middle of a project.
        let is_bare = ["HEAD", "objects", "refs"].iter().all(|name| above.join(name).exists());
        let bare = is_bare.then(|| above.to_owned());
        for place in repository(&above.join(".git")).into_iter().chain(bare) {
            if let Some(found) = helper_of(&place).or_else(|| helper_of_submodules(&place)) {
                return Some(found);
            }
            // One that is none is passed over by git, and the search goes on.
            if place.join("HEAD").exists() {
                return None;
            }
        }
    }
    None
}

/// The repository that a `.git` is, or leads to.
fn repository(git: &Path) -> Option<PathBuf> {
    if !git.exists() {
        return None;
    }
    // A worktree says where its repository is.
    let Some(text) = text_of(git) else { return Some(git.to_owned()) };
    let named = git.parent()?.join(text.trim().strip_prefix("gitdir:")?.trim());
    let common = text_of(&named.join("commondir")).map(|common| named.join(common.trim()));
    Some(common.unwrap_or(named))
}

/// Git looks into submodules too, each by the settings of its own repository.
fn helper_of_submodules(place: &Path) -> Option<String> {
    let mut left = vec![place.join("modules")];
    let mut seen = 0;
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let inside = entry.path();
            if !inside.is_dir() {
                continue;
            }
            seen += 1;
            if seen > MOST_SUBMODULES {
                return Some(
                    "the git repository has more submodules than are looked at".to_owned(),
                );
            }
            if !inside.join("HEAD").exists() {
                // A part of a name with a slash in it.
                left.push(inside);
            } else if let Some(found) = helper_of(&inside) {
                return Some(found);
            } else {
                left.push(inside.join("modules"));
            }
        }
    }
    None
}

fn helper_of(place: &Path) -> Option<String> {
    if place.join("hooks").join(HOOK).exists() {
        return Some(format!("the git repository has the hook {HOOK}, which git may run"));
    }
    let settings = place.join("config");
    let text = match text_of(&settings) {
        Some(text) => text,
        None if settings.exists() => {
            return Some("the settings of the git repository cannot be read".to_owned());
        }
        None => return None,
    };
    let mut section = String::new();
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        let mut line = line;
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.split([' ', '\t', ']', '.']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            // A setting may follow on the same line.
            line = after_header(rest);
        }
        let (key, value) =
            line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
        let key = key.to_ascii_lowercase();
        if names_a_program(&section, &key, value) {
            return Some(format!("the git repository sets {section}.{key}, which git may run"));
        }
    }
    None
}

/// What comes after the bracket that ends a header, which may have others in quotes.
fn after_header(header: &str) -> &str {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, character) in header.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => return header[at + 1..].trim(),
            _ => {}
        }
    }
    ""
}

/// Whether a setting names a program that git runs while it reads, or more settings.
fn names_a_program(section: &str, key: &str, value: &str) -> bool {
    const PROGRAMS: &str = "core.pager core.sshcommand core.gitproxy core.askpass core.alternaterefscommand core.worktree core.attributesfile core.hookspath diff.external diff.command diff.textconv extensions.worktreeconfig filter.clean filter.smudge filter.process gpg.program man.cmd man.path browser.cmd browser.path protocol.allow remote.uploadpack remote.vcs tar.command trailer.cmd trailer.command";
    let is_setting = !key.is_empty() && !key.starts_with(['#', ';']);
    match section {
        "pager" | "include" | "includeif" | "interactive" | "hook" => is_setting,
        "core" if key == "fsmonitor" => !matches!(value, "true" | "false"),
        "credential" if key == "helper" => value.contains(['!', '/']),
        _ => PROGRAMS.split(' ').any(|one| one.split_once('.') == Some((section, key))),
    }
}
