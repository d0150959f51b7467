//! `dc`: calculations, unless the text has a way out.

use crate::argv::Options;
use crate::effect::READ;
use crate::row::Row;
use crate::walk::Walk;
use crate::word::Word;

impl Walk {
    /// `dc -e '2 3 + p'`: a calculator whose language has one way out, `!`, and reads more of it from
    /// files, from its input and with `?`.
    pub(super) fn dc(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let options = Options::of(row, args);
        let texts: Vec<Word> =
            ["-e", "--expression"].iter().flat_map(|it| options.all_values_of(it)).collect();
        let calculates = !texts.is_empty()
            && options.operands.is_empty()
            && options.outside(&Row { rules: &[], ..*row }, "").is_none()
            && !options.has("-f")
            && !options.has("--file")
            && texts.iter().all(|text| text.exact().is_some_and(|it| !it.contains(['!', '?'])));
        self.find(if calculates { READ } else { row.does }, name, name);
    }
}
