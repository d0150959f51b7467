//! A question of the model, with options to choose from.

use std::time::{Duration, Instant};

use tokio::sync::oneshot::Sender;
use umbo_agent::{Chosen, UserQuestion};

use super::keys::Key;
use super::lines::{Line, Look};

/// The questions of one call, while they are answered.
pub(super) struct Choice {
    questions: Vec<UserQuestion>,
    /// What was chosen so far, question by question.
    chosen: Vec<Chosen>,
    /// The question that is shown.
    at: usize,
    /// The option under the cursor; behind the last is the person's own answer.
    cursor: usize,
    /// The person types an answer of their own, and this was typed before.
    pub(super) draft: Option<String>,
    /// When the recommended options are taken, unless the person begins to choose.
    pub(super) deadline: Option<Instant>,
    answer: Sender<Option<Vec<Chosen>>>,
}

/// What a key did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// Something that is shown.
    Shown,
    /// The person wants to type.
    WantsText,
    /// All is answered, or the person does not want to.
    Over(Option<Vec<Chosen>>),
}

impl Choice {
    pub(super) fn new(
        questions: Vec<UserQuestion>,
        timeout: Option<Duration>,
        answer: Sender<Option<Vec<Chosen>>>,
    ) -> Self {
        let chosen = vec![Chosen::default(); questions.len()];
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let mut choice =
            Self { questions, chosen, at: 0, cursor: 0, draft: None, deadline, answer };
        choice.show(0);
        choice
    }

