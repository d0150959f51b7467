//! `umbo agent` in a terminal: inline, below what is there, with the terminal's own scrollback.
//!
//! The agent works in a task of its own ([`worker`]); this thread hears keys and events, one after
//! the other, and draws ([`view`], [`screen`]). Enter says something now, also while the agent works;
//! ctrl-enter or alt-enter says it when the agent is done; esc interrupts. What was typed is kept
//! until it is delivered, also if this process is killed.

mod choice;
mod complete;
mod editor;
mod keys;
mod lines;
mod screen;
mod view;
mod worker;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGWINCH;
use signal_hook::iterator::Signals;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use umbo_agent::{
    AgentMessage, AskOutcome, AskRequest, Asker, BoxFuture, Delivery, Queues, show_todos,
};
use umbo_gate::{Covers, Lasts, Question, Reply, UsableBy};
use umbo_tools::Approver;

use self::choice::{Choice, Pressed};
use self::editor::Editor;
use self::keys::{Key, Keys};
use self::screen::Screen;
use self::view::View;
use self::worker::{Event, Order, Worker};
use super::runtime;
use super::setup::Prepared;
use crate::args::Agent as Words;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::{Raw, typed};
use crate::{gate, log, sessions};

/// How often a countdown is shown anew.
const COUNTDOWN_INTERVAL: Duration = Duration::from_millis(200);
/// As many texts are kept of what was typed.
const MOST_HISTORY: usize = 1000;
const HELP: &str = "\
enter      say it, also while the agent works: it is heard between two calls
alt-enter  say it when the agent is done; in many terminals ctrl-enter too
ctrl-j     a new line
esc        interrupt; what waited to be said is there to be typed on
ctrl-t     show thinking, or fold it
up, down   history; ctrl-r searches in it
tab        complete a path or a command
ctrl-c     clear what is typed, or interrupt; twice to leave, as ctrl-d does
/model [VENDOR/NAME]  /compact [what matters]  /handoff [focus]
/tree  /branch [ENTRY]  /undo  /new  /todo  /mcp  /jobs  /cost  /quit  /help";

/// Asks the person, from the thread of a call.
struct AskHere(Mutex<Sender<Event>>);

impl Approver for AskHere {
    fn ask(&self, question: &Question) -> Option<(Reply, String)> {
        let (sender, answer) = mpsc::channel();
        let asked = Event::Asked(Box::new(question.clone()), sender);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).send(asked).ok()?;
        Some((answer.recv().ok()??, gate::person()))
    }
}

impl Asker for AskHere {
    fn ask(self: Arc<Self>, request: AskRequest) -> BoxFuture<AskOutcome> {
        let (sender, answer) = oneshot::channel();
        let choice = Choice::new(request.questions, request.timeout, sender);
        let asked = Event::Choice(Box::new(choice));
        // Where nobody hears it, nobody answers.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).send(asked);
        Box::pin(async move { answer.await.ok().flatten().into() })
    }
}

pub(super) fn run(context: &Context, words: &Words) -> Result<ExitCode, Failure> {
    log::start(None)?;
    let (events, heard) = mpsc::channel();
    let approver = Arc::new(AskHere(Mutex::new(events.clone())));
    let mut prepared = Prepared::new(context, words, Some(Arc::clone(&approver) as _))?;
    prepared.set_asker(approver);
    let notes = events.clone();
    prepared.notices.show_with(move |text| drop(notes.send(Event::Note(vec![text.to_owned()]))));
    let kept = Kept::new(context, &prepared)?;
    let (orders, taken) = unbounded_channel();
    let mut view = View::default();
    greet(&mut view, &prepared);
    let queues = prepared.agent.queues();
    let worker = Worker { prepared, context: context.clone(), events: events.clone() };
    let runtime = runtime()?;
    let _raw = Raw::enter()?;
    let screen = Screen::open(std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()))?;
    let task = runtime.spawn(worker.work(taken));
    tell_resizes(events.clone())?;
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            let bytes = typed(&mut buffer).to_vec();
            let is_over = bytes.is_empty();
            if events.send(Event::Typed(bytes)).is_err() || is_over {
                return;
            }
        }
    });
    let editor = Editor::new(kept.history(), kept.draft());
    let mut front = Front {
        view,
        editor,
        keys: Keys::default(),
        screen,
        queues,
        orders: Some(orders),
        answers: Vec::new(),
        kept,
        wants_out: false,
    };
    let shown = front.show(&heard);
    front.screen.close()?;
    front.queues.interrupt();
    front.orders = None;
    front.answers.clear();
    let _ = runtime.block_on(task);
    runtime.shutdown_background();
    shown?;
    Ok(ExitCode::SUCCESS)
}

