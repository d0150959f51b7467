//! JSON, and JSON as editors write it (comments, trailing commas). A hand-written reader,
//! because the tree needs the line of every key and a manifest of many megabytes must stay cheap.

use super::{Broken, Entry, MAX_DEPTH, Node, Value};

/// How strictly to read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Grammar {
    Strict,
    Relaxed,
}

pub(super) fn parse(text: &str, grammar: Grammar) -> Result<Node, Broken> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, line: 1, grammar };
    let node = reader.value(0)?;
    reader.blank()?;
    if reader.at < reader.bytes.len() {
        return Err(reader.broken("there is more text after the value"));
    }
    Ok(node)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: usize,
    grammar: Grammar,
}

impl Reader<'_> {
    fn broken(&self, message: &str) -> Broken {
        Broken { line: Some(self.line), message: message.to_owned() }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips white space, and comments where they are allowed.
    fn blank(&mut self) -> Result<(), Broken> {
        loop {
            match self.peek() {
                Some(b'\n') => {
                    self.line += 1;
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'/') if self.grammar == Grammar::Relaxed => self.comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> Result<(), Broken> {
        let rest = &self.text[self.at..];
        if rest.starts_with("//") {
            self.at += rest.find('\n').unwrap_or(rest.len());
            return Ok(());
        }
        let end = rest.strip_prefix("/*").and_then(|inner| inner.find("*/"));
        let Some(end) = end else {
            return Err(self.broken("a comment is left open"));
        };
        self.line += rest[..end + 4].matches('\n').count();
        self.at += end + 4;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node, Broken> {
        self.blank()?;
        if depth > MAX_DEPTH {
            return Err(self.broken("nested too deeply"));
        }
        let line = self.line;
        let value = match self.peek() {
            Some(b'{') => self.map(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(_) => self.word()?,
            None => return Err(self.broken("the text ends where a value should be")),
        };
        Ok(Node { line, value })
    }

    fn word(&mut self) -> Result<Value, Broken> {
        let rest = &self.text[self.at..];
        let words =
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)];
        for (word, value) in words {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.broken("a value should be here"))
    }

    fn number(&mut self) -> Result<Value, Broken> {
        let rest = &self.bytes[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        let text = &self.text[self.at..self.at + length];
        if text.parse::<f64>().is_err() {
            return Err(self.broken("this is no number"));
        }
        self.at += length;
        Ok(Value::Number(text.to_owned()))
    }

    fn list(&mut self, depth: usize) -> Result<Value, Broken> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blank()?;
            if self.peek() == Some(b']') && (items.is_empty() || self.may_trail()) {
                self.at += 1;
                return Ok(Value::List(items));
            }
            items.push(self.value(depth + 1)?);
            if self.closes(b']')? {
                return Ok(Value::List(items));
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, Broken> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.blank()?;
            if self.peek() == Some(b'}') && (entries.is_empty() || self.may_trail()) {
                self.at += 1;
                return Ok(Value::Map(entries));
            }
            let line = self.line;
            if self.peek() != Some(b'"') {
                return Err(self.broken("a quoted key should be here"));
            }
            let key = self.string()?;
            self.blank()?;
            if self.peek() != Some(b':') {
                return Err(self.broken("a `:` should follow the key"));
            }
            self.at += 1;
            let node = self.value(depth + 1)?;
            entries.push(Entry { key, line, node });
            if self.closes(b'}')? {
                return Ok(Value::Map(entries));
            }
        }
    }

    fn may_trail(&self) -> bool {
        self.grammar == Grammar::Relaxed
    }

    /// After an item: true at the closing bracket, false after a comma.
    fn closes(&mut self, bracket: u8) -> Result<bool, Broken> {
        self.blank()?;
        match self.peek() {
            Some(byte) if byte == bracket => {
                self.at += 1;
                Ok(true)
            }
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.broken(&format!("a `,` or `{}` should be here", char::from(bracket)))),
        }
    }

    fn string(&mut self) -> Result<String, Broken> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.bytes[self.at..];
            let is_special = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < 0x20;
            let Some(length) = rest.iter().position(is_special) else {
                return Err(self.broken("a string is left open"));
            };
            out.push_str(&self.text[self.at..self.at + length]);
            self.at += length;
            match rest[length] {
                b'"' => {
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => out.push(self.escape()?),
                _ => return Err(self.broken("a string holds a bare control character")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Broken> {
        self.at += 1;
        let c = self.peek();
        self.at += 1;
        match c {
            Some(b'n') => Ok('\n'),
            Some(b't') => Ok('\t'),
            Some(b'r') => Ok('\r'),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{c}'),
            Some(byte @ (b'"' | b'\\' | b'/')) => Ok(char::from(byte)),
            Some(b'u') => self.unicode(),
            _ => Err(self.broken("an unknown escape in a string")),
        }
    }

    fn unicode(&mut self) -> Result<char, Broken> {
        let high = self.four_hex()?;
        if !(0xD800..0xDC00).contains(&high) {
            // A lone half cannot be text; the replacement keeps the rest readable.
            return Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if !self.text[self.at..].starts_with("\\u") {
            return Ok(char::REPLACEMENT_CHARACTER);
        }
        self.at += 2;
        let low = self.four_hex()?;
        let joined = 0x1_0000 + ((high - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF);
        Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_hex(&mut self) -> Result<u32, Broken> {
        let digits =
            self.bytes.get(self.at..self.at + 4).filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else {
            return Err(self.broken("`\\u` needs four hexadecimal digits"));
        };
        self.at += 4;
        Ok(digits
            .iter()
            .fold(0, |sum, digit| sum * 16 + char::from(*digit).to_digit(16).unwrap_or(0)))
    }
}

/// The same check the standard reader makes, used by the tests as the judge.
#[cfg(test)]
fn judge(text: &str) -> Option<usize> {
    serde_json::from_str::<serde_json::Value>(text).err().map(|error| error.line())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_know_their_line() {
        let node =
            parse("{\n \"a\": 1,\n\n \"b\": {\"c\": [true,\nnull]}}", Grammar::Strict).unwrap();
        assert_eq!(node.entries()[1].line, 4);
        assert_eq!(node.at(&["b", "c"]).unwrap().list()[1].line, 5);
    }

    #[test]
    fn strict_reading_agrees_with_serde_json() {
        let good = [
            "{}",
            "[]",
            "[1,2]",
            "\"\\u00e9\\ud83d\\ude00\\n\"",
            "-1.5e3",
            " null ",
            "{\"a\":{}}",
            "[[[]]]",
            "\"/\\/\"",
        ];
        for text in good {
            assert!(judge(text).is_none(), "{text}");
            assert!(parse(text, Grammar::Strict).is_ok(), "{text}");
        }
        let bad = [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "[1 2]",
            "\"\n\"",
            "nul",
            "1 2",
            "// x\n1",
            "{\"a\"}",
            "\"\\x\"",
            "\"\\u12g4\"",
            "{\n\"a\": 1\n\"b\": 2}",
        ];
        for text in bad {
            let line = judge(text).expect(text);
            let broken = parse(text, Grammar::Strict).expect_err(text);
            assert!(broken.line.unwrap().abs_diff(line) <= 1, "{text}: {broken:?} against {line}");
        }
    }

    #[test]
    fn text_escapes_decode_as_serde_json_decodes_them() {
        let text = r#""a\"\\\/\b\f\n\r\t\u0041\ud83d\ude00é""#;
        let expected: String = serde_json::from_str(text).unwrap();
        assert_eq!(parse(text, Grammar::Strict).unwrap().text(), Some(expected.as_str()));
    }

    #[test]
    fn relaxed_reading_takes_comments_and_trailing_commas() {
        let text = "// head\n{ /* a\nb */ \"url\": \"http://x//y\", \"l\": [1,2,], }\n// tail";
        let node = parse(text, Grammar::Relaxed).unwrap();
        assert_eq!(node.text_at(&["url"]), Some("http://x//y"));
        assert_eq!(node.entries()[0].line, 3);
    }

    #[test]
    fn depth_is_bounded() {
        let broken = parse(&"[".repeat(1_000_000), Grammar::Strict).unwrap_err();
        assert_eq!(broken.message, "nested too deeply");
    }
}
