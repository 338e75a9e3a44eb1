//! TOML text as a value for the rules, and where in the text each part of it stands.

use super::faults::{LocatedFault, ReadRule};
use serde_json::Value;
use std::ops::Range;
use taffeta_scene::Fault;
use taffeta_scene::place::{Place, Step};
use toml::de::{DeTable, DeValue};

/// Past so many mistakes the rest is noise, and a hostile text could fill the memory with them.
const MOST_MISTAKES: usize = 50;
/// Texts longer than this have only their first mistake told, lest the list outgrow them.
const LONG_TEXT: usize = 1 << 20;

/// A parsed text, its places kept.
pub(super) struct Tree<'t> {
    root: DeValue<'t>,
    /// What it says. Numbers that are not finite are `null`, and so is what `faults` refuses.
    pub value: Value,
    /// What TOML allows and no scene can hold.
    pub faults: Vec<Fault>,
}

impl<'t> Tree<'t> {
    /// Parses a text, or lists all mistakes in its syntax.
    pub fn parse(text: &'t str) -> Result<Self, Vec<LocatedFault>> {
        // The first attempt keeps one mistake only; a list of them can be much larger than the text.
        let root = match DeTable::parse(text) {
            Ok(root) => root.into_inner(),
            Err(mistake) if text.len() > LONG_TEXT => {
                return Err(vec![syntax_fault(text, &DeTable::new(), &mistake)]);
            }
            Err(_) => {
                let (root, mistakes) = DeTable::parse_recoverable(text);
                let mistakes = mistakes.iter().take(MOST_MISTAKES);
                return Err(mistakes.map(|mistake| syntax_fault(text, root.get_ref(), mistake)).collect());
            }
        };
        let mut faults = Vec::new();
        let root = DeValue::Table(root);
        let value = value(&root, Place::Root, &mut faults);
        Ok(Self { root, value, faults })
    }

    /// The bytes of the value at the end of a path, or of the last part of the path that is there: of its key where
    /// `of_key` asks so, and of the head of a table.
    pub fn span(&self, path: &[Step], of_key: bool) -> Range<usize> {
        let mut span = 0..0;
        let mut value = &self.root;
        for (depth, step) in path.iter().enumerate() {
            let found = match step {
                Step::Key(name) => {
                    let entry = value.as_table().and_then(|table| table.get_key_value(name.as_str()));
                    entry.map(|(key, inner)| (key.span(), inner))
                }
                Step::Item(index) => {
                    value.as_array().and_then(|items| items.get(*index)).map(|item| (item.span(), item))
                }
            };
            let Some((key, inner)) = found else { break };
            span = if of_key && depth + 1 == path.len() { key } else { inner.span() };
            value = inner.get_ref();
        }
        span
    }
}

/// A TOML value written on the command line, or nothing where it is not one.
pub(super) fn parse_value(text: &str) -> Option<(Value, Vec<Fault>)> {
    let parsed = DeValue::parse(text).ok()?;
    let mut faults = Vec::new();
    Some((value(parsed.get_ref(), Place::Root, &mut faults), faults))
}

fn value(toml: &DeValue, place: Place, faults: &mut Vec<Fault>) -> Value {
    match toml {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(truth) => Value::from(*truth),
        // A float that is not finite becomes null.
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::from(number),
            Err(_) if faults.len() >= MOST_MISTAKES => Value::Null,
            Err(_) => {
                let remedy = format!("write a whole number from {} to {}", i64::MIN, i64::MAX);
                faults.push(ReadRule::TooManyDigits.fault(&place.to_string(), number, "", remedy));
                Value::Null
            }
        },
        DeValue::Datetime(_) if faults.len() >= MOST_MISTAKES => Value::Null,
        DeValue::Datetime(moment) => {
            let remedy = "write times as numbers in seconds, text in quotes";
            faults.push(ReadRule::DateTime.fault(&place.to_string(), moment, "", remedy));
            Value::Null
        }
        DeValue::Array(items) => {
            items.iter().enumerate().map(|(i, item)| value(item.get_ref(), place.item(i), faults)).collect()
        }
        DeValue::Table(table) => {
            let entries = table.iter().map(|(key, inner)| {
                (key.get_ref().to_string(), value(inner.get_ref(), place.key(key.get_ref()), faults))
            });
            entries.collect()
        }
    }
}

fn syntax_fault(text: &str, root: &DeTable, mistake: &toml::de::Error) -> LocatedFault {
    let span = mistake.span();
    let found = span.clone().and_then(|span| text.get(span)).unwrap_or_default();
    let start = span.as_ref().map_or(0, |span| span.start);
    let fault = match mistake.message() {
        "duplicate key" => {
            let key = path_of_key(root, found, start, Place::Root).map_or(found.into(), |(_, path)| path);
            ReadRule::WrittenTwice.fault(&key, "", "", "keep one of them")
        }
        "recursion limit" => ReadRule::NotToml.fault(
            "",
            "",
            ": tables and lists nested too deeply",
            "no scene has need of so many",
        ),
        message if message.starts_with("string values must be quoted") && found.is_empty() => {
            ReadRule::NoValue.fault("", "", "", "write a value after the `=`, or take the key out")
        }
        message => {
            let message = message.trim_end_matches(", expected nothing");
            let remedy = "see https://toml.io for what may stand here";
            ReadRule::NotToml.fault("", found, &format!(": {message}"), remedy)
        }
    };
    LocatedFault { fault, span, from_command_line: None }
}

/// The path of the key `name` that was first written in the last table begun before `offset`, and where that was.
fn path_of_key(table: &DeTable, name: &str, offset: usize, place: Place) -> Option<(usize, String)> {
    let here = table.get_key_value(name).map(|(key, _)| (key.span().start, place.key(name).to_string()));
    let mut best = here.filter(|(start, _)| *start < offset);
    for (key, value) in table.iter().filter(|(_, value)| value.span().start < offset) {
        let place = place.key(key.get_ref());
        let mut look = |value: &DeValue, place: Place| {
            if let Some(found) = value.as_table().and_then(|inner| path_of_key(inner, name, offset, place)) {
                best = best.take().max(Some(found));
            }
        };
        look(value.get_ref(), place);
        for (index, item) in value.get_ref().as_array().into_iter().flatten().enumerate() {
            look(item.get_ref(), place.item(index));
        }
    }
    best
}
