//! JSON with or without comments, edited in its concrete syntax tree: what is not touched is written
//! back as it was.

use jsonc_parser::ast;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::format::{Emptied, Fields, Grammar, Problem, Target};
use super::server::Field;

fn options(grammar: Grammar) -> ParseOptions {
    ParseOptions {
        allow_comments: grammar != Grammar::Strict,
        allow_trailing_commas: grammar == Grammar::Lenient,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn broken(error: &ParseError) -> Problem {
    Problem::at(
        error.line_display(),
        format!("this is not the JSON it should be: {}", error.kind()),
    )
}

pub(super) fn read(text: &str, grammar: Grammar) -> Result<Value, Problem> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options(grammar))
        .map_err(|error| broken(&error))?;
    Ok(parsed.value.map_or(Value::Null, Value::from))
}

pub(super) fn put(
    text: &str,
    grammar: Grammar,
    target: Target<'_>,
    fields: &Fields,
) -> Result<String, Problem> {
    let root = CstRootNode::parse(text, &options(grammar)).map_err(|error| broken(&error))?;
    let object = match root.value() {
        None => root.object_value_or_set(),
        Some(value) => value.as_object().ok_or_else(|| Problem::new("it is not an object"))?,
    };
    let is_line = is_one_line(&object);
    let Some(section) = only(&object, target.section)? else {
        if is_line {
            let member = format!("{{{}}}", member(text, target.name, &inline(text, fields)));
            return splice(text, grammar, &[], &self::member(text, target.section, &member));
        }
        let servers = vec![(target.name.to_owned(), tree(fields))];
        object.append(target.section, CstInputValue::Object(servers));
        return Ok(root.to_string());
    };
    let servers = servers(&section, target)?;
    match only(&servers, target.name)? {
        Some(entry) => update(&entry, target, fields)?,
        None if is_line || is_one_line(&servers) => {
            let member = member(text, target.name, &inline(text, fields));
            return splice(text, grammar, &[target.section], &member);
        }
        None => {
            servers.append(target.name, tree(fields));
        }
    }
    Ok(root.to_string())
}

pub(super) fn remove(
    text: &str,
    grammar: Grammar,
    target: Target<'_>,
    emptied: Emptied,
) -> Result<String, Problem> {
    let root = CstRootNode::parse(text, &options(grammar)).map_err(|error| broken(&error))?;
    let gone = || Problem::new(format!("`{}` is not in `{}`", target.name, target.section));
    let object = root.object_value().ok_or_else(gone)?;
    let section = only(&object, target.section)?.ok_or_else(gone)?;
    let servers = servers(&section, target)?;
    only(&servers, target.name)?.ok_or_else(gone)?.remove();
    // A comment in it is somebody's, whoever made the table.
    let is_empty = servers.properties().is_empty()
        && !servers.children().iter().any(jsonc_parser::cst::CstNode::is_comment);
    if emptied == Emptied::Goes && is_empty {
        section.remove();
    }
    Ok(root.to_string())
}

/// The property of that name, which must not be there twice: programs differ in which one they take.
fn only(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, Problem> {
    let is_named = |property: &CstObjectProp| property.decoded_name().as_deref() == Some(name);
    let mut found = object.properties().into_iter().filter(is_named);
    let first = found.next();
    if found.next().is_some() {
        return Err(Problem::new(format!("it has `{name}` twice")));
    }
    Ok(first)
}

fn servers(section: &CstObjectProp, target: Target<'_>) -> Result<CstObject, Problem> {
    section
        .object_value()
        .ok_or_else(|| Problem::new(format!("`{}` is not an object", target.section)))
}

/// Changes what differs in an entry and nothing else of it.
fn update(entry: &CstObjectProp, target: Target<'_>, fields: &Fields) -> Result<(), Problem> {
    let entry = entry
        .object_value()
        .ok_or_else(|| Problem::new(format!("`{}` is not an object", target.name)))?;
    for (key, field) in fields {
        match only(&entry, key)? {
            Some(property) => {
                if property.to_serde_value() != Some(field.json()) {
                    property.set_value(leaf(field));
                }
            }
            None => {
                entry.append(key, leaf(field));
            }
        }
    }
    Ok(())
}

fn tree(fields: &Fields) -> CstInputValue {
    let members = fields.iter().map(|(key, field)| ((*key).to_owned(), leaf(field)));
    CstInputValue::Object(members.collect())
}

fn leaf(field: &Field) -> CstInputValue {
    match field {
        Field::Text(text) => CstInputValue::String(text.clone()),
        Field::List(items) => {
            CstInputValue::Array(items.iter().cloned().map(CstInputValue::String).collect())
        }
        Field::Flag(flag) => CstInputValue::Bool(*flag),
        Field::Number(number) => CstInputValue::Number(number.to_string()),
    }
}

/// Whether an object has members, all on one line. The tree would break it into several.
fn is_one_line(object: &CstObject) -> bool {
    !object.properties().is_empty() && !object.to_string().contains('\n')
}

/// An entry with its name, as a text with spaces would have it.
pub(super) fn entry(name: &str, fields: &Fields) -> String {
    const SPACED: &str = "\": ";
    member(SPACED, name, &inline(SPACED, fields))
}

/// An entry on one line.
fn inline(text: &str, fields: &Fields) -> String {
    let members = fields.iter().map(|(key, field)| member(text, key, &compact(text, field)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(comma(text)))
}

fn compact(text: &str, field: &Field) -> String {
    match field {
        Field::List(items) => {
            let items = items.iter().map(|item| Value::from(item.as_str()).to_string());
            format!("[{}]", items.collect::<Vec<_>>().join(comma(text)))
        }
        other => other.json().to_string(),
    }
}

fn member(text: &str, key: &str, value: &str) -> String {
    let space = if is_spaced(text) { " " } else { "" };
    format!("{}:{space}{value}", Value::from(key))
}

fn comma(text: &str) -> &'static str {
    if is_spaced(text) { ", " } else { "," }
}

fn is_spaced(text: &str) -> bool {
    text.contains("\": ")
}

/// The text with a member after the last of the object that `path` leads to.
fn splice(text: &str, grammar: Grammar, path: &[&str], member: &str) -> Result<String, Problem> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options(grammar))
        .map_err(|error| broken(&error))?;
    let mut object = parsed.value.as_ref().and_then(ast::Value::as_object);
    for name in path {
        object = object.and_then(|object| object.get_object(name));
    }
    let object = object.ok_or_else(|| Problem::new("it is not an object"))?;
    let (at, comma) = match object.properties.last() {
        Some(last) => (last.range.end, comma(text)),
        None => (object.range.start + 1, ""),
    };
    Ok(format!("{}{comma}{member}{}", &text[..at], &text[at..]))
}