    /// Whether nobody waits for the answer any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    pub(super) fn answer(self, chosen: Option<Vec<Chosen>>) {
        // Whoever asked may be gone.
        let _ = self.answer.send(chosen);
    }

    /// What is taken when nobody answers in time.
    pub(super) fn defaults(&self) -> Vec<Chosen> {
        self.questions.iter().map(UserQuestion::default_choice).collect()
    }

    fn show(&mut self, at: usize) {
        self.at = at;
        self.cursor = self.questions[at].recommended.filter(|&at| at < self.options()).unwrap_or(0);
    }

    fn options(&self) -> usize {
        self.questions[self.at].options.len()
    }

    pub(super) fn press(&mut self, key: &Key) -> Pressed {
        self.deadline = None;
        let last = self.options();
        let is_multi = self.questions[self.at].multi;
        match key {
            Key::Up => self.cursor = self.cursor.checked_sub(1).unwrap_or(last),
            Key::Down | Key::Tab => {
                self.cursor = if self.cursor == last { 0 } else { self.cursor + 1 }
            }
            Key::Left if self.at > 0 => self.show(self.at - 1),
            Key::Right if self.at + 1 < self.questions.len() => self.show(self.at + 1),
            Key::Escape | Key::Ctrl('c') => return Pressed::Over(None),
            Key::Char(' ') if is_multi && self.cursor < last => self.toggle(),
            Key::Char(digit @ '1'..='9') => {
                let wanted = (*digit as usize) - ('1' as usize);
                if wanted <= last {
                    self.cursor = wanted;
                    return self.take(is_multi);
                }
            }
            Key::Enter => return self.take(false),
            _ => {}
        }
        Pressed::Shown
    }

    /// Takes the option under the cursor, or only marks it.
    fn take(&mut self, marks: bool) -> Pressed {
        let question = &self.questions[self.at];
        let Some(option) = question.options.get(self.cursor).cloned() else {
            return Pressed::WantsText;
        };
        if marks {
            self.toggle();
            return Pressed::Shown;
        }
        let chosen = &mut self.chosen[self.at];
        if !question.multi {
            *chosen = Chosen { options: vec![option], text: None };
        } else if chosen.options.is_empty() {
            chosen.options.push(option);
        }
        self.go_on()
    }

    fn toggle(&mut self) {
        let option = self.questions[self.at].options[self.cursor].clone();
        let options = &mut self.chosen[self.at].options;
        match options.iter().position(|known| *known == option) {
            Some(at) => drop(options.remove(at)),
            None => options.push(option),
        }
    }

    /// What the person typed is the answer, beside what was marked.
    pub(super) fn take_text(&mut self, text: String) -> Pressed {
        let is_multi = self.questions[self.at].multi;
        let chosen = &mut self.chosen[self.at];
        if !is_multi {
            chosen.options.clear();
        }
        chosen.text = Some(text);
        self.go_on()
    }

    /// On to the next question without an answer.
    fn go_on(&mut self) -> Pressed {
        let is_open = |chosen: &Chosen| *chosen == Chosen::default();
        let behind = self.chosen[self.at..].iter().position(is_open).map(|more| self.at + more);
        match behind.or_else(|| self.chosen.iter().position(is_open)) {
            Some(at) => {
                self.show(at);
                Pressed::Shown
            }
            None => Pressed::Over(Some(self.chosen.clone())),
        }
    }

    /// What is drawn.
    pub(super) fn lines(&self) -> Vec<Line> {
        let question = &self.questions[self.at];
        let mut title = question.question.clone();
        if self.questions.len() > 1 {
            title = format!("{title} ({} of {})", self.at + 1, self.questions.len());
        }
        let mut lines: Vec<Line> = title.lines().map(|line| Line::new(Look::Bold, line)).collect();
        if self.draft.is_some() {
            lines
                .push(Line::new(Look::Accent, "type your answer · enter gives it · esc goes back"));
            return lines;
        }
        let others = ["Other (type your own)".to_owned()];
        for (at, option) in question.options.iter().chain(&others).enumerate() {
            let mark = if at == self.cursor { "> " } else { "  " };
            let is_marked = self.chosen[self.at].options.contains(option);
            let marked = match (question.multi && at < question.options.len(), is_marked) {
                (true, true) => "[x] ",
                (true, false) => "[ ] ",
                _ => "",
            };
            let hint = if question.recommended == Some(at) { " (Recommended)" } else { "" };
            let look = if at == self.cursor { Look::Accent } else { Look::Plain };
            lines.push(Line::new(look, format!("{mark}{} {marked}{option}{hint}", at + 1)));
        }
        let mut keys = String::from(if question.multi {
            "space or a number marks · enter takes them"
        } else {
            "enter or a number takes one"
        });
        if self.questions.len() > 1 {
            keys.push_str(" · left, right: other questions");
        }
        keys.push_str(" · esc: no answer");
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now()).as_secs();
            keys = format!("{keys} · in {left} s the first choice is taken; any key stops that");
        }
        lines.push(Line::new(Look::Dim, keys));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str, multi: bool) -> UserQuestion {
        let options = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
        UserQuestion { id: id.into(), question: id.into(), options, multi, recommended: Some(1) }
    }

    fn chosen(options: &[&str], text: Option<&str>) -> Chosen {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        Chosen { options, text: text.map(str::to_owned) }
    }

    fn choice(questions: Vec<UserQuestion>) -> Choice {
        Choice::new(questions, None, tokio::sync::oneshot::channel().0)
    }

    #[test]
    fn enter_takes_what_is_recommended_and_numbers_take_others() {
        let enter = choice(vec![question("one", false)]).press(&Key::Enter);
        assert_eq!(enter, Pressed::Over(Some(vec![chosen(&["b"], None)])));
        let number = choice(vec![question("one", false)]).press(&Key::Char('3'));
        assert_eq!(number, Pressed::Over(Some(vec![chosen(&["c"], None)])));
        let mut other = choice(vec![question("one", false)]);
        assert_eq!(other.press(&Key::Char('4')), Pressed::WantsText);
        let typed = other.take_text("d".to_owned());
        assert_eq!(typed, Pressed::Over(Some(vec![chosen(&[], Some("d"))])));
        assert_eq!(choice(vec![question("one", false)]).press(&Key::Escape), Pressed::Over(None));
    }

    #[test]
    fn several_are_marked_in_the_order_of_marking_and_questions_can_be_revisited() {
        let mut both = choice(vec![question("one", true), question("two", false)]);
        for key in [Key::Char('3'), Key::Char('1'), Key::Char('2'), Key::Char('2')] {
            assert_eq!(both.press(&key), Pressed::Shown);
        }
        assert_eq!(both.press(&Key::Right), Pressed::Shown);
        assert_eq!(both.press(&Key::Left), Pressed::Shown);
        assert_eq!(both.press(&Key::Enter), Pressed::Shown, "the second is open");
        let over = both.press(&Key::Char('1'));
        assert_eq!(
            over,
            Pressed::Over(Some(vec![chosen(&["c", "a"], None), chosen(&["a"], None)]))
        );
    }

    #[test]
    fn a_question_without_options_is_typed() {
        let mut open = question("one", false);
        open.options.clear();
        let mut choice = choice(vec![open]);
        assert_eq!(choice.defaults(), [Chosen::default()]);
        assert_eq!(choice.press(&Key::Enter), Pressed::WantsText);
    }
}
