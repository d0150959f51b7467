//! Compaction: when a conversation gets too long, where to cut it, and what to say instead.
//!
//! All of this is pure. [`Settings::threshold`] says when; [`prune`] finds outputs that can be left
//! out before anything is summarised; [`find_cut`] finds the place; [`prepare`] makes of the place
//! the texts that a model is asked with; the answer becomes an entry. A cut never separates a result
//! from its call, and never keeps so much that nothing is won.

mod cut;
mod summary;
mod tokens;

pub use cut::{Cut, find_cut};
pub use summary::{
    FileLists, HANDOFF_PROMPT, Prepared, SUMMARY_SYSTEM, branch_prompt, file_lists,
    handoff_message, join_summaries, prepare, serialize_conversation,
};
pub use tokens::{context_tokens, estimate_message, estimate_text};

use crate::context::ContextMessage;
use crate::message::AgentMessage;

/// When to compact, and how much to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Whether it happens by itself.
    pub enabled: bool,
    /// Tokens that are left free for the next answer.
    pub reserve_tokens: u64,
    /// Tokens at the end of the conversation that are kept as they are.
    pub keep_recent_tokens: u64,
    /// The part of the window that may be used, in percent; before the usual rule.
    pub threshold_percent: Option<f64>,
    /// The tokens that may be used; before the percentage.
    pub threshold_tokens: Option<u64>,
    /// The newest tokens of tool output that are never left out.
    pub protect_output_tokens: u64,
    /// The least that leaving outputs out must save.
    pub least_saving_tokens: u64,
    /// Tools whose outputs stay.
    pub protected_tools: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            reserve_tokens: 16_384,
            keep_recent_tokens: 20_000,
            threshold_percent: None,
            threshold_tokens: None,
            protect_output_tokens: 40_000,
            least_saving_tokens: 20_000,
            protected_tools: vec!["read".to_owned(), "skill".to_owned()],
        }
    }
}

impl Settings {
    /// The size from which on a conversation is compacted.
    pub fn threshold(&self, window: u64) -> u64 {
        if let Some(tokens) = self.threshold_tokens.filter(|&tokens| tokens > 0) {
            return tokens.min(window);
        }
        if let Some(percent) = self.threshold_percent.filter(|&percent| percent > 0.0) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                clippy::cast_sign_loss,
                reason = "a part of a window is a window"
            )]
            return (window as f64 * percent.min(100.0) / 100.0) as u64;
        }
        // In a small window the reserve would be all of it.
        let reserve = self.reserve_tokens.min(window / 4);
        window - (window / 20 * 3).max(reserve)
    }

    /// How much is kept: never so much that the next turn would compact again.
    pub fn keep(&self, window: u64) -> u64 {
        self.keep_recent_tokens.min(self.threshold(window) / 2)
    }
}

/// The results that can be left out, with the tokens that each saves; nothing, if it is not worth it.
pub fn prune(messages: &[ContextMessage], settings: &Settings) -> Vec<(String, u64)> {
    let mut newest = 0;
    let mut found = Vec::new();
    let mut saved = 0;
    for message in messages.iter().rev() {
        let AgentMessage::ToolResult(result) = &message.message else { continue };
        let tokens = estimate_message(&message.message);
        newest += tokens;
        let is_protected = settings.protected_tools.contains(&result.tool_name);
        let is_note = result.text().starts_with("[Output truncated - ");
        if newest > settings.protect_output_tokens && !is_protected && !is_note {
            found.push((message.entry.clone(), tokens));
            saved += tokens;
        }
    }
    if saved >= settings.least_saving_tokens { found } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_those_of_the_documents_and_small_windows_keep_room() {
        let settings = Settings::default();
        let cases = [
            (1_000_000, 850_000),
            (400_000, 340_000),
            (200_000, 170_000),
            (128_000, 108_800),
            (65_536, 49_152),
            // Where the reserve would leave nothing, three quarters are used.
            (32_768, 24_576),
            (16_384, 12_288),
            (4_096, 3_072),
        ];
        for (window, threshold) in cases {
            assert_eq!(settings.threshold(window), threshold, "{window}");
            assert!(settings.keep(window) <= threshold / 2, "{window}");
        }
        let percent = Settings { threshold_percent: Some(50.0), ..Settings::default() };
        assert_eq!(percent.threshold(200_000), 100_000);
        let tokens = Settings { threshold_tokens: Some(7), ..percent };
        assert_eq!(tokens.threshold(200_000), 7);
    }
}
