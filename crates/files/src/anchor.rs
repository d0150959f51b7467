//! Anchors: the number of a line and two letters that stand for its content, as in `41th`.
//!
//! White space at the end of a line does not count, so an anchor survives another line ending. A
//! line without a letter or digit (a brace, an empty line) counts together with its number, so that
//! two of them differ.

/// The anchor of a line; lines are numbered from 1.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(into = "String", try_from = "String")]
pub struct Anchor {
    /// The number of the line.
    pub line: usize,
    hash: [u8; 2],
}

impl schemars::JsonSchema for Anchor {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Anchor".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[1-9][0-9]*[a-z]{2}$"})
    }
}

impl Anchor {
    /// The anchor of this text on this line.
    pub fn new(line: usize, text: &str) -> Self {
        let text = text.trim_end();
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let mut mix = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        text.bytes().for_each(&mut mix);
        if !text.chars().any(char::is_alphanumeric) {
            (line as u64).to_le_bytes().into_iter().for_each(&mut mix);
        }
        hash ^= hash >> 32;
        hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 29;
        let letter = |value: u64| b'a' + u8::try_from(value % 26).unwrap_or_default();
        Self { line, hash: [letter(hash), letter(hash / 26)] }
    }

    /// Reads `41th`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, letters) = text.split_at(digits);
        let line = number.parse().ok().filter(|line| *line > 0 && !number.starts_with('0'))?;
        match letters.as_bytes() {
            [a, b] if a.is_ascii_lowercase() && b.is_ascii_lowercase() => {
                Some(Self { line, hash: [*a, *b] })
            }
            _ => None,
        }
    }

    /// Whether this text on its line has this anchor.
    pub fn fits(&self, text: &str) -> bool {
        Self::new(self.line, text) == *self
    }
}

impl std::fmt::Display for Anchor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b] = self.hash.map(char::from);
        write!(f, "{}{a}{b}", self.line)
    }
}

impl From<Anchor> for String {
    fn from(anchor: Anchor) -> Self {
        anchor.to_string()
    }
}

impl TryFrom<String> for Anchor {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or_else(|| format!("{text:?} is no anchor such as \"41th\""))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_anchor_survives_line_endings_and_tells_braces_apart() {
        assert_eq!(Anchor::new(3, "let a = 1;"), Anchor::new(3, "let a = 1;  \r"));
        assert_ne!(Anchor::new(3, "}"), Anchor::new(4, "}").at(3));
        assert_eq!(Anchor::new(3, "x"), Anchor::new(4, "x").at(3));
    }

    impl Anchor {
        fn at(self, line: usize) -> Self {
            Self { line, ..self }
        }
    }

    #[test]
    fn few_changed_lines_keep_their_letters() {
        let same = (0..10_000)
            .filter(|n| Anchor::new(1, &format!("a{n}")).fits(&format!("a{}", n + 1)))
            .count();
        assert!(same < 40, "{same} of 10000; 15 are to be expected");
    }

    proptest! {
        #[test]
        fn anchors_are_read_as_they_are_written(line in 1usize..1_000_000, text in ".*") {
            let anchor = Anchor::new(line, &text);
            prop_assert_eq!(Anchor::parse(&anchor.to_string()), Some(anchor));
        }
    }
}
