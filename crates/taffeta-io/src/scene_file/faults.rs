//! What is wrong with a scene file, and where in it: data for whoever shows it, and plain text.

use std::fmt;
use std::ops::Range;
use taffeta_scene::Fault;
use taffeta_scene::list_of_rules;

list_of_rules! {
    /// What keeps a scene file or an override from being read; the rules of the scene itself are [`taffeta_scene::Rule`].
    ReadRule {
        NoFile = "cannot be opened",
        NotPlain = "is not a plain file",
        TooLong = "is longer than a scene may be",
        NotUtf8 = "is not UTF-8 text",
        NoSuchScene = "is neither a file nor a built-in scene",
        NotToml = "is not TOML",
        NoValue = "has no value",
        WrittenTwice = "is written twice",
        DateTime = "is a date or a time",
        TooManyDigits = "does not fit into 64 bits",
        NoAssignment = "is not of the form key=value",
        NoSuchItem = "is beyond the end of the list",
        NotATable = "holds a value, not keys",
        NoMesh = "is not a mesh that can be read",
        NoPattern = "is not a pattern that can be read",
        NoSuchSize = "is not a size of the pattern",
    }
}

impl ReadRule {
    pub(super) fn fault(
        self,
        key: &str,
        value: impl ToString,
        detail: &str,
        remedy: impl Into<String>,
    ) -> Fault {
        Fault::new(key, value, format!("{}{detail}", self.words()), remedy).of_rule(self.name())
    }
}

/// All that is wrong with a scene file and the overrides given with it.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneFaults {
    /// The file as it was named, or `<built-in drape>`.
    pub origin: String,
    /// The text of the file; empty where it could not be read.
    pub text: String,
    /// The faults, in the order of the text; those of the command line follow.
    pub faults: Vec<LocatedFault>,
}

/// A fault and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedFault {
    /// The fault.
    pub fault: Fault,
    /// Bytes of the text to underline: the value, the key where that is at fault, the head of the table where something is
    /// missing. Nothing where no text is to blame.
    pub span: Option<Range<usize>>,
    /// The override `key=value` that brought it in.
    pub from_command_line: Option<String>,
}

impl From<Fault> for LocatedFault {
    fn from(fault: Fault) -> Self {
        Self { fault, span: None, from_command_line: None }
    }
}

impl SceneFaults {
    /// Faults of a source whose text is not known.
    pub(super) fn unread(origin: impl Into<String>, fault: Fault) -> Self {
        Self { origin: origin.into(), text: String::new(), faults: vec![fault.into()] }
    }

    fn write_one(&self, f: &mut fmt::Formatter<'_>, located: &LocatedFault) -> fmt::Result {
        let Fault { key, value, reason, remedy, .. } = &located.fault;
        let subject = match (key.as_str(), value.as_str()) {
            ("", value) => value.to_string(),
            (key, "") => key.to_string(),
            (key, value) => format!("{key} = {value}"),
        };
        let gap = if subject.is_empty() { "" } else { " " };
        writeln!(f, "error: {subject}{gap}{reason}")?;
        match (&located.from_command_line, &located.span) {
            (Some(set), _) => writeln!(f, " --> --set {set}")?,
            (None, Some(span)) => self.write_line(f, span)?,
            (None, None) => writeln!(f, " --> {}", self.origin)?,
        }
        writeln!(f, "  = {remedy}")
    }

    /// The first line of the span, underlined; of a long line the part around it.
    fn write_line(&self, f: &mut fmt::Formatter<'_>, span: &Range<usize>) -> fmt::Result {
        const WIDTH: usize = 100;
        let (before, after) = self.text.split_at_checked(span.start).unwrap_or_default();
        let number = 1 + before.matches('\n').count();
        let before = before.rsplit('\n').next().unwrap_or_default();
        let column = before.chars().count();
        let shown = before.chars().skip(column.saturating_sub(WIDTH / 2)).collect::<String>();
        let after: String = after.lines().next().unwrap_or_default().chars().take(WIDTH / 2).collect();
        let marked = self.text.get(span.clone()).and_then(|text| text.lines().next()).unwrap_or_default();
        let marks = marked.chars().take(WIDTH / 2).count().max(1);
        let gutter = " ".repeat(number.to_string().len());
        writeln!(f, "{gutter}--> {}:{number}:{}", self.origin, column + 1)?;
        writeln!(f, "{gutter} |\n{number} | {shown}{after}")?;
        writeln!(f, "{gutter} | {}{}", " ".repeat(shown.chars().count()), "^".repeat(marks))
    }
}

impl fmt::Display for SceneFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.faults.iter().try_for_each(|located| self.write_one(f, located))
    }
}

impl std::error::Error for SceneFaults {}
