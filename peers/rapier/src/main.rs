//! Rapier's soft bodies on the sheet of `peers/sheet.py`: stiff edges, diagonals as soft bending edges.

use rapier3d::prelude::*;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::time::Instant;

const FRAME: f32 = 1.0 / 30.0;
const MASS: f32 = 0.2;
const BALL: f32 = 0.3;
const FRICTION: f32 = 0.3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let (out, settings): (&str, Value) = (&words[1], serde_json::from_str(&words[2])?);
    let n = settings["n"].as_u64().unwrap_or(10) as u32;
    let drape = settings["scene"] == "drape";
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, -9.81, 0.0);
    world.integration_parameters.dt = FRAME;
    world.integration_parameters.num_solver_iterations = settings["substeps"].as_u64().unwrap_or(4) as usize;
    if drape {
        world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(BALL).friction(FRICTION));
    }
    let start = positions(n, if drape { BALL + 0.05 } else { 0.0 });
    let sheet = world.insert_soft_body(builder(n, start.clone(), drape, &settings));

    fs::create_dir_all(out)?;
    let mut film = BufWriter::new(File::create(format!("{out}/frames.f64"))?);
    let mut write = |points: Vec<Vector>| {
        let numbers = points.iter().flat_map(|p| [p.x, p.y, p.z]);
        film.write_all(&numbers.flat_map(|x| f64::from(x).to_le_bytes()).collect::<Vec<u8>>())
    };
    write(start)?;
    let (mut cpu_ms, mut wall_ms) = (Vec::new(), Vec::new());
    for _ in 0..settings["frames"].as_u64().unwrap_or(30) {
        let (begun, spent) = (Instant::now(), cpu_time());
        world.step();
        cpu_ms.push(cpu_time() - spent);
        wall_ms.push(1e3 * begun.elapsed().as_secs_f64());
        write(world.soft_bodies[sheet].particle_positions().collect())?;
        if cpu_ms.iter().sum::<f64>() > 1e3 * settings["seconds"].as_f64().unwrap_or(1e9) {
            break;
        }
    }
    let about = json!({ "peer": "Rapier", "version": "0.36", "settings": settings, "cpu_ms": cpu_ms, "wall_ms": wall_ms });
    Ok(fs::write(format!("{out}/peer.json"), about.to_string())?)
}

fn positions(n: u32, height: f32) -> Vec<Vector> {
    let at = |k: u32| k as f32 / (n - 1) as f32 - 0.5;
    (0..n * n).map(|i| Vector::new(at(i % n), height, at(i / n))).collect()
}

fn builder(n: u32, start: Vec<Vector>, drape: bool, settings: &Value) -> SoftBodyBuilder {
    let (mut edges, mut diagonals, mut surface) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n * n {
        let (right, below) = (i % n + 1 < n, i / n + 1 < n);
        edges.extend(right.then_some([i, i + 1]));
        edges.extend(below.then_some([i, i + n]));
        if right && below {
            diagonals.push([i, i + n + 1]);
            surface.extend([[i, i + n, i + n + 1], [i, i + n + 1, i + 1]]);
        }
    }
    // Stiffness is told as the frequency of a spring [Hz]: as high as it goes for edges, soft for diagonals.
    let spring = |natural_frequency: f32| SpringCoefficients { natural_frequency, damping_ratio: 1.0 };
    let material = SoftBodyMaterial { edge_softness: spring(1e6), bend_softness: spring(20.0), ..Default::default() };
    let sheet = SoftBodyBuilder::new(start)
        .mass(MASS)
        .edges(edges)
        .bend_edges(diagonals)
        .surface(surface)
        .material(material)
        .linear_damping(0.0)
        .particle_radius(0.002)
        .additional_pgs_iterations(settings["iterations"].as_u64().unwrap_or(0) as usize)
        .can_sleep(false);
    if drape {
        sheet.self_contacts(settings["self_contact"] == true)
    } else {
        sheet.no_surface_collider().self_contacts(false).pinned_particles([0, n - 1])
    }
}

/// CPU time of this process so far [ms].
fn cpu_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    1e3 * time.tv_sec as f64 + 1e-6 * time.tv_nsec as f64
}
