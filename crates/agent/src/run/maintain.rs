//! Making a conversation fit, and handing it over.

use std::path::Path;

use umbo_model::{Message, Request, ToolChoice};

use super::ask::Asked;
use super::{Agent, AgentEvent, CompactionReason, Observer, Outcome, RunError};
use crate::compact::{
    self, FileLists, HANDOFF_PROMPT, SUMMARY_SYSTEM, context_tokens, find_cut, handoff_message,
    join_summaries, prepare, prune,
};
use crate::context::ContextMessage;
use crate::entry::EntryKind;
use crate::message::Content;
use crate::session::Session;
use crate::todo::show_todos;

/// After so many compactions that won nothing there are no more.
const MOST_FUTILE: u32 = 2;
/// How often a conversation that does not even fit into the request for its summary is halved.
const MOST_HALVES: u32 = 4;

impl Agent {
    /// Before the model is asked: leaves out, moves to a larger model, or summarises, if there is
    /// need. An outcome ends the run.
    pub(super) async fn fit(
        &mut self,
        observer: Observer<'_>,
    ) -> Result<Option<Outcome>, RunError> {
        if !self.setup.compaction.enabled {
            return Ok(None);
        }
        let threshold = self.setup.compaction.threshold(self.candidate()?.model.window);
        if self.size()? <= threshold {
            self.futile = 0;
            return Ok(None);
        }
        let context = self.context()?;
        for (target_id, tokens) in prune(&context.messages, &self.setup.compaction) {
            self.session.append(EntryKind::ToolPruned { target_id, tokens })?;
        }
        if self.size()? <= threshold || self.promote(observer)? || self.futile >= MOST_FUTILE {
            // What does not get shorter is sent as it is: the vendor's word is better than a guess.
            return Ok(None);
        }
        let before = self.size()?;
        let problem = self.summarise_start(CompactionReason::Threshold, None, observer).await?;
        let is_shorter = problem.is_none() && self.size()? < before;
        self.futile = if is_shorter && self.size()? <= threshold { 0 } else { self.futile + 1 };
        Ok(None)
    }

    /// The vendor says that the conversation is too long.
    pub(super) async fn make_room(
        &mut self,
        why: &str,
        observer: Observer<'_>,
    ) -> Result<Option<Outcome>, RunError> {
        if self.promote(observer)? {
            return Ok(None);
        }
        if !self.setup.compaction.enabled || self.futile >= MOST_FUTILE {
            return Ok(Some(Outcome::TooLong(why.to_owned())));
        }
        self.futile += 1;
        let before = self.size()?;
        match self.summarise_start(CompactionReason::Overflow, None, observer).await? {
            Some(problem) => Ok(Some(Outcome::TooLong(format!("{why}; {problem}")))),
            None if self.size()? >= before => Ok(Some(Outcome::TooLong(why.to_owned()))),
            None => Ok(None),
        }
    }

    fn size(&mut self) -> Result<u64, RunError> {
        Ok(context_tokens(&self.context()?.messages))
    }

