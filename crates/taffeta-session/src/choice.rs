//! What can be opened: the built-in scenes, what the command line named, and what was recorded since.

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
}

#[derive(Debug, Clone)]
enum Source {
    Scene(SceneSource),
    /// The text of a page, which names no files.
    Text(String),
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
        Ok(Self { title: String::new(), id, source: Source::Scene(source) })
    }

    /// A recording.
    pub fn recording(kept: &Kept) -> Self {
        Self { title: "a recording".into(), id: kept.name(), source: Source::Recording(kept.clone()) }
    }

    /// A scene that a page has brought. It has no files but those built in.
    pub fn text(name: &str, text: String) -> Self {
        Self { title: "a scene of this page".into(), id: name.into(), source: Source::Text(text) }
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
            Source::Recording(kept) => Ok(Opened::Film(Box::new(Film::of(kept.reader()?)?))),
        }
    }

    /// Whether a page has brought it.
    pub fn is_text(&self) -> bool {
        matches!(self.source, Source::Text(_))
    }

    fn live(name: String, scene: Scene, meshes: BTreeMap<String, Mesh>) -> Result<Opened, OpenError> {
        edit::bounded(&scene, 1)?;
        Ok(Opened::Live(Box::new(Live::open(name, scene, meshes).map_err(OpenError::Model)?)))
    }

    /// What a page is told of it.
    pub fn told(&self) -> Value {
        json!({ "id": self.id, "title": self.title, "recording": matches!(self.source, Source::Recording(_)) })
    }
}
