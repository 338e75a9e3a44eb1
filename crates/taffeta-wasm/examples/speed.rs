//! How long frames take natively: what `crates/taffeta-view/web/tests/speed.mjs` compares WebAssembly with. Prints processor time per frame [ms], and the hash
//! of the last one.
//!
//!     RAYON_NUM_THREADS=1 cargo run --release -p taffeta-wasm --example speed -- SCENE FRAMES

use std::fs;
use std::time::Instant;
use taffeta_wasm::Simulation;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let scene = arguments.next().ok_or("which scene?")?;
    let frames: u32 = arguments.next().ok_or("how many frames?")?.parse()?;
    let mut simulation = Simulation::of(&scene)?;
    let (begun, busy) = (Instant::now(), busy_seconds());
    for _ in 0..frames {
        simulation.step().map_err(|_| "the simulation cannot go on")?;
    }
    let wall = begun.elapsed().as_secs_f64();
    let taken = busy_seconds().zip(busy).map_or(wall, |(now, before)| now - before);
    println!("{} {}", 1e3 * taken / f64::from(frames.max(1)), simulation.hash());
    Ok(())
}

/// What all threads of this program have computed [s], where the system tells.
fn busy_seconds() -> Option<f64> {
    let of = |task: fs::DirEntry| {
        let told = fs::read_to_string(task.path().join("schedstat")).ok()?;
        told.split_whitespace().next()?.parse::<f64>().ok()
    };
    let tasks = fs::read_dir("/proc/self/task").ok()?;
    Some(1e-9 * tasks.flatten().filter_map(of).sum::<f64>())
}
