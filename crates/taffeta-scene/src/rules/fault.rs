//! What is wrong with a scene, said so that its author can mend it.

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
}

impl Fault {
    /// A fault of the value at `key`.
    pub fn new(
        key: impl Into<String>,
        value: impl ToString,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { key: key.into(), value: value.to_string(), reason: reason.into(), remedy: remedy.into() }
    }
}
