//! What can be opened: the built-in scenes, what the command line named, and what was recorded since.

use crate::brought;
use crate::edit::{self, EditError};
use crate::film::Film;
use crate::live::Live;
use crate::tape::Kept;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use taffeta_io::catalogue;
use taffeta_io::recording::{RecordingError, meant};
use taffeta_io::scene_file::{self, SceneFaults, SceneSource};
use taffeta_scene::{Fault, Mesh, Scene};

/// Something that a page may open by its name. Pages never name files.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Its name.
    pub id: String,
    /// What it shows.
    pub title: String,
    source: Source,
    /// How large it is, where a page has brought it [bytes].
    brought: Option<usize>,
}

#[derive(Debug, Clone)]
enum Source {
    Scene(SceneSource),
    /// The text of a page, which names no files.
    Text(String),
    /// A mesh of a page under its name, and the text of the scene that has it.
    Mesh(String, Box<Mesh>),
    Recording(Kept),
}

/// What is open.
pub enum Opened {
    /// A scene that is simulated.
    Live(Box<Live>),
    /// A recording.
    Film(Box<Film>),
}

impl Opened {
    /// The number of the present frame.
    pub fn frame(&self) -> u64 {
        match self {
            Self::Live(live) => live.frame,
            Self::Film(film) => film.at as u64,
        }
    }
}

/// Why something cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The scene has faults.
    #[error(transparent)]
    Scene(#[from] SceneFaults),
    /// The scene cannot be built.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Model(Vec<Fault>),
    /// The scene is too large.
    #[error(transparent)]
    TooLarge(#[from] EditError),
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

impl Choice {
    /// All built-in scenes.
    pub fn built_in() -> Vec<Self> {
        let choice = |scene: &catalogue::BuiltIn| Self {
            id: scene.name.into(),
            title: scene.title().into(),
            source: Source::Scene(SceneSource::BuiltIn(*scene)),
            brought: None,
        };
        catalogue::scenes().iter().map(choice).collect()
    }

    /// What the user means by `text`: a recording or the folder of one, else a scene.
    pub fn named(text: &str) -> Result<Self, SceneFaults> {
        if let Some(path) = meant(Path::new(text)) {
            return Ok(Self::recording(&Kept::File(path)));
        }
        let source = SceneSource::find(text)?;
        let id = match &source {
            SceneSource::BuiltIn(scene) => scene.name.into(),
            SceneSource::File(path) => path.display().to_string(),
            SceneSource::Text { name, .. } => name.clone(),
        };
        Ok(Self { title: String::new(), id, source: Source::Scene(source), brought: None })
    }

    /// A recording.
    pub fn recording(kept: &Kept) -> Self {
        let (title, source) = ("a recording".into(), Source::Recording(kept.clone()));
        Self { title, id: kept.name(), source, brought: None }
    }

    /// A scene that a page has brought. It has no files but those built in.
    pub fn text(name: &str, text: String) -> Self {
        let (title, brought) = ("a scene of this page".into(), Some(text.len()));
        Self { title, id: name.into(), source: Source::Text(text), brought }
    }

    /// A file that a page has brought; its name says what it is. It can name no others.
    pub fn file(name: &str, bytes: Vec<u8>) -> Result<Self, String> {
        let (stem, kind) = name.rsplit_once('.').unwrap_or((name, ""));
        let (id, size) = (name.to_string(), bytes.len());
        match kind.to_ascii_lowercase().as_str() {
            "toml" => {
                let text = String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8"))?;
                Ok(Self::text(stem, text))
            }
            "taffeta" => {
                let kept = Kept::Memory(id, bytes.into());
                Ok(Self { brought: Some(size), ..Self::recording(&kept) })
            }
            "obj" | "ply" | "stl" | "gltf" | "glb" => {
                let (text, mesh) = brought::scene_of_mesh(name, &bytes)?;
                let source = Source::Mesh(text, Box::new(mesh));
                Ok(Self { title: "a mesh of this page".into(), id, source, brought: Some(size) })
            }
            _ => Err(format!(
                "{name}: scenes (.toml), meshes (.obj, .ply, .stl, .gltf, .glb) and recordings (.taffeta) can be brought"
            )),
        }
    }

    /// Opens it at its start.
    pub fn open(&self) -> Result<Opened, OpenError> {
        match &self.source {
            Source::Scene(source) => {
                let loaded = scene_file::load(source, &[])?;
                Self::live(loaded.name, loaded.scene, loaded.meshes)
            }
            Source::Text(text) => {
                let scene = scene_file::from_text(&self.id, text, &[])?;
                Self::live(self.id.clone(), scene, BTreeMap::new())
            }
            Source::Mesh(text, mesh) => {
                let scene = scene_file::from_text(&self.id, text, &[])?;
                Self::live(self.id.clone(), scene, BTreeMap::from([(self.id.clone(), (**mesh).clone())]))
            }
            Source::Recording(kept) => Ok(Opened::Film(Box::new(Film::of(kept.reader()?)?))),
        }
    }

    /// How large it is, where a page has brought it [bytes].
    pub fn brought(&self) -> Option<usize> {
        self.brought
    }

    fn live(name: String, scene: Scene, meshes: BTreeMap<String, Mesh>) -> Result<Opened, OpenError> {
        edit::bounded(&scene, &meshes, 1)?;
        Ok(Opened::Live(Box::new(Live::open(name, scene, meshes).map_err(OpenError::Model)?)))
    }

    /// What a page is told of it.
    pub fn told(&self) -> Value {
        json!({ "id": self.id, "title": self.title, "recording": matches!(self.source, Source::Recording(_)) })
    }
}
