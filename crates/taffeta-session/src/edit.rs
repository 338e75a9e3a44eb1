//! A scene with one key changed, checked like a scene file.

use crate::memory;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use taffeta_scene::place::{Step, steps};
use taffeta_scene::{Fault, Mesh, Scene, faults_of_value};

/// More particles than this are refused: a slip of the hand in a page must not fill the memory.
pub const MOST_PARTICLES: u64 = 500_000;

/// Why a key was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The key is not one.
    #[error("`{0}` is no key of a scene; write it like `solver.tolerance` or `cloth[0].sheet.rows`")]
    NoKey(String),
    /// The way to it does not exist.
    #[error("`{0}` has no such item or table in this scene")]
    NoSuchPlace(String),
    /// The scene would have faults.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Faults(Vec<Fault>),
    /// The scene would be too large.
    #[error("{found} particles are more than the viewer runs ({MOST_PARTICLES}); `taffeta run` takes more")]
    TooLarge {
        /// How many there would be.
        found: u64,
    },
    /// The scene would fill the memory.
    #[error(
        "about {} MB would be needed, more than half of the memory there is ({} MB); take fewer particles, or columns and rows that are about as far apart",
        .needed / 1_000_000, .allowed / 1_000_000
    )]
    TooMuchMemory {
        /// What it would take [bytes].
        needed: u64,
        /// What it may [bytes].
        allowed: u64,
    },
}

/// The scene with the key at `path` set to a value, or taken out by null.
pub fn with(scene: &Scene, path: &str, value: &Value) -> Result<Scene, EditError> {
    let way = steps(path).ok_or_else(|| EditError::NoKey(path.into()))?;
    let mut tree = scene.to_json();
    lay(&mut tree, &way, value).ok_or_else(|| EditError::NoSuchPlace(path.into()))?;
    let mut faults = faults_of_value(&tree);
    if faults.is_empty() {
        match Scene::from_json(tree) {
            Ok(changed) => {
                faults = changed.contradictions();
                if faults.is_empty() {
                    bounded(&changed, &BTreeMap::new(), 1)?;
                    return Ok(changed);
                }
            }
            Err(error) => faults.push(Fault::new(path, value, error.to_string(), "set another value")),
        }
    }
    Err(EditError::Faults(faults))
}

/// Whether so many simulations of the scene are small enough to be looked at.
pub fn bounded(scene: &Scene, meshes: &BTreeMap<String, Mesh>, sides: u64) -> Result<(), EditError> {
    let found = scene.particle_estimate(meshes);
    if found > MOST_PARTICLES {
        return Err(EditError::TooLarge { found });
    }
    let needed = scene.memory_estimate(meshes).saturating_mul(sides);
    match memory::allowed() {
        Some(allowed) if needed > allowed => Err(EditError::TooMuchMemory { needed, allowed }),
        _ => Ok(()),
    }
}

/// Puts the value at the end of the way; tables that are missing on it are made, items of lists are not.
fn lay(tree: &mut Value, way: &[Step], value: &Value) -> Option<()> {
    let (last, before) = way.split_last()?;
    let mut place = tree;
    for step in before {
        place = match step {
            Step::Key(name) => {
                let table = place.as_object_mut()?;
                table.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()))
            }
            Step::Item(index) => place.get_mut(index)?,
        };
    }
    match last {
        Step::Key(name) if value.is_null() => drop(place.as_object_mut()?.remove(name)?),
        Step::Key(name) => drop(place.as_object_mut()?.insert(name.clone(), value.clone())),
        Step::Item(index) => *place.get_mut(index)? = value.clone(),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use taffeta_io::catalogue;
    use taffeta_io::scene_file::from_text;

    fn flag() -> Scene {
        let scene = catalogue::scenes().iter().find(|scene| scene.name == "flag").unwrap();
        from_text("flag", scene.text, &[]).unwrap()
    }

    #[test]
    fn keys_are_set_made_and_taken_out() {
        let scene = with(&flag(), "air.wind[0]", &json!(9)).unwrap();
        assert_eq!(scene.air.wind, [9.0, 0.0, 0.6]);
        let scene = with(&scene, "solver.substeps", &json!(300)).unwrap();
        assert_eq!(scene.solver.substeps, Some(300));
        assert_eq!(with(&scene, "solver.substeps", &Value::Null).unwrap().solver.substeps, None);
        let scene = with(&scene, "fabrics.silk.density", &json!(77)).unwrap();
        assert_eq!(scene.fabrics["silk"].density, Some(77.0));
    }

    #[test]
    fn what_no_scene_can_hold_is_refused() {
        let scene = flag();
        for (key, value) in [
            ("", json!(1)),
            ("a b", json!(1)),
            ("no.such.key", json!(1)),
            ("cloth[7].fabric", json!("silk")),
            ("cloth[18446744073709551616].fabric", json!("silk")),
            ("air.wind[3]", json!(1)),
            ("air.wind", json!([1, 2])),
            ("air.density", json!(-1)),
            ("air.density", json!("much")),
            ("air.density", json!({ "a": [1] })),
            ("cloth[0].fabric", json!("tin")),
            ("cloth[0].sheet.rows", json!(10_000)),
            ("cloth[0].sheet", Value::Null),
            ("solver.substeps", Value::Null),
        ] {
            with(&scene, key, &value).expect_err(key);
        }
    }
}
