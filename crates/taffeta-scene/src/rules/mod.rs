//! A value held against the scene's JSON Schema: types, ranges, words and keys, all faults at once.
//!
//! Only the vocabulary that the schema of [`Scene`](crate::scene::Scene) really uses is understood; a test refuses any other.

mod fabrics;
mod fault;
mod garments;
mod motions;
mod pins;
mod sense;

pub use fault::{Fault, FaultyScene};
pub use motions::FASTEST_BODY;
pub use sense::MOST_PARTICLES;

use crate::scene::place::Place;
use serde_json::Value;

/// Past so many faults a list of them helps nobody, and a hostile file could fill the memory with them.
pub const MOST_FAULTS: usize = 200;

/// A list of rules with their words, in one table that cannot miss an entry.
#[doc(hidden)]
#[macro_export]
macro_rules! list_of_rules {
    ($(#[$about:meta])* $list:ident { $($name:ident = $words:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $list { $(#[doc = concat!("What breaks it ", $words, ".")] $name,)* }

        impl $list {
            /// Every rule.
            pub const ALL: &[$list] = &[$($list::$name),*];

            /// What is said of that which breaks the rule; the reason of the fault starts so.
            pub fn words(self) -> &'static str {
                match self { $($list::$name => $words,)* }
            }

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $($list::$name => stringify!($name),)* }
            }

            /// Whether the fault is one of breaking this rule.
            pub fn is_broken_in(self, fault: &$crate::Fault) -> bool {
                fault.rule == self.name()
            }
        }
    };
}

list_of_rules! {
    /// The rules that a scene can break.
    Rule {
        WrongType = "has the wrong type",
        NotFinite = "is not a finite number",
        TooSmall = "is too small",
        TooLarge = "is too large",
        UnknownKey = "is not a key here",
        UnknownWord = "is not a word that may stand here",
        Missing = "is missing",
        TooFewItems = "has too few items",
        TooManyItems = "has too many items",
        NoColour = "is not a colour",
        TooManyFaults = "is as far as the faults are listed",
        NoShape = "has no shape",
        SeveralShapes = "is a second shape",
        NoCorners = "is a corner of a shape that has none",
        NoSuchSide = "is a side that this shape lacks",
        PinsNothing = "pins nothing",
        NoSuchParticle = "is beyond the last particle",
        PinnedTwice = "pins what another pin holds",
        UnknownCollider = "is not the name of a collider",
        LedTwice = "is led by a body and by keyframes",
        NearNothing = "is near to nothing",
        SeveralMotions = "is a second way to deform",
        TimeNotLater = "is not later than the one before",
        TooFast = "is further than a body gets since the keyframe before",
        MassTwice = "is a second mass",
        NoNumberSigns = "has no place for the number of a file",
        LastBeforeFirst = "is before the first file",
        TooManyFiles = "makes too many files",
        UnknownFabric = "is not a fabric",
        UnknownBase = "is not a built-in fabric",
        BiasTooStiff = "is too stiff for this warp and weft",
        NoDevice = "is not a device",
        NotForMethod = "is not for this method",
        CannotTear = "cannot tear",
        CannotFold = "cannot rest folded",
        NotClosed = "fills what is not closed",
        NameTaken = "is the name of another",
        TooManyParticles = "makes too many particles",
        NoPanel = "has no panels",
        NoLength = "has no length",
        CurvedTwice = "is curved in two ways",
        OpenOutline = "does not come back to the start of its outline",
        CrossesItself = "crosses itself",
        NoArea = "encloses no area",
        Clockwise = "runs clockwise",
        DartOutside = "is a dart that does not fit into its panel",
        SmallerThanACell = "is smaller than one of its cells",
        WrapsOver = "is the radius of a cylinder that its panel does not fit",
        NoSuchPanel = "is not the name of a panel",
        PlacedTwice = "is placed a second time",
        UnknownPanel = "is not an edge of a panel",
        UnknownEdge = "is not an edge of panel",
        SewnToItself = "is sewn to itself",
        SeamLengths = "joins edges of different length",
        OpensUnsewn = "is undone before it is closed",
        HemTooWide = "is wider than its panel",
        BeltAlone = "is a belt, which is a garment of its own",
        TooShortToGather = "is too short to gather",
    }
}

