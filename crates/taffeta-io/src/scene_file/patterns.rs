//! Patterns of garments, read and laid into the scene: what is checked and built has all panels and seams in one place.

use super::drawn::{Drawn, Sheet, table};
use super::dxf::{self, Pieces};
use super::faults::ReadRule;
use super::{garmentcode, read_bytes, read_text, svg};
use crate::catalogue;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;
use taffeta_scene::Fault;
use taffeta_scene::rules::suggestion;

/// Why a pattern cannot be cut.
enum Unfit {
    /// It cannot be read.
    Unread(String),
    /// It has these sizes, and not the one asked for.
    OtherSizes(Vec<String>),
}

impl From<String> for Unfit {
    fn from(reason: String) -> Self {
        Self::Unread(reason)
    }
}

/// Replaces the pattern of every garment by its panels and seams, behind those that the garment has itself. Files are looked for in `folder`; without
/// one only built-in patterns are known. Returns what could not be read; what else is to be told goes to `notes`.
pub(super) fn lay_in(scene: &mut Value, folder: Option<&Path>, notes: &mut Vec<String>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let garments = scene.get_mut("garment").and_then(Value::as_array_mut);
    for (index, garment) in garments.into_iter().flatten().enumerate() {
        let Some(garment) = garment.as_object_mut() else { continue };
        let size = match garment.get("size") {
            None => None,
            Some(Value::String(size)) => Some(size.clone()),
            // The rules refuse what is no text.
            Some(_) => continue,
        };
        let Some(name) = garment.get("pattern").and_then(Value::as_str).map(String::from) else {
            if let Some(size) = size.filter(|_| !garment.contains_key("pattern")) {
                let remedy = "leave it out, or name a `pattern` that has sizes";
                let key = format!("garment[{index}].size");
                faults.push(ReadRule::NoSuchSize.fault(
                    &key,
                    format!("{size:?}"),
                    ": there is no pattern",
                    remedy,
                ));
            }
            continue;
        };
        let asked = Asked { name: &name, folder, size: size.as_deref(), sewn: sewn(garment) };
        match asked.read(notes) {
            Ok(mut pattern) => {
                ["pattern", "size"].iter().for_each(|key| drop(garment.remove(*key)));
                ["panel", "seam"].iter().for_each(|list| append(garment, list, pattern.remove(*list)));
            }
            Err(Unfit::Unread(reason)) => {
                let names: Vec<&str> = catalogue::patterns().iter().map(|pattern| pattern.name).collect();
                let intro = "name a pattern file, relative to the folder of the scene; built in are";
                let key = format!("garment[{index}].pattern");
                let remedy = suggestion(&name, &names, intro);
                faults.push(ReadRule::NoPattern.fault(
                    &key,
                    format!("{name:?}"),
                    &format!(": {reason}"),
                    remedy,
                ));
            }
            Err(Unfit::OtherSizes(sizes)) => {
                let key = format!("garment[{index}].size");
                let remedy = if sizes.is_empty() {
                    format!("leave it out: {name:?} has no sizes")
                } else {
                    format!("the sizes of {name:?} are {}", sizes.join(", "))
                };
                let value = size.map_or(String::new(), |size| format!("{size:?}"));
                faults.push(ReadRule::NoSuchSize.fault(&key, value, "", remedy));
            }
        }
    }
    faults
}

fn append(garment: &mut Map<String, Value>, list: &str, more: Option<Value>) {
    let own = garment.entry(list).or_insert_with(|| Value::Array(Vec::new()));
    // What is no list is refused by the rules.
    match (own.as_array_mut(), more) {
        (Some(own), Some(Value::Array(more))) => own.extend(more),
        (Some(_), Some(other)) => *own = other,
        _ => {}
    }
}

/// All edges that a garment names in seams and pins.
fn sewn(garment: &Map<String, Value>) -> BTreeSet<String> {
    let list = |key: &str, names: &'static str| {
        let items = garment.get(key).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(move |item| item.get(names)?.as_array()).flatten().filter_map(Value::as_str)
    };
    list("seam", "join").chain(list("pin", "edges")).map(String::from).collect()
}

/// A pattern that a garment asks for.
struct Asked<'a> {
    name: &'a str,
    folder: Option<&'a Path>,
    size: Option<&'a str>,
    /// Edges that the garment names.
    sewn: BTreeSet<String>,
}

