//! Reads a recording frame by frame, and goes on from its last full state.
//!
//!     cargo run --release -- run drape --frames 30 --out drape
//!     cargo run --release --example reading_a_recording -- drape/recording.taffeta

use std::error::Error;
use taffeta_io::recording::{Frame, Reader};
use taffeta_io::scene_file;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a recording")?;
    let mut reader = Reader::open(&path)?;
    let mut frame = Frame::default();
    while reader.next_frame(&mut frame)? {
        let lowest =
            frame.positions.iter().map(|x| f64::from(x[1])).fold(f64::INFINITY, f64::min) + frame.centre.y;
        println!("frame {:3} at {:.3} s: lowest {lowest:.3} m", frame.number, frame.time);
    }
    if let Some(state) = reader.last_state()? {
        // The recording holds its scene; meshes that it names would have to be read beside it.
        let scene = scene_file::from_text(&path, &reader.header().scene, &[])?;
        let mut simulation = taffeta_scene::simulation(&scene, &Default::default())?;
        simulation.restore(&state.bytes)?;
        simulation.step_frame(&mut ())?;
        println!("one frame on from frame {}: {:.3} s", state.frame, simulation.state().time);
    }
    Ok(())
}
