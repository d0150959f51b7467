//! Over-approximation: everything in a text that could be a command.
//!
//! Used only where the grammar gives up, and only to raise a verdict or to match deny rules. Quotes and
//! backslashes are dropped, every separator and bracket ends a command, and a command may begin at any
//! word.

use crate::risk::Risk;
use crate::walk::Walk;
use crate::word::Word;

/// Text beyond this is not scanned; such a text is unknown anyway.
const MAX_SCANNED: usize = 16 * 1024;
/// More possible commands than this are not listed.
const MAX_POSSIBLE: usize = 512;
/// Arguments kept of each.
const MAX_WORDS: usize = 24;

/// Every command the text may contain.
pub(crate) fn possible(text: &str) -> Vec<Vec<String>> {
    let mut end = text.len().min(MAX_SCANNED);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let plain: String = text[..end].chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let mut possible = Vec::new();
    for segment in plain.split([';', '|', '&', '\n', '(', ')', '{', '}', '`', '<', '>', '!']) {
        let words: Vec<&str> = segment.split_whitespace().collect();
        for start in 0..words.len() {
            if possible.len() >= MAX_POSSIBLE {
                return possible;
            }
            let argv = &words[start..words.len().min(start + MAX_WORDS)];
            possible.push(argv.iter().map(|&word| word.to_owned()).collect());
        }
    }
    possible
}

/// Notes the dangers among the possible commands of a text.
pub(crate) fn dangers(walk: &mut Walk, text: &str) {
    for argv in possible(text).into_iter().take(128) {
        let words: Vec<Word> = argv.into_iter().map(Word::literal).collect();
        danger(walk, &words);
    }
}

/// Notes the dangers among what an unknown program could run of its arguments.
pub(crate) fn dangers_in_arguments(walk: &mut Walk, argv: &[Word]) {
    for start in 0..argv.len().min(16) {
        danger(walk, &argv[start..]);
    }
    // A whole command may also hide in one argument.
    for word in argv.iter().take(16).filter(|word| word.likely().contains(' ')) {
        let text = word.likely().to_owned();
        for argv in possible(&text).into_iter().take(16) {
            let words: Vec<Word> = argv.into_iter().map(Word::literal).collect();
            danger(walk, &words);
        }
    }
}

fn danger(walk: &mut Walk, argv: &[Word]) {
    if !argv.first().is_some_and(|word| {
        word.likely().chars().all(|c| c.is_ascii_alphanumeric() || "_-./+".contains(c))
    }) {
        return;
    }
    let mut probe = Walk::new(walk.shell, walk.known.clone());
    probe.depth = walk.depth + 1;
    probe.probing = true;
    probe.input = walk.input.clone();
    probe.judge(argv, &[]);
    let dangers = probe.found.into_iter().filter(|finding| finding.does.risk == Risk::Dangerous);
    walk.found.extend(dangers.take(1));
}
