//! Which environment variables hold secrets, judged by their names.

/// Shorter values are too common as words to be masked.
pub(super) const SHORTEST: usize = 8;

/// Words that mark a name anywhere in one of its parts (`PGPASSWORD`, `AUTHTOKEN`).
const INSIDE: [&str; 8] =
    ["SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "PRIVATE", "OAUTH"];

/// Words that are also ends of innocent ones, and mark a name only as the end of one of its parts.
const ENDING: [&str; 7] = ["KEY", "KEYS", "PASS", "PWD", "AUTH", "PAT", "APIKEYS"];

/// Parts that end like a secret and are none.
const INNOCENT: [&str; 9] =
    ["MONKEY", "TURKEY", "HOTKEY", "COMPASS", "BYPASS", "OLDPWD", "TOKENIZER", "TOKENIZERS", "PWD"];

/// Ends of names whose values say where something is, not what it is.
const PLACES: [&str; 5] = ["SOCK", "PATH", "DIR", "FILE", "HOME"];

/// Whether a variable says where a secret is instead of holding it.
pub(super) fn names_a_place(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let last = name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    PLACES.contains(&last) && value.starts_with(['/', '.', '~'])
}

/// Whether a variable of this name is likely to hold a secret.
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| {
        // `PWD` alone is where the shell is; `DB_PWD` is not.
        let innocent = INNOCENT.contains(&part) && (part != "PWD" || part == name);
        !innocent
            && (INSIDE.iter().any(|word| part.contains(word))
                || ENDING.iter().any(|word| {
                    part.ends_with(word) && (word.len() > 3 || part == *word || part.len() > 4)
                }))
    })
}
