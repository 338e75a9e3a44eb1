//! Scenes as Python gives them: a name, a path, or plain data with surfaces as arrays.

use crate::arrays::{points, rows};
use crate::errors::{faulty, refused};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyString;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use taffeta_io::catalogue;
use taffeta_io::scene_file::{self, LoadedScene, SceneFaults, SceneSource};
use taffeta_scene::{Fault, Mesh, Method, presets};

/// A scene that was asked for, with all that it takes to build it again.
#[derive(Debug, Clone)]
pub struct AskedScene {
    /// The scene and the surfaces it names.
    pub loaded: LoadedScene,
    /// Whether it is from a text that its author wrote.
    written: bool,
}

/// A surface: points, triangles, quads, lines.
type Surface<'py> = (
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray2<'py, u32>,
    PyReadonlyArray2<'py, u32>,
    PyReadonlyArray2<'py, u32>,
);

impl AskedScene {
    /// Of a name, a path, or anything that `taffeta.scene.parts` takes apart.
    pub fn new(scene: &Bound<PyAny>, sets: &[String]) -> PyResult<Self> {
        let py = scene.py();
        let path = scene.is_instance_of::<PyString>() || scene.hasattr("__fspath__")?;
        if path {
            let text: PathBuf = scene.extract()?;
            let found =
                SceneSource::find(&text.to_string_lossy()).and_then(|source| scene_file::load(&source, sets));
            return Ok(Self { loaded: found.map_err(|faults| faulty(py, &faults))?, written: true });
        }
        let parts = py.import("taffeta.scene")?.call_method1("parts", (scene,))?;
        let (name, text, folder, arrays) =
            parts.extract::<(String, String, PathBuf, BTreeMap<String, Surface>)>()?;
        let meshes = arrays.iter().map(|(name, surface)| Ok((name.clone(), mesh(name, surface)?)));
        let meshes = meshes.collect::<PyResult<BTreeMap<String, Mesh>>>()?;
        let source = SceneSource::Text { name, text: toml_of(&text)?, folder };
        let loaded =
            scene_file::load_with(&source, sets, meshes).map_err(|faults| faulty(py, &placeless(faults)))?;
        Ok(Self { loaded, written: false })
    }

    /// The simulation at its start.
    pub fn simulation(&self, py: Python) -> PyResult<taffeta::Simulation> {
        let LoadedScene { scene, meshes, .. } = &self.loaded;
        py.detach(|| taffeta_scene::simulation(scene, meshes))
            .map_err(|faulty| self.refuse(py, faulty.faults))
    }

    fn refuse(&self, py: Python, faults: Vec<Fault>) -> PyErr {
        let faults = self.loaded.refuse(faults);
        faulty(py, &if self.written { faults } else { placeless(faults) })
    }
}

/// Faults of a text that nobody has seen: their keys say where they are.
fn placeless(mut faults: SceneFaults) -> SceneFaults {
    faults.faults.iter_mut().for_each(|fault| fault.span = None);
    faults
}

fn mesh(name: &str, (positions, triangles, quads, lines): &Surface) -> PyResult<Mesh> {
    Ok(Mesh {
        positions: points(positions, name)?,
        triangles: rows(triangles, name)?,
        quads: rows(quads, name)?,
        lines: rows(lines, name)?,
        ..Mesh::default()
    })
}

/// Plain data, as JSON, as the text of a scene file.
fn toml_of(json: &str) -> PyResult<String> {
    let value: Value = serde_json::from_str(json).map_err(refused)?;
    toml::to_string(&value).map_err(refused)
}

/// Reads a built-in scene or a scene file: its complete data as JSON, its name, and the folder of its files.
#[pyfunction]
pub fn read_scene(scene: &Bound<PyAny>, sets: Vec<String>) -> PyResult<(String, String, PathBuf)> {
    let LoadedScene { scene, name, folder, .. } = AskedScene::new(scene, &sets)?.loaded;
    Ok((scene.to_json().to_string(), name, folder.unwrap_or_default()))
}

/// The complete text of a scene, all defaults written out.
#[pyfunction]
pub fn to_toml(scene: &Bound<PyAny>) -> PyResult<String> {
    Ok(scene_file::to_toml(&AskedScene::new(scene, &[])?.loaded.scene))
}

/// Names and titles of all built-in scenes.
#[pyfunction]
pub fn built_in() -> Vec<(&'static str, &'static str)> {
    catalogue::scenes().iter().map(|scene| (scene.name, scene.title())).collect()
}

/// Names of all methods, and what they are.
#[pyfunction]
pub fn methods() -> Vec<(&'static str, &'static str)> {
    Method::ALL.iter().map(|method| (method.name(), method.about())).collect()
}

/// Names of all built-in fabrics, what they are, and their numbers as JSON.
#[pyfunction]
pub fn fabrics() -> Vec<(String, String, String)> {
    let told = |preset: taffeta_scene::Preset| {
        (
            preset.name.to_string(),
            preset.about.to_string(),
            serde_json::to_string(&preset.fabric).unwrap_or_default(),
        )
    };
    presets().into_iter().map(told).collect()
}

/// The JSON Schema of a scene, as text.
#[pyfunction]
pub fn schema() -> String {
    taffeta_scene::schema().to_string()
}