/// All that is wrong with a value that should be a scene, as far as the schema tells.
///
/// JSON has no NaN and no infinity: `null` stands for them, and is refused as such.
pub fn faults_of_value(value: &Value) -> Vec<Fault> {
    let mut faults = Faults::default();
    check_value(value, &mut faults);
    faults.list
}

/// Holds a value against the schema.
pub(super) fn check_value(value: &Value, faults: &mut Faults) {
    let schema = crate::schema();
    Check { definitions: &schema["$defs"], faults }.value(schema, value, Place::Root);
}

/// The faults found so far; where they are too many, the last says so.
#[derive(Default)]
pub(super) struct Faults {
    pub list: Vec<Fault>,
}

impl Faults {
    /// Whether nothing more will be told.
    pub fn is_full(&self) -> bool {
        self.list.len() > MOST_FAULTS
    }

    pub fn report(
        &mut self,
        rule: Rule,
        place: Place,
        value: impl ToString,
        detail: &str,
        remedy: impl Into<String>,
    ) {
        let (rule, detail, remedy) = match self.list.len() {
            0..MOST_FAULTS => (rule, detail, remedy.into()),
            MOST_FAULTS => (Rule::TooManyFaults, "", "mend those above, then check again".into()),
            _ => return,
        };
        let fault = Fault::new(place.to_string(), value, format!("{}{detail}", rule.words()), remedy);
        self.list.push(fault.of_rule(rule.name()));
    }
}

struct Check<'s, 'f> {
    definitions: &'s Value,
    faults: &'f mut Faults,
}

impl<'s> Check<'s, '_> {
    fn report(
        &mut self,
        rule: Rule,
        place: Place,
        value: impl ToString,
        detail: &str,
        remedy: impl Into<String>,
    ) {
        self.faults.report(rule, place, value, detail, remedy);
    }

    fn value(&mut self, schema: &'s Value, value: &Value, place: Place) {
        // Below a full list nothing more can be said.
        if self.faults.is_full() {
            return;
        }
        let schema = resolved(self.definitions, schema);
        match (ValueKind::of(schema), value) {
            (ValueKind::Table, Value::Object(table)) => self.table(schema, table, place),
            (ValueKind::List, Value::Array(items)) => self.list(schema, items, place),
            (ValueKind::Whole, Value::Number(number)) if !number.is_f64() => self.range(schema, value, place),
            (ValueKind::Number, Value::Number(_)) => self.range(schema, value, place),
            (ValueKind::Number | ValueKind::Whole, Value::Null) => {
                self.report(
                    Rule::NotFinite,
                    place,
                    "nan or inf",
                    "",
                    format!("write {}", self.wanted(schema)),
                );
            }
            (ValueKind::Switch, Value::Bool(_)) => {}
            (ValueKind::Text, Value::String(text)) => {
                if schema["pattern"].is_string() && !is_colour(text) {
                    let remedy = "write # and six hexadecimal digits, such as \"#d9d4c5\"";
                    self.report(Rule::NoColour, place, written(value), "", remedy);
                }
            }
            (ValueKind::Word, Value::String(word)) => {
                let words = words(schema);
                if !words.contains(&word.as_str()) {
                    let remedy = suggestion(word, &words, "the words are");
                    self.report(Rule::UnknownWord, place, written(value), "", remedy);
                }
            }
            _ => {
                let detail =
                    format!(": {} where {} belongs", kind_of_value(value), ValueKind::of(schema).noun());
                self.report(
                    Rule::WrongType,
                    place,
                    written(value),
                    &detail,
                    format!("write {}", self.wanted(schema)),
                );
            }
        }
    }

    fn table(&mut self, schema: &'s Value, table: &serde_json::Map<String, Value>, place: Place) {
        static NO_KEYS: std::sync::LazyLock<serde_json::Map<String, Value>> =
            std::sync::LazyLock::new(Default::default);
        let keys = schema["properties"].as_object().unwrap_or(&NO_KEYS);
        let any_key = schema["additionalProperties"].as_object().map(|_| &schema["additionalProperties"]);
        for (name, value) in table {
            match keys.get(name).or(any_key) {
                Some(schema) => self.value(schema, value, place.key(name)),
                None if self.faults.is_full() => return,
                None => {
                    let known: Vec<&str> = keys.keys().map(String::as_str).collect();
                    let remedy = suggestion(name, &known, "the keys here are");
                    self.report(Rule::UnknownKey, place.key(name), written(value), "", remedy);
                }
            }
        }
        for (name, key) in keys.iter().filter(|(name, _)| !table.contains_key(*name)) {
            if required(schema).any(|required| required == name) {
                let remedy = format!("add `{name}`, {}", self.wanted(key));
                self.report(Rule::Missing, place.key(name), "", "", remedy);
            } else if let Some(default) = key.get("default") {
                // What is left out counts as its default, and that may break a rule: a scene needs cloth.
                self.value(key, default, place.key(name));
            }
        }
    }

    fn list(&mut self, schema: &'s Value, items: &[Value], place: Place) {
        let count = items.len() as u64;
        let (least, most) = (schema["minItems"].as_u64(), schema["maxItems"].as_u64());
        let rule = match () {
            () if least.is_some_and(|least| count < least) => Some(Rule::TooFewItems),
            () if most.is_some_and(|most| count > most) => Some(Rule::TooManyItems),
            () => None,
        };
        if let Some(rule) = rule {
            let text = written(&Value::from(items));
            self.report(rule, place, text, &format!(": {count}"), format!("write {}", self.wanted(schema)));
        }
        for (index, item) in items.iter().enumerate() {
            self.value(&schema["items"], item, place.item(index));
        }
    }

    fn range(&mut self, schema: &'s Value, value: &Value, place: Place) {
        let (least, most) = range(schema);
        let number = value.as_f64().unwrap_or(f64::NAN);
        let rule = match () {
            () if least.is_some_and(|least| number < least) => Rule::TooSmall,
            () if most.is_some_and(|most| number > most) => Rule::TooLarge,
            () => return,
        };
        self.report(rule, place, written(value), "", format!("write {}", self.wanted(schema)));
    }

    fn wanted(&self, schema: &Value) -> String {
        wanted(self.definitions, schema)
    }
}