/// Tells whenever the terminal has another size.
fn tell_resizes(events: Sender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGWINCH])?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if events.send(Event::Resized).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// What the person should know at the beginning.
fn greet(view: &mut View, prepared: &Prepared) {
    view.note(&format!("umbo agent · {} · tools `{}` · /help", prepared.model, prepared.dialect));
    for file in &prepared.context_files {
        view.note(&format!("told to the model: {}", file.display()));
    }
    let session = prepared.agent.session();
    for damage in session.damage() {
        view.note(&format!("line {} of the session cannot be read: {}", damage.line, damage.what));
    }
    // Of a session that goes on, what was said last.
    let path = session.path_to(None).unwrap_or_default();
    let messages: Vec<AgentMessage> =
        path.iter().filter_map(|entry| entry.kind.message()).collect();
    let start = messages
        .iter()
        .rposition(|message| matches!(message, AgentMessage::User(_)))
        .unwrap_or(messages.len());
    for message in &messages[start..] {
        view.replay(message);
    }
}

/// The person's side.
struct Front {
    view: View,
    editor: Editor,
    keys: Keys,
    screen: Screen,
    queues: Arc<Queues>,
    orders: Option<UnboundedSender<Order>>,
    /// Where answers to questions go, in the order of the questions.
    answers: Vec<Sender<Option<Reply>>>,
    kept: Kept,
    wants_out: bool,
}

