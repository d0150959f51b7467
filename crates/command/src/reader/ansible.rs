//! `ansible`: work on other machines, and questions about it.

use crate::effect::RUN;
use crate::row::Row;
use crate::walk::Walk;
use crate::word::Word;

impl Walk {
    /// `ansible-playbook site.yml --list-hosts`: nothing is done, but code of the project says to whom.
    pub(super) fn ansible(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        const ASKS: [&str; 4] = ["--list-hosts", "--list-tasks", "--list-tags", "--syntax-check"];
        let asks = args.iter().find(|word| word.exact().is_some_and(|text| ASKS.contains(&text)));
        match asks.filter(|_| args.iter().all(|word| word.literal)) {
            Some(option) => self.find(RUN, name, format!("{name} {}", option.text)),
            None => self.plain(row, name, args),
        }
    }
}
