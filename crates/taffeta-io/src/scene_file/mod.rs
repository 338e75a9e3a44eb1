//! Scene files: TOML text, with overrides, to a [`Scene`] or to all its faults, and back.

mod crossings;
mod drawn;
mod dxf;
mod faults;
mod garmentcode;
mod overrides;
mod patterns;
mod reference;
mod remainder;
mod svg;
mod tree;

pub use faults::{LocatedFault, ReadRule, SceneFaults};
pub use patterns::{read_dxf, read_svg};
pub use reference::reference_markdown;

use crate::catalogue::{self, BuiltIn};
use crate::mesh::{self, MeshError, MeshFile};
use overrides::Override;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use taffeta::check::self_intersections;
use taffeta_scene::build::import::{Imported, import};
use taffeta_scene::place::steps;
use taffeta_scene::rules::{faults_of_value, suggestion};
use taffeta_scene::{Fault, Garment, Mesh, MeshShape, Rule, Scene};
use tree::Tree;

/// No scene written by hand comes near this many bytes.
const LONGEST: u64 = 16 << 20;

/// Where a scene comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SceneSource {
    /// A file.
    File(PathBuf),
    /// One of the catalogue.
    BuiltIn(BuiltIn),
    /// Text that a program holds.
    Text {
        /// What it goes by.
        name: String,
        /// The text, TOML.
        text: String,
        /// The folder that its files are named from.
        folder: PathBuf,
    },
}

/// A scene read whole.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedScene {
    /// The scene; it has no faults.
    pub scene: Scene,
    /// The file's name without its ending, or the name in the catalogue.
    pub name: String,
    /// The folder that the scene's own files are named from.
    pub folder: Option<PathBuf>,
    /// The meshes by the name that the scene gives their file.
    pub meshes: BTreeMap<String, Mesh>,
    /// What the readers of meshes had to say.
    pub notes: Vec<String>,
    source: SceneSource,
    sets: Vec<String>,
}

impl LoadedScene {
    /// Faults that showed only when the scene was built, each with its place in the text.
    pub fn refuse(&self, faults: impl Into<Vec<Fault>>) -> SceneFaults {
        let located = |text: String| {
            let folder = self.source.folder().unwrap_or_default();
            Ok(Reading::new(self.source.origin(), &text, &self.sets, Some(&folder))?.refuse(faults.into()))
        };
        self.source.text().and_then(located).unwrap_or_else(|changed_since| changed_since)
    }
}

impl SceneSource {
    /// What the user means by `text`: a path if a file is there or it looks like a path, else a built-in scene.
    pub fn find(text: &str) -> Result<Self, SceneFaults> {
        let is_file = fs::metadata(text).is_ok_and(|found| !found.is_dir());
        if is_file || text.ends_with(".toml") || text.contains(['/', std::path::MAIN_SEPARATOR]) {
            return Ok(Self::File(text.into()));
        }
        let scenes = catalogue::scenes();
        if let Some(scene) = scenes.iter().find(|scene| scene.name == text) {
            return Ok(Self::BuiltIn(*scene));
        }
        let names: Vec<&str> = scenes.iter().map(|scene| scene.name).collect();
        let remedy = suggestion(text, &names, "the built-in scenes are");
        Err(SceneFaults::unread(text, ReadRule::NoSuchScene.fault("", text, "", remedy)))
    }

    fn origin(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::BuiltIn(scene) => format!("<built-in {}>", scene.name),
            Self::Text { name, .. } => format!("<{name}>"),
        }
    }

    fn text(&self) -> Result<String, SceneFaults> {
        match self {
            Self::File(path) => read_text(path).map_err(|fault| SceneFaults::unread(self.origin(), fault)),
            Self::BuiltIn(scene) => Ok(scene.text.into()),
            Self::Text { text, .. } => Ok(text.clone()),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::File(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            Self::BuiltIn(scene) => scene.name.into(),
            Self::Text { name, .. } => name.clone(),
        }
    }

    fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::File(path) => path.parent().map(Path::to_path_buf),
            Self::BuiltIn(_) => None,
            Self::Text { folder, .. } => Some(folder.clone()),
        }
    }
}

/// Reads a scene, lays the overrides (`key=value`) over it and reads the meshes it names.
pub fn load(source: &SceneSource, sets: &[String]) -> Result<LoadedScene, SceneFaults> {
    load_with(source, sets, BTreeMap::new())
}

/// The same with `meshes` that are at hand, by the names that the scene gives their files: those are not read.
pub fn load_with(
    source: &SceneSource,
    sets: &[String],
    meshes: BTreeMap<String, Mesh>,
) -> Result<LoadedScene, SceneFaults> {
    let text = source.text()?;
    let folder = source.folder();
    let files_in = folder.clone().unwrap_or_default();
    let reading = Reading::new(source.origin(), &text, sets, Some(&files_in))?;
    let mut notes = reading.notes.clone();
    notes.extend(reading.scene.garment.iter().flat_map(Garment::easings));
    notes.extend(reading.scene.garment.iter().flat_map(Garment::notches_apart));
    let meshes = read_meshes(&reading.scene, &files_in, meshes, &mut notes)
        .map_err(|faults| reading.refuse(faults))?;
    let (name, source, sets) = (source.name(), source.clone(), sets.to_vec());
    Ok(LoadedScene { scene: reading.scene, name, folder, meshes, notes, source, sets })
}