impl Asked<'_> {
    /// The pattern as a table, or why there is none.
    fn read(self, notes: &mut Vec<String>) -> Result<Map<String, Value>, Unfit> {
        let built_in = catalogue::patterns().iter().find(|pattern| pattern.name == self.name);
        let text = match (built_in, self.folder) {
            (Some(pattern), _) => pattern.text.to_string(),
            (None, Some(folder)) if self.has_ending("dxf") || self.has_ending("svg") => {
                return self.drawing(folder, notes);
            }
            (None, Some(folder)) => {
                read_text(&folder.join(self.name)).map_err(|fault| format!("it {}", fault.reason))?
            }
            (None, None) => {
                return Err("a scene without a folder has none but those built in".to_string().into());
            }
        };
        if self.size.is_some() {
            return Err(Unfit::OtherSizes(Vec::new()));
        }
        if self.has_ending("json") {
            return Ok(garmentcode::pattern(&text, notes)?);
        }
        let Value::Object(table) = table(&text)? else { return Err("it holds no keys".to_string().into()) };
        match table.keys().find(|key| !["title", "panel", "seam"].contains(&key.as_str())) {
            Some(key) => {
                Err(format!("it has the key `{key}`, which is none of `title`, `panel`, `seam`").into())
            }
            None => Ok(table),
        }
    }

    fn has_ending(&self, ending: &str) -> bool {
        Path::new(self.name).extension().is_some_and(|own| own.eq_ignore_ascii_case(ending))
    }

    /// A drawing with the TOML of the same name beside it, if that is there.
    fn drawing(self, folder: &Path, notes: &mut Vec<String>) -> Result<Map<String, Value>, Unfit> {
        let path = folder.join(self.name);
        let bytes = read_bytes(&path).map_err(|fault| format!("it {}", fault.reason))?;
        let beside = path.with_extension("toml");
        let sheet = match beside.exists() {
            true => read_text(&beside)
                .map_err(|fault| fault.reason)
                .and_then(|text| Sheet::read(&text))
                .map_err(|reason| format!("{}: {reason}", beside.display()))?,
            false => Sheet::default(),
        };
        // Names of pieces may be in any code page; only they show it.
        let text = String::from_utf8_lossy(&bytes);
        let drawn = match self.has_ending("svg") {
            true if self.size.is_some() => return Err(Unfit::OtherSizes(Vec::new())),
            true => svg::pieces(&text, sheet.unit())?,
            false => of_dxf(&text, &sheet, self.size)?,
        };
        laid_out(drawn, sheet, self.sewn, |text| notes.push(format!("{}: {text}", self.name)))
    }
}

fn of_dxf(text: &str, sheet: &Sheet, size: Option<&str>) -> Result<Drawn, Unfit> {
    match dxf::pieces(text, size, sheet.unit())? {
        Pieces::Read(drawn) => Ok(drawn),
        Pieces::OtherSizes(sizes) => Err(Unfit::OtherSizes(sizes)),
    }
}

/// The panels and seams of a drawing.
fn laid_out(
    mut drawn: Drawn,
    sheet: Sheet,
    mut sewn: BTreeSet<String>,
    note: impl FnMut(String),
) -> Result<Map<String, Value>, Unfit> {
    let seams = [std::mem::take(&mut drawn.seams), sheet.seam.clone()].concat();
    let joins = seams.iter().filter_map(|seam| seam.get("join")?.as_array()).flatten();
    sewn.extend(joins.filter_map(Value::as_str).map(String::from));
    let panels = sheet.cut(&mut drawn, &sewn)?;
    drawn.notes.into_iter().for_each(note);
    Ok(Map::from_iter([("panel".into(), Value::Array(panels)), ("seam".into(), Value::Array(seams))]))
}

/// The panels and seams of a DXF drawing with this TOML beside it, as TOML writes them; or what is wrong with it.
pub fn read_dxf(bytes: &[u8], beside: &str) -> Result<Value, String> {
    let read = Sheet::read(beside).map_err(Unfit::Unread);
    let text = String::from_utf8_lossy(bytes);
    let cut = |sheet: Sheet| laid_out(of_dxf(&text, &sheet, None)?, sheet, BTreeSet::new(), |_| ());
    match read.and_then(cut) {
        Ok(table) => Ok(Value::Object(table)),
        Err(Unfit::Unread(reason)) => Err(reason),
        Err(Unfit::OtherSizes(sizes)) => Err(format!("it has several sizes: {}", sizes.join(", "))),
    }
}

/// The panels and seams of an SVG drawing, as TOML writes them; or what is wrong with it.
pub fn read_svg(text: &str) -> Result<Value, String> {
    let cut = |drawn| laid_out(drawn, Sheet::default(), BTreeSet::new(), |_| ());
    match svg::pieces(text, None).map_err(Unfit::Unread).and_then(cut) {
        Ok(table) => Ok(Value::Object(table)),
        Err(Unfit::Unread(reason)) => Err(reason),
        Err(Unfit::OtherSizes(_)) => Err("it has no sizes".into()),
    }
}
