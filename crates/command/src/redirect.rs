//! Redirections: what they open, and what the line wrote into files that it may run later.

use brush_parser::ast;

use crate::effect::{OVERWRITE, READ, SECRET};
use crate::path;
use crate::walk::{Input, Walk};
use crate::word::{Word, heredoc_text};

impl Walk {
    /// Notes the text of files that a command writes by redirection, so that it is known when they are
    /// run.
    pub(crate) fn remember_written(&mut self, simple: &ast::SimpleCommand) {
        use ast::IoFileRedirectKind as K;
        let items = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let items = items.chain(simple.suffix.iter().flat_map(|suffix| &suffix.0));
        let redirects: Vec<&ast::IoRedirect> = items
            .filter_map(|item| match item {
                ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => Some(redirect),
                _ => None,
            })
            .collect();
        self.printing = None;
        if redirects.is_empty() {
            return;
        }
        let printed = self.output_of_simple(simple);
        if let Input::Text(text) | Input::Likely(text) = &printed {
            for redirect in redirects {
                let ast::IoRedirect::File(_, kind @ (K::Write | K::Append | K::Clobber), target) =
                    redirect
                else {
                    continue;
                };
                if let ast::IoFileRedirectTarget::Filename(raw) = target {
                    let name = self.shallow_word(&raw.value);
                    self.files.write(&name, text, matches!(kind, K::Append));
                }
            }
        }
        self.printing = Some(printed);
    }

    pub(crate) fn redirects(&mut self, redirects: Option<&ast::RedirectList>) {
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect);
        }
    }

    pub(crate) fn redirect(&mut self, redirect: &ast::IoRedirect) {
        match redirect {
            ast::IoRedirect::File(_, kind, target) => self.file_redirect(kind, target),
            ast::IoRedirect::OutputAndError(raw, _) => {
                let word = self.word(&raw.value);
                self.written(&word, "&>");
            }
            ast::IoRedirect::HereString(_, raw) => {
                let word = self.word(&raw.value);
                self.input = match word.guess.clone().or_else(|| word.exact().map(str::to_owned)) {
                    Some(text) => Input::Text(text),
                    None => Input::Likely(word.text),
                };
            }
            ast::IoRedirect::HereDocument(_, document) => {
                let quoted = !document.requires_expansion;
                let text = &document.doc.value;
                self.input = if quoted || self.heredoc(text) {
                    Input::Text(text.clone())
                } else {
                    Input::Likely(heredoc_text(text))
                };
            }
        }
    }

    pub(crate) fn file_redirect(
        &mut self,
        kind: &ast::IoFileRedirectKind,
        target: &ast::IoFileRedirectTarget,
    ) {
        use ast::IoFileRedirectKind as K;
        use ast::IoFileRedirectTarget as T;
        match (kind, target) {
            (_, T::ProcessSubstitution(kind, subshell)) => {
                let writes = matches!(kind, ast::ProcessSubstitutionKind::Write);
                let fed = writes.then(|| self.printing.take().unwrap_or(Input::Other));
                self.process(subshell, fed);
                if !writes {
                    self.input = Input::Other;
                }
            }
            (_, T::Fd(_)) => {}
            (K::DuplicateInput | K::DuplicateOutput, T::Duplicate(raw)) => {
                let word = self.word(&raw.value);
                let number = word.text.strip_suffix('-').unwrap_or(&word.text);
                let is_fd = word.literal && number.bytes().all(|b| b.is_ascii_digit());
                if !is_fd {
                    self.written(&word, ">&");
                }
            }
            (K::Read, T::Filename(raw)) => {
                let word = self.word(&raw.value);
                let empty = word.exact() == Some("/dev/null");
                self.input = if empty { Input::Text(String::new()) } else { Input::Other };
                if word.text.starts_with("/dev/tcp/") || word.text.starts_with("/dev/udp/") {
                    self.find(crate::effect::LISTEN, "<", "< /dev/tcp");
                } else if self.is_secret(word.likely())
                    || crate::path::holds_everything(word.likely())
                {
                    self.find_at(SECRET, "<", format!("< {}", word.text), Some(word.text.clone()));
                } else {
                    self.find_at(READ, "<", "<", word.path().map(str::to_owned));
                }
            }
            (_, T::Filename(raw) | T::Duplicate(raw)) => {
                let word = self.word(&raw.value);
                self.written(&word, ">");
            }
        }
    }

    /// A file is opened for writing by redirection.
    pub(crate) fn written(&mut self, word: &Word, operator: &str) {
        if word.literal && path::is_harmless_device(&word.text) {
            return;
        }
        let does = self.danger_of_writing(word.likely()).unwrap_or(OVERWRITE);
        let what = format!("{operator} {}", word.text);
        self.find_path(does, operator, what, word);
    }
}
