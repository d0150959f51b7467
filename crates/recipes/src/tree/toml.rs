//! TOML into the tree, by `toml_edit`, which keeps the span of every key.

use toml_edit::{Document, InlineTable, Item, Key, Table, Value as Toml};

use super::{Broken, Entry, Lines, Node, Value, line_of};

pub(super) fn parse(text: &str) -> Result<Node, Broken> {
    let document = Document::parse(text).map_err(|error| Broken {
        line: error.span().map(|span| line_of(text, span.start)),
        message: error.message().trim().replace('\n', ", "),
    })?;
    let lines = Lines::new(text);
    Ok(Node { line: 1, value: table(&lines, document.as_table()) })
}

fn entry(lines: &Lines, key: &Key, node: Node) -> Entry {
    let line = key.span().map_or(node.line, |span| lines.of(span.start));
    Entry { key: key.get().to_owned(), line, node }
}

fn table(lines: &Lines, table: &Table) -> Value {
    let keyed = table.iter().filter_map(|(name, item)| Some((table.key(name)?, item)));
    Value::Map(keyed.map(|(key, value)| entry(lines, key, item(lines, key, value))).collect())
}

fn inline(lines: &Lines, table: &InlineTable) -> Value {
    let keyed = table.iter().filter_map(|(name, value)| Some((table.key(name)?, value)));
    Value::Map(keyed.map(|(key, inner)| entry(lines, key, value(lines, inner))).collect())
}

fn item(lines: &Lines, key: &Key, item: &Item) -> Node {
    let span = item.span().or_else(|| key.span());
    let line = span.map_or(1, |span| lines.of(span.start));
    match item {
        Item::None => Node { line, value: Value::Null },
        Item::Value(inner) => value(lines, inner),
        Item::Table(inner) => Node { line, value: table(lines, inner) },
        Item::ArrayOfTables(tables) => {
            let node = |inner: &Table| Node {
                line: inner.span().map_or(line, |span| lines.of(span.start)),
                value: table(lines, inner),
            };
            Node { line, value: Value::List(tables.iter().map(node).collect()) }
        }
    }
}

fn value(lines: &Lines, value_: &Toml) -> Node {
    let line = value_.span().map_or(1, |span| lines.of(span.start));
    let value = match value_ {
        Toml::String(text) => Value::Text(text.value().clone()),
        Toml::Boolean(flag) => Value::Bool(*flag.value()),
        Toml::Integer(number) => Value::Number(number.value().to_string()),
        Toml::Float(number) => Value::Number(number.value().to_string()),
        Toml::Datetime(date) => Value::Number(date.value().to_string()),
        Toml::Array(items) => Value::List(items.iter().map(|item| value(lines, item)).collect()),
        Toml::InlineTable(inner) => inline(lines, inner),
    };
    Node { line, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_know_their_line_in_every_notation() {
        let node =
            parse("a.b = 1\n[t]\nx = 'y'\n[t.u]\nz = { k = [1,\n2] }\n[[v]]\nq = true").unwrap();
        assert_eq!(node.text_at(&["t", "x"]), Some("y"));
        assert_eq!(node.entries_at(&["t"])[0].line, 3);
        assert_eq!(node.entries_at(&["t", "u", "z"])[0].line, 5);
        assert!(node.get("v").unwrap().list()[0].get("q").unwrap().is_true());
    }

    #[test]
    fn a_broken_text_has_its_line() {
        assert_eq!(parse("a = 1\nb = \n").unwrap_err().line, Some(2));
    }
}
