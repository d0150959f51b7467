//! The guard against routing text in the arguments of calls.
//!
//! Some models sometimes write, inside the arguments of a call, the plain text of the header by
//! which their own server routes calls (`analysis to=functions.edit code …`), followed by spam. A
//! tool would write that into a file. Such a call is not run.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use umbo_model::ToolCall;

/// How far before the marker signs of a leak are looked for, in characters.
const NEAR_CHARS: usize = 40;

/// Words that stood before the marker in real leaks and hardly ever do otherwise.
const GLITCHES: [&str; 5] = ["Japgolly", "Jsii", "Jsii_commentary", "changedFiles", "RTLU"];
const CHANNELS: [&str; 4] = ["analysis", "assistant", "commentary", "user"];

static MARKER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bto=functions\.([A-Za-z0-9_-]+)").ok());

/// Whether a model is of the family that leaks.
pub fn may_leak(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    name.starts_with("gpt-5")
}

/// Where a leak begins in a text: at the junk before the first marker that names a known tool.
///
/// Precision first: the marker alone is no leak, as files may well be about it; it needs a channel
/// word, a known glitch or a run of letters of another script before it, or the word `code` and
/// another marker behind it.
pub fn find_leak(text: &str, tools: &[&str]) -> Option<usize> {
    let marker = MARKER.as_ref()?;
    let mut previous = None;
    for found in marker.captures_iter(text) {
        let (Some(whole), Some(tool)) = (found.get(0), found.get(1)) else { continue };
        if !tools.contains(&tool.as_str()) {
            continue;
        }
        let before: String = {
            let mut near: Vec<char> =
                text[..whole.start()].chars().rev().take(NEAR_CHARS).collect();
            near.reverse();
            near.into_iter().collect()
        };
        let has_body = text[whole.end()..].trim_start().starts_with("code");
        if let Some(start) = junk(&before)
            && (has_body || is_strange(&before))
        {
            return Some(whole.start() - (before.len() - start));
        }
        if let Some(first) = previous
            && has_body
        {
            return Some(first);
        }
        if has_body {
            previous = Some(whole.start());
        }
    }
    None
}

/// Where junk begins in the text before a marker.
fn junk(before: &str) -> Option<usize> {
    let trimmed = before.trim_end();
    let strange = before.char_indices().find(|(_, c)| is_foreign(*c)).map(|(at, _)| at);
    if let Some(at) = strange {
        return Some(at);
    }
    let is_word_start = |word: &&&str| {
        trimmed
            .strip_suffix(**word)
            .is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let words = CHANNELS.iter().chain(&GLITCHES);
    let longest = words.filter(is_word_start).max_by_key(|word| word.len())?;
    Some(trimmed.len() - longest.len())
}

fn is_strange(before: &str) -> bool {
    before.chars().any(is_foreign) || GLITCHES.iter().any(|glitch| before.contains(glitch))
}

/// Letters of the scripts that the spam is written in, and the brackets around it.
fn is_foreign(c: char) -> bool {
    matches!(
        c,
        '\u{400}'..='\u{52f}'       // Cyrillic
        | '\u{530}'..='\u{58f}'     // Armenian
        | '\u{600}'..='\u{6ff}'     // Arabic
        | '\u{c00}'..='\u{d7f}'     // Telugu, Kannada, Malayalam
        | '\u{e00}'..='\u{e7f}'     // Thai
        | '\u{10a0}'..='\u{10ff}'   // Georgian
        | '\u{3010}' | '\u{3011}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
    )
}

/// What is wrong with a call, if routing text leaked into it. A text that the conversation already
/// has (`is_known`) may be written: it comes from a file or from the user.
pub fn check_call(
    call: &ToolCall,
    tools: &[&str],
    is_known: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut texts = Vec::new();
    for value in call.arguments.values() {
        strings(value, &mut texts);
    }
    let leak = texts.into_iter().find_map(|text| {
        let at = find_leak(text, tools)?;
        let end = text[at..].char_indices().nth(60).map_or(text.len(), |(end, _)| at + end);
        let piece = &text[at..end];
        (!is_known(piece)).then_some(piece)
    })?;
    Some(format!(
        "The call was not run: text that routes calls leaked into its arguments, beginning with {leak:?}. \
         Send the call again without it and without anything that came after it."
    ))
}

fn strings<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, texts)),
        Value::Object(map) => map.values().for_each(|item| strings(item, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TOOLS: [&str; 3] = ["edit", "eval", "read"];

    #[test]
    fn the_known_shapes_of_leaks_are_found_where_they_begin() {
        let leaks = [
            (
                "install(x);",
                "】【\"】【analysis to=functions.edit code above เงินไทยฟรีuser to=functions.edit code",
            ),
            ("let a = 1;\n", "analysis to=functions.edit code \u{5927}\u{53d1}"),
            ("foo ", "Jsii_commentary to=functions.eval code x"),
            ("bar()", "\u{10d0}\u{10d1} to=functions.read"),
            ("x ", "changedFiles to=functions.edit code"),
        ];
        for (good, leak) in leaks {
            let text = format!("{good}{leak}");
            assert_eq!(find_leak(&text, &TOOLS), Some(good.len()), "{text}");
        }
        let twice = "a to=functions.edit code one to=functions.edit code two";
        assert_eq!(find_leak(twice, &TOOLS), Some(2));
    }

    #[test]
    fn texts_about_the_marker_are_no_leaks() {
        let texts = [
            "the header says to=functions.edit and then the arguments",
            "grep -rn 'to=functions.edit' src",
            "analysis of data; goto=functions.edit code",
            "commentary to=functions.unknown_tool code",
            "Привет, мир: обычный текст без пометок",
            "",
        ];
        for text in texts {
            assert_eq!(find_leak(text, &TOOLS), None, "{text}");
        }
    }

    #[test]
    fn a_call_with_a_leak_is_refused_unless_the_conversation_has_the_text() {
        let arguments =
            json!({"path": "a.rs", "edits": [{"new": "x;user to=functions.edit code spam"}]});
        let call = ToolCall {
            id: "c".into(),
            name: "edit".into(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            malformed: None,
            opaque: None,
        };
        let problem = check_call(&call, &TOOLS, |_| false);
        assert!(problem.is_some_and(|problem| problem.contains("user to=functions.edit")));
        assert_eq!(check_call(&call, &TOOLS, |piece| piece.contains("spam")), None);
        assert!(may_leak("gpt-5.4") && may_leak("openai/gpt-5") && !may_leak("claude-opus-4-5"));
    }
}