/// What a schema asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Keys and values.
    Table,
    /// Items in order.
    List,
    /// A number.
    Number,
    /// A number without a fraction.
    Whole,
    /// True or false.
    Switch,
    /// Any text.
    Text,
    /// One of a few words.
    Word,
}

impl ValueKind {
    /// What a resolved schema asks for.
    pub fn of(schema: &Value) -> Self {
        // An optional key has the types [its own, "null"].
        let kind = schema["type"].as_str().or(schema["type"][0].as_str());
        match kind {
            Some("object") => Self::Table,
            Some("array") => Self::List,
            Some("integer") => Self::Whole,
            Some("number") => Self::Number,
            Some("boolean") => Self::Switch,
            Some("string") => Self::Text,
            _ => Self::Word,
        }
    }

    /// A limit of its numbers, written so that it could stand in the file.
    pub fn limit(self, limit: f64) -> String {
        // Whole numbers have no exponent in TOML.
        if self == Self::Whole { limit.to_string() } else { short(limit) }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Table => "a table",
            Self::List => "a list",
            Self::Number => "a number",
            Self::Whole => "a whole number",
            Self::Switch => "true or false",
            Self::Text => "text",
            Self::Word => "a word",
        }
    }
}

/// The schema that a schema stands for: a reference followed, the null of an optional key left away.
pub fn resolved<'s>(definitions: &'s Value, schema: &'s Value) -> &'s Value {
    let schema = schema.get("anyOf").map_or(schema, |either| &either[0]);
    match schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        Some(name) => &definitions[name],
        None => schema,
    }
}

