//! The pictures of the papers, made again.

use crate::page::{Section, taken};
use crate::{BenchError, percent};
use taffeta_io::scene_file::{self, SceneSource};

/// A picture: the scene, what is changed in it, when it is taken, and what it shows.
struct Still {
    scene: &'static str,
    sets: Vec<String>,
    frames: u32,
    words: String,
    /// Strain of the last colour, if cloth is coloured by it.
    strain: Option<f64>,
}

fn still(scene: &'static str, sets: &[&str], frames: u32, words: &str) -> Still {
    let sets = sets.iter().map(|set| (*set).to_string()).collect();
    Still { scene, sets, frames, words: words.into(), strain: None }
}

/// Adds the pictures of a part to its section.
pub fn add(part: &str, quick: bool, section: &mut Section) -> Result<(), BenchError> {
    for still in stills(part, quick) {
        let Ok(source) = SceneSource::find(still.scene) else {
            section.words.push(format!(
                "There is no built-in scene `{}` in this version, so there is no picture of it.",
                still.scene
            ));
            continue;
        };
        let loaded = scene_file::load(&source, &still.sets)?;
        let built = taffeta_scene::simulation(&loaded.scene, &loaded.meshes);
        let mut simulation = built.map_err(|faults| loaded.refuse(faults))?;
        for _ in 0..still.frames * loaded.scene.solver.steps_per_frame {
            simulation.step()?;
        }
        let found = percent(simulation.certificate().max_strain);
        let words = format!("{} Largest strain {found}.", still.words);
        section.pictures.push(taken(&simulation, words, still.strain)?);
    }
    Ok(())
}

fn stills(part: &str, quick: bool) -> Vec<Still> {
    let few = |small: u32, full: u32| if quick { small } else { full };
    match part {
        "hang" => tolerances(quick),
        "drape" => vec![
            if quick {
                still(
                    "drape",
                    &["solver.tolerance=0.0001", "cloth[0].sheet.columns=40", "cloth[0].sheet.rows=40"],
                    40,
                    "P2 fig. 7: a sheet of 40 × 40 over a sphere.",
                )
            } else {
                still(
                    "drape",
                    &["solver.tolerance=0.0001"],
                    90,
                    "P2 fig. 7: a sheet of 100 × 100 over a sphere.",
                )
            },
            still(
                "objects",
                &["solver.method=impulse-strips", "solver.tolerance=0.0001"],
                few(25, 90),
                "P2 fig. 8: objects fall into a sheet.",
            ),
        ],
        "flags" => vec![
            still("flag-calm", &[], few(30, 120), "P4: a flag in a light wind."),
            still("flag-storm", &[], few(30, 120), "P4: a flag in a storm."),
            still("shirt", &[], few(50, 90), "P4: a body that wears a shirt, just sewn."),
            still("sponge-stairs", &[], few(45, 60), "P4: a sponge, a lattice of springs, falls downstairs."),
        ],
        _ => Vec::new(),
    }
}

/// P1's figure 4: one sheet of 41 × 41 by tolerances.
fn tolerances(quick: bool) -> Vec<Still> {
    let all = [(0.1, "10 %"), (0.01, "1 %"), (0.001, "0.1 %"), (0.0001, "0.01 %")];
    let shown = if quick { &all[1..] } else { &all[..] };
    let of = |(tolerance, word): &(f64, &str)| Still {
        scene: "hang",
        sets: vec![
            "solver.method=impulse-strips".into(),
            format!("solver.tolerance={tolerance}"),
            "cloth[0].sheet.columns=41".into(),
            "cloth[0].sheet.rows=41".into(),
        ],
        frames: if quick { 13 } else { 40 },
        words: format!("P1 fig. 4: 41 × 41 particles at a tolerance of {word}."),
        strain: Some(*tolerance),
    };
    shown.iter().map(of).collect()
}