impl Front {
    /// Hears and draws until the person leaves.
    fn show(&mut self, heard: &Receiver<Event>) -> Result<(), Failure> {
        loop {
            self.view.queued = self.queues.len();
            let live = self.view.live(&self.editor, self.screen.size());
            let finished = std::mem::take(&mut self.view.finished);
            self.screen.draw(&finished, &live)?;
            let event = if self.view.has_countdown() {
                heard.recv_timeout(COUNTDOWN_INTERVAL)
            } else {
                heard.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            let event = match event {
                Ok(event) => Some(event),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            // All that is there makes one frame.
            for event in event.into_iter().chain(heard.try_iter()) {
                if self.take(event) {
                    return Ok(());
                }
            }
            self.screen.has_resized();
            self.drop_choices();
        }
    }

    /// Answers questions that nobody answered in time, and takes away those that nobody waits for.
    fn drop_choices(&mut self) {
        let is_late = |choice: &Choice| choice.deadline.is_some_and(|late| late <= Instant::now());
        while let Some(first) = self.view.choices.front() {
            if !first.is_abandoned() && !is_late(first) {
                return;
            }
            let Some(choice) = self.view.choices.pop_front() else { return };
            if let Some(draft) = &choice.draft {
                self.editor.give_back(draft);
            }
            if !choice.is_abandoned() {
                let defaults = choice.defaults();
                choice.answer(Some(defaults));
            }
        }
    }

    /// Answers the question of the model that is shown.
    fn choose(&mut self, key: &Key) {
        let Some(choice) = self.view.choices.front_mut() else { return };
        let pressed = match (key, &choice.draft) {
            (Key::Enter, Some(_)) if self.editor.text().trim().is_empty() => return,
            (Key::Enter, Some(_)) => {
                let text = self.editor.take();
                if let Some(draft) = choice.draft.take() {
                    self.editor.give_back(&draft);
                }
                choice.take_text(text)
            }
            (Key::Escape, Some(_)) => {
                drop(self.editor.take());
                if let Some(draft) = choice.draft.take() {
                    self.editor.give_back(&draft);
                }
                return;
            }
            (key, Some(_)) => {
                self.editor.press(key);
                return;
            }
            (key, None) => choice.press(key),
        };
        match pressed {
            Pressed::Shown => {}
            Pressed::WantsText => choice.draft = Some(self.editor.take()),
            Pressed::Over(chosen) => {
                if let Some(choice) = self.view.choices.pop_front() {
                    choice.answer(chosen);
                }
            }
        }
    }

    /// Whether the person leaves.
    fn take(&mut self, event: Event) -> bool {
        match event {
            Event::Typed(bytes) if bytes.is_empty() => return true,
            Event::Typed(bytes) => {
                for key in self.keys.feed(&bytes) {
                    if self.press(&key) {
                        return true;
                    }
                }
                self.kept.keep_draft(self.editor.text());
            }
            // How large it is now is looked at with the next frame.
            Event::Resized => {}
            Event::Agent(event) => self.view.take(&event),
            Event::Note(lines) => self.view.note(&lines.join("\n")),
            Event::GiveBack(text) => self.editor.give_back(&text),
            Event::Asked(question, answer) => {
                self.view.questions.push_back(*question);
                self.answers.push(answer);
            }
            Event::Choice(choice) => self.view.choices.push_back(*choice),
            Event::Idle(standing) => {
                self.view.is_busy = false;
                self.view.todos.clone_from(&standing.todos);
                self.view.standing = standing;
            }
        }
        false
    }

    fn press(&mut self, key: &Key) -> bool {
        self.view.hint(None);
        if !matches!(key, Key::Ctrl('c')) {
            self.wants_out = false;
        }
        if !self.view.questions.is_empty() && self.decide(key) {
            return false;
        }
        if self.view.questions.is_empty() && !self.view.choices.is_empty() {
            self.choose(key);
            return false;
        }
        if self.editor.search().is_some() && self.editor.press(key) {
            return false;
        }
        match key {
            Key::Enter => return self.submit(Delivery::Steer),
            Key::Queue => return self.submit(Delivery::FollowUp),
            Key::Escape => self.interrupt(),
            Key::Tab => self.complete(),
            Key::Ctrl('t') => {
                self.view.shows_thinking = !self.view.shows_thinking;
                let word = if self.view.shows_thinking { "shown" } else { "folded" };
                self.view.hint(Some(format!("thinking is {word} from now on")));
            }
            Key::Ctrl('d') if self.editor.text().is_empty() => return true,
            Key::Ctrl('c') => return self.clear_or_leave(),
            key => drop(self.editor.press(key)),
        }
        false
    }

    /// Answers the question that is shown; whether the key did.
    fn decide(&mut self, key: &Key) -> bool {
        let reply = match key {
            Key::Char('y') => Some(Reply::Approve {
                covers: Covers::Command,
                lasts: Lasts::Once,
                usable_by: UsableBy::Asker,
            }),
            Key::Char('a') => Some(Reply::Approve {
                covers: Covers::Prefix,
                lasts: Lasts::Run,
                usable_by: UsableBy::Asker,
            }),
            Key::Char('n') => Some(Reply::Deny { reason: "the user said no".to_owned() }),
            Key::Escape | Key::Ctrl('c') => None,
            // Nothing else is typed while somebody waits for an answer.
            _ => return true,
        };
        let covers_prefix = self
            .view
            .questions
            .front()
            .is_some_and(|question| question.run.is_some() && !question.prefixes.is_empty());
        if matches!(key, Key::Char('a')) && !covers_prefix {
            return true;
        }
        self.view.questions.pop_front();
        let _ = self.answers.remove(0).send(reply);
        matches!(key, Key::Char(_))
    }

    /// Delivers what was typed; whether the person leaves.
    fn submit(&mut self, delivery: Delivery) -> bool {
        if self.editor.text().trim().is_empty() {
            return false;
        }
        let text = self.editor.take();
        self.kept.remember(&text);
        if let Some(words) = text.strip_prefix('/')
            && !words.starts_with('/')
            && !words.split_whitespace().next().unwrap_or_default().contains('/')
        {
            return self.command(words, &text);
        }
        if self.view.is_busy {
            self.queues.push_text(delivery, &text);
        } else {
            self.queues.announce_run();
            self.order(Order::Prompt(text));
        }
        false
    }

    fn order(&mut self, order: Order) {
        self.view.is_busy = true;
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
    }

    /// A command of umbo's own; whether the person leaves.
    fn command(&mut self, words: &str, text: &str) -> bool {
        let (name, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let rest = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
        let order = match name {
            "help" => {
                self.view.note(HELP);
                return false;
            }
            "quit" | "exit" => return true,
            "model" => Order::Model(rest),
            "compact" => Order::Compact(rest),
            "handoff" => Order::Handoff(rest),
            "tree" => Order::Tree,
            "branch" => Order::Branch(rest),
            "undo" => Order::Undo,
            "todo" => {
                self.view.note(&show_todos(&self.view.todos.clone()));
                return false;
            }
            "mcp" => Order::Mcp,
            "jobs" => Order::Jobs,
            "cost" => Order::Cost,
            "new" => Order::New,
            _ => {
                self.view.hint(Some(format!("there is no /{name}; /help lists what there is")));
                self.editor.give_back(text);
                return false;
            }
        };
        if self.view.is_busy {
            self.view.hint(Some(format!("/{name} waits until the agent is done, or esc first")));
        }
        self.order(order);
        false
    }

    /// Stops the agent; what was not delivered is there to be typed on.
    fn interrupt(&mut self) {
        if !self.view.is_busy {
            return;
        }
        let mut waiting = self.queues.take_back(Delivery::Steer);
        waiting.extend(self.queues.take_back(Delivery::FollowUp));
        self.queues.interrupt();
        let texts: Vec<String> =
            waiting.iter().flatten().filter_map(|part| part.as_text().map(str::to_owned)).collect();
        if !texts.is_empty() {
            self.editor.give_back(&texts.join("\n"));
        }
    }

    fn clear_or_leave(&mut self) -> bool {
        if !self.editor.text().is_empty() {
            let text = self.editor.take();
            self.kept.remember(&text);
            self.view.hint(Some("cleared; up brings it back".to_owned()));
        } else if self.view.is_busy {
            self.interrupt();
        } else if self.wants_out {
            return true;
        } else {
            self.wants_out = true;
            self.view.hint(Some("ctrl-c again leaves".to_owned()));
        }
        false
    }

    fn complete(&mut self) {
        let word = self.editor.word().to_owned();
        let is_first = self.editor.text().starts_with(&word);
        let found = complete::candidates(&word, is_first);
        let common = complete::common(&found);
        if common.len() > word.len() {
            self.editor.complete(&common);
        } else if found.len() > 1 {
            self.view.hint(Some(found.join("  ")));
        }
    }
}

/// What is kept of what was typed, on disk.
struct Kept {
    history: PathBuf,
    draft: PathBuf,
}

impl Kept {
    fn new(context: &Context, prepared: &Prepared) -> Result<Self, Failure> {
        let root = sessions::root(context);
        sessions::make_private(&root)?;
        let id = &prepared.agent.session().header().id;
        Ok(Self { history: root.join("history"), draft: root.join(format!("{id}.draft")) })
    }

    /// Texts that were typed before, the oldest first.
    fn history(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.history).unwrap_or_default();
        let lines: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let start = lines.len().saturating_sub(MOST_HISTORY);
        lines[start..].to_vec()
    }

    fn draft(&self) -> String {
        fs::read_to_string(&self.draft).unwrap_or_default()
    }

    /// What cannot be kept is typed all the same.
    fn keep_draft(&self, text: &str) {
        if text.is_empty() {
            let _ = fs::remove_file(&self.draft);
        } else {
            let _ = fs::write(&self.draft, text);
        }
    }

    fn remember(&self, text: &str) {
        use std::io::Write;

        let line = serde_json::Value::from(text).to_string();
        let file = fs::OpenOptions::new().append(true).create(true).open(&self.history);
        let _ = file.and_then(|mut file| writeln!(file, "{line}"));
    }
}
