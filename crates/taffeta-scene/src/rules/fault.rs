//! What is wrong with a scene, said so that its author can mend it.

use std::error::Error;
use std::fmt;
use std::ops::Deref;

/// One thing that is wrong with a scene.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: {reason}; {remedy}")]
pub struct Fault {
    /// The key, such as `cloth[0].pin[1].vertices[3]`: names joined by dots, items of lists in brackets.
    pub key: String,
    /// The value found there, as its author would write it; empty where nothing is.
    pub value: String,
    /// Why it will not do.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
    /// The name of the rule that it breaks, such as `TooSmall`; empty for one that shows only when the scene is built.
    pub rule: &'static str,
}

/// A scene that cannot be built: everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultyScene {
    /// All faults, at least one.
    pub faults: Vec<Fault>,
}

impl fmt::Display for FaultyScene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.faults.iter().enumerate().try_for_each(|(k, fault)| match k {
            0 => write!(f, "{fault}"),
            _ => write!(f, "\n{fault}"),
        })
    }
}

impl Error for FaultyScene {}

impl Deref for FaultyScene {
    type Target = [Fault];

    fn deref(&self) -> &[Fault] {
        &self.faults
    }
}

impl From<FaultyScene> for Vec<Fault> {
    fn from(faulty: FaultyScene) -> Self {
        faulty.faults
    }
}

impl Fault {
    /// A fault of the value at `key`.
    pub fn new(
        key: impl Into<String>,
        value: impl ToString,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            key: key.into(),
            value: value.to_string(),
            reason: reason.into(),
            remedy: remedy.into(),
            rule: "",
        }
    }

    /// The same, of a rule by its name.
    pub fn of_rule(self, rule: &'static str) -> Self {
        Self { rule, ..self }
    }
}
