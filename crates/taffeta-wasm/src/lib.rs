//! The engine for JavaScript: what `npm/engine.js` makes a package of.
//!
//! Numbers by the thousand stay in the memory of the module; JavaScript is told where they are and looks at them there.

#[cfg(not(feature = "threads"))]
mod alone;
mod desk;
#[cfg(feature = "threads")]
mod threads;

use serde_json::{Value, json};
use taffeta_io::catalogue;
use taffeta_io::scene_file::{self, SceneSource};
use wasm_bindgen::prelude::*;

/// A simulation.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Simulation {
    inner: taffeta::Simulation,
}

#[wasm_bindgen]
impl Simulation {
    /// Of a scene by its text, TOML, or by the name of a built-in one. Fails with all that is wrong with it. Scenes that name files have none to read here.
    #[wasm_bindgen(constructor)]
    pub fn new(scene: &str) -> Result<Simulation, JsError> {
        Self::of(scene).map_err(|faults| JsError::new(&faults))
    }

    /// Moves on by one frame and tells of it, as JSON.
    pub fn step(&mut self) -> Result<String, JsError> {
        let report = self.inner.step_frame(&mut ()).map_err(|error| JsError::new(&error.to_string()))?;
        let told = json!({
            "iterations": report.iterations,
            "substeps": report.substeps,
            "converged": report.converged,
            "shortfall": report.shortfall.map(|reason| reason.to_string()),
            "contacts": report.contacts,
        });
        Ok(told.to_string())
    }

    /// Simulated time [s].
    pub fn time(&self) -> f64 {
        self.inner.state().time
    }

    /// Strain and intersections of the present state, as JSON.
    pub fn certificate(&self) -> String {
        let certificate = self.inner.certificate();
        json!({
            "tolerance": self.inner.model().tolerance,
            "maxStrain": certificate.max_strain,
            "meanStrain": certificate.mean_strain,
            "clothCloth": certificate.cloth_cloth,
            "clothBody": certificate.cloth_body,
            // There is no smallest gap without bodies.
            "minGap": Some(certificate.min_gap).filter(|gap| gap.is_finite()),
        })
        .to_string()
    }

    /// Energies of the present state [J], as JSON.
    pub fn energy(&self) -> String {
        let energy = self.inner.energy();
        json!({ "kinetic": energy.kinetic, "gravity": energy.gravity, "elastic": energy.elastic }).to_string()
    }

    /// A fingerprint of the present state: the same bits give the same one anywhere.
    pub fn hash(&self) -> String {
        format!("{:016x}", self.inner.state().hash())
    }

    /// Pieces of cloth as JSON: their names, colours, particles and triangles.
    pub fn cloths(&self) -> String {
        let cloth = |c: &taffeta::model::ClothPiece| {
            let (particles, triangles) = (&c.particles, &c.triangles);
            json!({
                "name": c.name,
                "colour": c.fabric.colour,
                "particles": [particles.start, particles.end],
                "triangles": [triangles.start, triangles.end],
            })
        };
        Value::from(self.inner.model().cloths.iter().map(cloth).collect::<Vec<_>>()).to_string()
    }

    /// How many particles there are.
    pub fn particle_count(&self) -> usize {
        self.inner.state().positions.len()
    }

    /// Where their positions are in memory: x, y, z of each as `f64` [m]. Another step, and any growth of the memory, moves them.
    pub fn positions_at(&self) -> usize {
        self.inner.state().positions.as_ptr() as usize
    }

    /// How many triangles there are.
    pub fn triangle_count(&self) -> usize {
        self.inner.model().triangles.len()
    }

    /// Where the corners of triangles are in memory: three `u32` for each.
    pub fn triangles_at(&self) -> usize {
        self.inner.model().triangles.as_ptr() as usize
    }
}

impl Simulation {
    /// The same in Rust: all that is wrong is text.
    pub fn of(scene: &str) -> Result<Self, String> {
        let known = catalogue::scenes().iter().find(|known| known.name == scene);
        let (scene, meshes) = match known {
            Some(known) => {
                let loaded = scene_file::load(&SceneSource::BuiltIn(*known), &[]);
                let loaded = loaded.map_err(|faults| faults.to_string())?;
                (loaded.scene, loaded.meshes)
            }
            None => {
                let read = scene_file::from_text("scene", scene, &[]);
                (read.map_err(|faults| faults.to_string())?, Default::default())
            }
        };
        let inner = taffeta_scene::simulation(&scene, &meshes)
            .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        Ok(Self { inner })
    }
}

/// The built-in scenes as JSON: names and titles.
#[wasm_bindgen]
pub fn scenes() -> String {
    let scene = |known: &catalogue::BuiltIn| json!({ "name": known.name, "title": known.title() });
    Value::from(catalogue::scenes().iter().map(scene).collect::<Vec<_>>()).to_string()
}
