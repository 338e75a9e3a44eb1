//! What can still be said of a scene of which parts are faulty: the contradictions among the rest.

use serde_json::Value;
use taffeta_scene::place::{Step, steps};
use taffeta_scene::{Fault, Scene};

/// Contradictions in the scene without its faulty parts, except those that concern such a part.
pub fn contradictions(mut value: Value, faults: &[Fault]) -> Vec<Fault> {
    let faulty: Vec<Vec<Step>> = faults.iter().filter_map(|fault| steps(&fault.key)).collect();
    faulty.iter().for_each(|path| take_out(&mut value, path));
    let Ok(scene) = Scene::from_json(value) else { return Vec::new() };
    let concerns =
        |path: &[Step]| faulty.iter().any(|other| path.starts_with(other) || other.starts_with(path));
    scene
        .contradictions()
        .into_iter()
        .filter(|fault| steps(&fault.key).is_some_and(|path| !concerns(&path)))
        .collect()
}

/// Removes what stands at `path`: the key, or that of the list an item stands in, or the table that lacks the key.
fn take_out(value: &mut Value, path: &[Step]) {
    let Some((Step::Key(key), table)) = path.split_last() else {
        return path.split_last().map_or((), |(_, list)| take_out(value, list));
    };
    let parent = table.iter().try_fold(&mut *value, |at, step| match step {
        Step::Key(name) => at.get_mut(name),
        Step::Item(index) => at.get_mut(index),
    });
    let there = parent.and_then(Value::as_object_mut).and_then(|object| object.remove(key));
    if there.is_none() {
        take_out(value, table);
    }
}
