//! Where in a scene something stands: key paths such as `cloth[0].pin[1].vertices[3]`, written and read.

use std::fmt::{self, Write as _};

/// A place on the way down a scene. It lives on the stack and is spelt out only where a fault is found.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// The scene itself.
    Root,
    /// A key of a table.
    Key(&'a Place<'a>, &'a str),
    /// An item of a list.
    Item(&'a Place<'a>, usize),
}

impl<'a> Place<'a> {
    /// The key `name` of the table at this place.
    pub fn key(&'a self, name: &'a str) -> Place<'a> {
        Place::Key(self, name)
    }

    /// Item `index` of the list at this place.
    pub fn item(&'a self, index: usize) -> Place<'a> {
        Place::Item(self, index)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Root => Ok(()),
            Place::Item(list, index) => write!(f, "{list}[{index}]"),
            Place::Key(table, name) => {
                if !matches!(table, Place::Root) {
                    write!(f, "{table}.")?;
                }
                write_key(f, name)
            }
        }
    }
}

/// Writes a key, in quotes where it could be taken for something else.
fn write_key(f: &mut impl fmt::Write, name: &str) -> fmt::Result {
    if is_bare(name) && !name.bytes().all(|b| b.is_ascii_digit()) {
        f.write_str(name)
    } else {
        write!(f, "{}", serde_json::Value::from(name))
    }
}

/// Whether TOML lets a key of this spelling stand without quotes.
fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// One step of a key path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A key of a table.
    Key(String),
    /// An item of a list.
    Item(usize),
}

/// The key path of these steps.
pub fn spelt(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        // Writing to a string cannot fail.
        let _ = match step {
            Step::Item(index) => write!(path, "[{index}]"),
            Step::Key(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                write_key(&mut path, name)
            }
        };
    }
    path
}

/// The steps of a key path, or nothing where it is not one. Items may be written `[2]` or `.2`, keys in double quotes.
pub fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path;
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (name, after) = unquote(quoted)?;
            steps.push(Step::Key(name));
            rest = after;
        } else {
            let (word, after) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
            steps.push(match word.parse() {
                Ok(index) if word.bytes().all(|b| b.is_ascii_digit()) => Step::Item(index),
                _ if is_bare(word) => Step::Key(word.into()),
                _ => return None,
            });
            rest = after;
        }
        while let Some(bracket) = rest.strip_prefix('[') {
            let (index, after) = bracket.split_once(']')?;
            steps.push(Step::Item(index.parse().ok()?));
            rest = after;
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None => return rest.is_empty().then_some(steps),
        }
    }
}

/// The name up to the closing quote, its escapes undone, and what follows the quote.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' if !escaped => {
                // JSON's escapes, as `Display` writes them.
                let name = serde_json::from_str(&format!("\"{}\"", &text[..at])).ok()?;
                return Some((name, &text[at + 1..]));
            }
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}
