//! Judging by the lines of [`crate::table`] for programs that look.

use crate::argv::{self, Options};
use crate::reader::verbs;
use crate::risk::Risk;
use crate::row::Row;
use crate::table;
use crate::walk::Walk;
use crate::word::Word;

impl Walk {
    /// Judges by the line of a program, or of the longest of its sub-commands, that only looks; whether
    /// there is one that knows what is given here.
    pub(crate) fn by_look(&mut self, name: &str, args: &[Word]) -> bool {
        const MOST_SUBS: usize = 4;
        let Some(lines) = table::looks_of(name) else { return false };
        // The name with none, one, two … of the words after it.
        let mut joined = name.to_owned();
        let mut ends = vec![joined.len()];
        for word in args.iter().map_while(Word::exact).take(MOST_SUBS) {
            joined.push(' ');
            joined.push_str(word);
            ends.push(joined.len());
        }
        for (count, end) in ends.into_iter().enumerate().rev() {
            let full = &joined[..end];
            let rest = &args[count..];
            let Some(look) = lines.find(full) else { continue };
            if only_looks(look, full, rest) && !tells_to_act(look, full, rest) {
                self.plain(look, full, rest);
                return true;
            }
        }
        // Options of the program may come before its sub-command.
        let own = table::find_look(name).filter(|look| look.does.risk == Risk::ReadOnly);
        let at = own.and_then(|look| argv::first_operand(look, args)).filter(|at| *at > 0);
        match (own, at) {
            (Some(look), Some(at)) if only_looks(look, name, &args[..at]) => {
                self.by_look(name, &args[at..])
            }
            _ => false,
        }
    }
}

/// Whether the first operand of what looks may be a sub-command that does more.
fn tells_to_act(look: &'static Row, name: &str, args: &[Word]) -> bool {
    let first = argv::first_operand(look, args).and_then(|at| args[at].exact());
    // What is listed or shown is a thing, whatever its name.
    let lists = matches!(name.rsplit(' ').next(), Some("ls" | "list" | "show" | "stat" | "cat"));
    !lists && first.is_some_and(verbs::acts)
}

/// Whether a command is one of those that a row of programs that look knows.
fn only_looks(look: &'static Row, name: &str, args: &[Word]) -> bool {
    let options = Options::of(look, args);
    let most = match look.operands {
        Some((most, _, _)) => most,
        None if look.does.risk == Risk::ReadOnly && table::is_look_parent(name) => 0,
        None => usize::MAX,
    };
    let reads = match look.does.risk {
        Risk::ReadOnly => options.all_listed(look),
        _ => options.softening(look).is_some(),
    };
    reads && options.count() <= most && !options.may_hide_option()
}
