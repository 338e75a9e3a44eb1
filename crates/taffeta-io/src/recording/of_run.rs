//! What a recording says of the run that it is of.

use super::Header;
use crate::scene_file;
use serde_json::{Value, json};
use taffeta::model::{ClothPiece, Collider, Model};
use taffeta_scene::Scene;

impl Header {
    /// The header of a run of a scene, which goes by `name`, on so many threads.
    pub fn of_run(scene: &Scene, name: &str, model: &Model, threads: usize) -> Self {
        let mut pinned: Vec<u32> = model.pins.iter().flat_map(|pin| pin.particles.iter().copied()).collect();
        pinned.sort_unstable();
        pinned.dedup();
        Self {
            scene: scene_file::to_toml(scene),
            about: about(name, model, threads),
            frame_time: scene.frame_time,
            triangles: model.triangles.clone(),
            edges: model.edges.clone(),
            rest_lengths: model.rest_lengths.clone(),
            rest_positions: model.rest_positions.clone(),
            material: model.material.clone(),
            pinned,
        }
    }
}

fn about(name: &str, model: &Model, threads: usize) -> Value {
    let cloth = |cloth: &ClothPiece| {
        json!({
            "name": cloth.name,
            "particles": [cloth.particles.start, cloth.particles.end],
            "triangles": [cloth.triangles.start, cloth.triangles.end],
            "edges": [cloth.edges.start, cloth.edges.end],
            "colour": cloth.fabric.colour,
        })
    };
    let collider = |collider: &Collider| {
        let mut told = json!({ "name": collider.name, "shape": collider.form });
        if collider.free.is_some() {
            told["free"] = true.into();
        }
        told
    };
    // The particles that each stitch draws together, and how far apart they are once it has [m].
    let seams = model.links.ends.iter().zip(&model.links.stitch_length);
    json!({
        "taffeta": env!("CARGO_PKG_VERSION"),
        "scene": name,
        "method": model.method.name(),
        "threads": threads,
        "tolerance": model.tolerance,
        "cloths": model.cloths.iter().map(cloth).collect::<Vec<_>>(),
        "seams": seams.map(|([a, b], length)| json!([a, b, length])).collect::<Vec<_>>(),
        "colliders": model.colliders.iter().map(collider).collect::<Vec<_>>(),
    })
}