/// What a schema asks for, in words: `a whole number from 2 to 10000`.
pub fn wanted(definitions: &Value, schema: &Value) -> String {
    let schema = resolved(definitions, schema);
    let kind = ValueKind::of(schema);
    match kind {
        ValueKind::Number | ValueKind::Whole => match range(schema) {
            (Some(least), Some(most)) => {
                format!("{} from {} to {}", kind.noun(), kind.limit(least), kind.limit(most))
            }
            _ => kind.noun().into(),
        },
        ValueKind::List => {
            let item = wanted(definitions, &schema["items"]);
            match (schema["minItems"].as_u64().unwrap_or(0), schema["maxItems"].as_u64()) {
                (least, Some(most)) if least == most => format!("a list of {least}, each {item}"),
                (least, Some(most)) => format!("a list of {least} to {most}, each {item}"),
                (_, None) => format!("a list, each {item}"),
            }
        }
        ValueKind::Word => format!("one of {}", listed(&words(schema))),
        ValueKind::Text => "text in quotes".into(),
        ValueKind::Switch | ValueKind::Table => kind.noun().into(),
    }
}

/// The smallest and the largest number that a resolved schema allows.
pub fn range(schema: &Value) -> (Option<f64>, Option<f64>) {
    let most = schema["maximum"].as_f64();
    let widest = (schema["format"] == "uint32").then_some(f64::from(u32::MAX));
    (schema["minimum"].as_f64(), most.or(widest))
}

/// The words that a resolved schema allows.
pub fn words(schema: &Value) -> Vec<&str> {
    schema["oneOf"].as_array().into_iter().flatten().filter_map(|word| word["const"].as_str()).collect()
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn kind_of_value(value: &Value) -> &'static str {
    match value {
        Value::Null => "a number that is not finite",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a number with a point",
        Value::Number(_) => "a whole number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

/// A value as its author would write it, cut where it gets long.
pub fn written(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = match value {
        Value::Object(table) if table.is_empty() => "{}".into(),
        Value::Object(_) => "{ .. }".into(),
        // Lists of many items are cut before they are spelt out.
        Value::Array(items) => {
            let shown: Vec<String> = items.iter().take(8).map(written).collect();
            let more = if items.len() > shown.len() { ", .." } else { "" };
            format!("[{}{more}]", shown.join(", "))
        }
        Value::String(text) if text.chars().nth(LONGEST).is_some() => {
            let start: String = text.chars().take(LONGEST).collect();
            format!("{}..", Value::from(start))
        }
        Value::Null => "nan".into(),
        other => other.to_string(),
    };
    if text.chars().nth(2 * LONGEST).is_some() {
        text.chars().take(LONGEST).collect::<String>() + ".."
    } else {
        text
    }
}

/// A number with no more digits than it needs.
pub fn short(number: f64) -> String {
    let size = number.abs();
    // Powers of ten read better than rows of zeros.
    if number != 0.0 && (size < 1e-3 || (size >= 1e5 && size % 1e5 == 0.0)) {
        format!("{number:e}")
    } else {
        number.to_string()
    }
}

/// `did you mean ...?` where a word lies near, and in any case the list of them.
pub fn suggestion(word: &str, known: &[&str], intro: &str) -> String {
    let list = match known {
        [] => "nothing may stand here".into(),
        known => format!("{intro} {}", listed(known)),
    };
    nearest(word, known).map_or(list.clone(), |near| format!("did you mean `{near}`? {list}"))
}

fn listed(words: &[&str]) -> String {
    // A scene can name any number of fabrics.
    const MOST: usize = 40;
    let shown: Vec<String> = words.iter().take(MOST).map(|word| format!("`{word}`")).collect();
    shown.join(", ") + if words.len() > MOST { " .." } else { "" }
}

/// The known word that differs least from `word`, if it differs by little.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    // Nobody mistypes a word this long, and the comparison takes the product of the lengths.
    if word.len() > 64 {
        return None;
    }
    let few = (word.chars().count() / 3).max(1);
    let near = known.iter().map(|known| (edits(word, known), *known)).min()?;
    (near.0 <= few).then_some(near.1)
}

/// How many letters must be put in, taken out, changed or swapped with a neighbour to make one word of the other
/// (optimal string alignment).
pub fn edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) =
        (from.to_lowercase().replace('-', "_").chars().collect(), to.replace('-', "_").chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let mut cost = (rows[i][j] + usize::from(a != b)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                cost = cost.min(rows[i - 1][j - 1] + 1);
            }
            row.push(cost);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}