/// Reads a scene from its text alone, meshes left where they are, patterns only those built in; `origin` names it in faults.
pub fn from_text(origin: &str, text: &str, sets: &[String]) -> Result<Scene, SceneFaults> {
    Ok(Reading::new(origin.into(), text, sets, None)?.scene)
}

/// The complete text of a scene, all defaults written out. It reads back as an equal scene.
pub fn to_toml(scene: &Scene) -> String {
    // Tables, lists, numbers and text with keys of text can always be written.
    toml::to_string(&without_nulls(scene.to_json())).unwrap_or_default()
}

/// Plain data without the keys that have no value, which TOML cannot write.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(table) => {
            let kept = table.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        plain => plain,
    }
}

/// A scene under way from text to [`LoadedScene`], with all that is needed to say where a fault stands.
struct Reading<'t> {
    origin: String,
    text: &'t str,
    tree: Tree<'t>,
    overrides: Vec<Override>,
    scene: Scene,
    /// What the readers of patterns had to say.
    notes: Vec<String>,
}

impl<'t> Reading<'t> {
    /// Pattern files are looked for in `folder`, if it is given.
    fn new(
        origin: String,
        text: &'t str,
        sets: &[String],
        folder: Option<&Path>,
    ) -> Result<Self, SceneFaults> {
        let tree = Tree::parse(text).map_err(|faults| SceneFaults {
            origin: origin.clone(),
            text: text.into(),
            faults,
        })?;
        let mut reading =
            Self { origin, text, tree, overrides: Vec::new(), scene: Scene::default(), notes: Vec::new() };
        let mut value = std::mem::take(&mut reading.tree.value);
        let mut faults = std::mem::take(&mut reading.tree.faults);
        let mut unusable = Vec::new();
        for set in sets {
            match overrides::apply(&mut value, set) {
                Ok((laid, more)) => {
                    // What an override replaced is no longer at fault.
                    faults.retain(|fault| !steps(&fault.key).is_some_and(|path| laid.brought(&path)));
                    faults.extend(more);
                    reading.overrides.push(laid);
                }
                Err(fault) => {
                    unusable.push(LocatedFault { fault, span: None, from_command_line: Some(set.clone()) });
                }
            }
        }
        faults.extend(patterns::lay_in(&mut value, folder, &mut reading.notes));
        // What could not be put into the value was told already.
        let by_rule = faults_of_value(&value).into_iter();
        let by_rule: Vec<Fault> =
            by_rule.filter(|fault| faults.iter().all(|told| told.key != fault.key)).collect();
        faults.extend(by_rule);
        if faults.is_empty() && unusable.is_empty() {
            match Scene::from_json(value) {
                Ok(scene) => {
                    faults = scene.contradictions();
                    reading.scene = scene;
                }
                // The schema is made from the same types, so it has refused whatever would fail here.
                Err(error) => {
                    faults.push(Fault::new("", "", error.to_string(), "report this as a defect of Taffeta"))
                }
            }
        } else {
            faults.extend(remainder::contradictions(value, &faults));
        }
        if faults.is_empty() && unusable.is_empty() {
            return Ok(reading);
        }
        let mut refused = reading.refuse(faults);
        refused.faults.extend(unusable);
        Err(refused)
    }

    /// The faults, each with its place, in the order of the text.
    fn refuse(&self, faults: Vec<Fault>) -> SceneFaults {
        let mut faults: Vec<LocatedFault> = faults.into_iter().map(|fault| self.locate(fault)).collect();
        faults.sort_by_key(|located| located.span.as_ref().map_or(usize::MAX, |span| span.start));
        SceneFaults { origin: self.origin.clone(), text: self.text.into(), faults }
    }

    fn locate(&self, mut fault: Fault) -> LocatedFault {
        let path = steps(&fault.key).unwrap_or_default();
        if let Some(laid) = self.overrides.iter().rev().find(|laid| laid.brought(&path)) {
            return LocatedFault { fault, span: None, from_command_line: Some(laid.text.clone()) };
        }
        let span = self.tree.span(&path, Rule::UnknownKey.is_broken_in(&fault));
        if Rule::NotFinite.is_broken_in(&fault) {
            // The value lost its spelling on the way.
            fault.value = self.text.get(span.clone()).unwrap_or_default().into();
        }
        LocatedFault { fault, span: Some(span), from_command_line: None }
    }
}