    /// Moves to the model with the larger window, if there is one and it is larger.
    fn promote(&mut self, observer: Observer<'_>) -> Result<bool, RunError> {
        let window = self.candidate()?.model.window;
        match self.setup.promotion.take() {
            Some(larger) if larger.model.window > window => {
                self.setup.candidates.insert(self.current, larger);
                self.say_model(observer)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Puts a summary in the place of the beginning. What was wrong, if it could not be done; then
    /// the session is as before.
    pub async fn compact(
        &mut self,
        instructions: Option<&str>,
        observer: Observer<'_>,
    ) -> Result<Option<String>, RunError> {
        self.summarise_start(CompactionReason::Asked, instructions, observer).await
    }

    async fn summarise_start(
        &mut self,
        reason: CompactionReason,
        instructions: Option<&str>,
        observer: Observer<'_>,
    ) -> Result<Option<String>, RunError> {
        let context = self.context()?;
        let messages = &context.messages;
        let before = context_tokens(messages);
        let keep = self.setup.compaction.keep(self.candidate()?.model.window);
        let Some(cut) = find_cut(messages, keep) else {
            return Ok(Some("there is nothing that could be summarised".to_owned()));
        };
        observer(AgentEvent::CompactionStart { reason });
        let prepared = prepare(messages, cut, self.known_files()?, instructions);
        let mut summaries = [None, None];
        let prompts = [prepared.history_prompt, prepared.turn_prompt];
        for (summary, prompt) in summaries.iter_mut().zip(prompts) {
            if let Some(prompt) = prompt {
                match self.summarise(prompt).await? {
                    Ok(text) => *summary = Some(text),
                    Err(problem) => {
                        observer(AgentEvent::CompactionFailed { problem: problem.clone() });
                        return Ok(Some(problem));
                    }
                }
            }
        }
        let [history, turn] = &summaries;
        let mut summary = join_summaries(history.as_deref(), turn.as_deref(), &prepared.files);
        if !context.todos.is_empty() {
            // The calls that gave the list may be in what is left out.
            summary = format!("{summary}\n\n{}", show_todos(&context.todos));
        }
        self.session.append(EntryKind::Compaction {
            summary,
            short_summary: None,
            first_kept_entry_id: prepared.first_kept_entry,
            tokens_before: before,
            details: serde_json::to_value(&prepared.files).ok(),
            preserve_data: None,
            from_extension: None,
        })?;
        observer(AgentEvent::CompactionEnd { before, after: self.size()? });
        Ok(None)
    }

    /// What the last compaction of ours knew of files.
    fn known_files(&self) -> Result<FileLists, RunError> {
        let path = self.session.path_to(None)?;
        let details = path.into_iter().rev().find_map(|entry| match entry.kind {
            EntryKind::Compaction { details, from_extension, .. } => {
                details.filter(|_| from_extension != Some(true))
            }
            _ => None,
        });
        Ok(details.and_then(|files| serde_json::from_value(files).ok()).unwrap_or_default())
    }

    async fn summarise(&mut self, mut prompt: String) -> Result<Result<String, String>, RunError> {
        for _ in 0..=MOST_HALVES {
            match self.ask_text(SUMMARY_SYSTEM, prompt.clone()).await? {
                Asked::Answer(answer) if answer.text().trim().is_empty() => {
                    return Ok(Err("the model wrote no summary".to_owned()));
                }
                Asked::Answer(answer) => return Ok(Ok(answer.text())),
                Asked::Interrupted(_) => return Ok(Err("interrupted".to_owned())),
                Asked::Failed(failure) => return Ok(Err(failure.message)),
                Asked::Overflow(_) => {
                    let half = prompt.ceil_char_boundary(prompt.len() / 2);
                    prompt =
                        format!("<conversation>\n(The beginning is missing.)\n{}", &prompt[half..]);
                }
            }
        }
        Ok(Err("the conversation is too long to be summarised".to_owned()))
    }

    /// Goes on behind another entry with a summary of the branch that is left. `None` if that could
    /// not be made; then nothing has changed.
    pub async fn leave_branch(
        &mut self,
        target: &str,
        instructions: Option<&str>,
    ) -> Result<Option<String>, RunError> {
        let there: Vec<String> =
            self.session.path_to(Some(target))?.into_iter().map(|entry| entry.id).collect();
        let context = self.context()?;
        let is_left = |message: &&ContextMessage| !there.contains(&message.entry);
        let left: Vec<ContextMessage> = context.messages.iter().filter(is_left).cloned().collect();
        if left.is_empty() {
            self.session.branch(target)?;
            return Ok(Some(String::new()));
        }
        let files = compact::file_lists(&left, FileLists::default());
        let Ok(text) = self.summarise(compact::branch_prompt(&left, instructions)).await? else {
            return Ok(None);
        };
        let summary = join_summaries(Some(&text), None, &files);
        let details = serde_json::to_value(&files).ok();
        self.session.branch_with_summary(Some(target), &summary, details)?;
        Ok(Some(summary))
    }

    /// A new session in a directory that begins with a handover from this one, which stays as it
    /// is. The problem, if the model wrote none.
    pub async fn handoff(
        &mut self,
        directory: &Path,
        focus: Option<&str>,
        observer: Observer<'_>,
    ) -> Result<Result<Session, String>, RunError> {
        // The same beginning as the conversation has, so that the vendor's cache is used.
        let mut conversation = self.conversation()?;
        if conversation.len() < 2 {
            return Ok(Err("Nothing to hand off (no messages yet)".to_owned()));
        }
        let focus = focus.map(|focus| format!("\n\nAbove all: {focus}")).unwrap_or_default();
        let mut last = Message::user(format!("{}{focus}", HANDOFF_PROMPT.trim_end()));
        if let Some(mask) = &self.setup.mask {
            mask.hide_in_message(&mut last);
        }
        conversation.push(last);
        let mut request = Request::new(self.candidate()?.model.clone(), conversation);
        request.system.clone_from(&self.setup.system);
        request.tools = self.tools.specs();
        request.tool_choice = ToolChoice::Never;
        request.effort = self.setup.effort;
        request.cache = self.setup.cache;
        request.cache_key = Some(self.session.header().id.clone());
        let document = match self.ask(request, observer).await? {
            Asked::Answer(mut answer) => {
                self.count(&mut answer);
                answer.text()
            }
            Asked::Interrupted(_) => return Ok(Err("Handoff cancelled".to_owned())),
            Asked::Overflow(failure) | Asked::Failed(failure) => {
                return Ok(Err(format!("Handoff failed: {}", failure.message)));
            }
        };
        if document.trim().is_empty() {
            return Ok(Err("Handoff failed: the model wrote nothing".to_owned()));
        }
        let header = self.session.header();
        let mut session = Session::create(directory, &header.cwd, Some(header.id.clone()))?;
        session.append(EntryKind::CustomMessage {
            custom_type: "handoff".to_owned(),
            content: Content::Text(handoff_message(&document)),
            display: true,
            details: None,
            attribution: "agent".to_owned(),
        })?;
        Ok(Ok(session))
    }
}