/// The text of a plain file of a sensible length; nothing that could block or fill the memory is opened.
fn read_text(path: &Path) -> Result<String, Fault> {
    String::from_utf8(read_bytes(path)?).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes().iter().take(valid).filter(|byte| **byte == b'\n').count();
        let detail = format!(": byte {valid}, line {line}");
        ReadRule::NotUtf8.fault("", path.display(), &detail, "save the file as UTF-8")
    })
}

/// The same of a text in any encoding.
fn read_bytes(path: &Path) -> Result<Vec<u8>, Fault> {
    let shown = &path.display();
    let unopened = |error: std::io::Error| {
        ReadRule::NoFile.fault(
            "",
            shown,
            &format!(": {error}"),
            "check the path; `taffeta scenes` lists what is built in",
        )
    };
    let found = fs::metadata(path).map_err(unopened)?;
    if !found.is_file() {
        let what = if found.is_dir() { ": a folder" } else { ": a pipe or a device" };
        return Err(ReadRule::NotPlain.fault("", shown, what, "name a scene file"));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes)).map_err(unopened)?;
    if bytes.len() as u64 > LONGEST {
        let detail = format!(": more than {} MiB", LONGEST >> 20);
        return Err(ReadRule::TooLong.fault("", shown, &detail, "keep large surfaces in mesh files"));
    }
    Ok(bytes)
}

/// The meshes that the scene names, by name, each read once unless it is at hand; or all that cannot be read.
fn read_meshes(
    scene: &Scene,
    folder: &Path,
    mut meshes: BTreeMap<String, Mesh>,
    notes: &mut Vec<String>,
) -> Result<BTreeMap<String, Mesh>, Vec<Fault>> {
    let mut faults = Vec::new();
    type Read = fn(&Path) -> Result<MeshFile, MeshError>;
    let mut read = |file: &str, key: String, by: Read, notes: &mut Vec<String>| {
        let before = faults.len();
        if !meshes.contains_key(file) {
            match by(&folder.join(file)) {
                Ok(read) => {
                    read.notes.iter().for_each(|text| note(file, text, notes));
                    meshes.insert(file.to_string(), read.mesh);
                }
                Err(error) => {
                    let remedy = "name an OBJ, PLY, STL or glTF file, relative to the folder of the scene";
                    faults.push(ReadRule::NoMesh.fault(
                        &key,
                        format!("{file:?}"),
                        &format!(": {error}"),
                        remedy,
                    ));
                }
            }
        }
        faults.len() == before
    };
    // What is read with its motion serves those too that do not move.
    let bodies =
        || scene.collider.iter().enumerate().filter_map(|(k, collider)| Some((k, collider.mesh.as_ref()?)));
    for (index, body) in bodies().filter(|(_, body)| body.animation.is_some()) {
        read(&body.file, format!("collider[{index}].mesh.file"), mesh::read_animated, notes);
    }
    for (index, cloth) in scene.cloth.iter().enumerate() {
        let Some(shape) = &cloth.mesh else { continue };
        read(&shape.file, format!("cloth[{index}].mesh.file"), mesh::read, notes);
    }
    for (index, body) in bodies() {
        let key = || format!("collider[{index}].mesh.file");
        // Of a sequence the first file that cannot be read tells enough.
        let files = if body.animation.is_some() { vec![] } else { body.files() };
        let _ = files.iter().map(|file| read(file, key(), mesh::read, notes)).find(|read| !read);
        if let Some(cache) = &body.cache {
            read(&cache.file, format!("collider[{index}].mesh.cache.file"), mesh::read_cache, notes);
        }
    }
    for (index, body) in scene.body.iter().enumerate() {
        let Some(shape) = &body.mesh else { continue };
        read(&shape.file, format!("body[{index}].mesh.file"), mesh::read, notes);
    }
    for shape in scene.cloth.iter().filter_map(|cloth| cloth.mesh.as_ref()) {
        if let Some(mesh) = meshes.get(&shape.file) {
            notes_of_cloth(mesh, shape).iter().for_each(|text| note(&shape.file, text, notes));
        }
    }
    if faults.is_empty() { Ok(meshes) } else { Err(faults) }
}

/// Notes what is to be said of a file, once: two cloths of one file have the same to say.
fn note(file: &str, text: &str, notes: &mut Vec<String>) {
    let text = format!("{file}: {text}");
    if !notes.contains(&text) {
        notes.push(text);
    }
}

/// What becomes of a mesh as cloth. One that cannot be cloth is refused when the model is built.
fn notes_of_cloth(mesh: &Mesh, shape: &MeshShape) -> Vec<String> {
    let Imported { mesh, mut notes, .. } = import(mesh, shape);
    if let Ok(topology) = mesh.topology()
        && let crossing @ 1.. = self_intersections(&mesh.positions, &topology.triangles).len()
    {
        notes.push(format!(
            "triangles that cross or touch others beside their own corners: {crossing} pairs; `weld` joins double points"
        ));
    }
    notes
}
