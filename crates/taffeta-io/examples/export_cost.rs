//! What an export costs: time, size and peak memory of a process that does one export and nothing else.
//!
//! `cargo run --release -p taffeta-io --example export_cost -- FOLDER FORMAT [FRAMES SIDE]` first makes a recording of a
//! waving square of SIDE times SIDE particles, unless it is there already.

use serde_json::json;
use std::{error::Error, path::Path, time::Instant};
use taffeta::math::{DVec3, trig};
use taffeta_io::export::{Format, Options, export};
use taffeta_io::recording::{Frame, Header, Reader, Writer};

fn record(path: &Path, frames: u32, side: u32) -> Result<(), Box<dyn Error>> {
    let (mut header, step) = (
        Header {
            scene: String::new(),
            about: json!({}),
            frame_time: 1.0 / 30.0,
            triangles: vec![],
            edges: vec![],
            rest_lengths: vec![],
            rest_positions: vec![],
            material: vec![],
            pinned: vec![],
        },
        1.0 / f64::from(side),
    );
    for (j, i) in (0..side).flat_map(|j| (0..side).map(move |i| (j, i))) {
        header.rest_positions.push(DVec3::new(step * f64::from(i), 0.0, -step * f64::from(j)));
        header.material.push([step * f64::from(i), step * f64::from(j)]);
        if i > 0 && j > 0 {
            let at = |i, j| j * side + i;
            header.triangles.push([at(i - 1, j - 1), at(i, j - 1), at(i, j)]);
            header.triangles.push([at(i - 1, j - 1), at(i, j), at(i - 1, j)]);
        }
    }
    let mut writer = Writer::create(path, &header)?;
    let mut frame = Frame::default();
    for number in 1..=frames {
        let time = f64::from(number) / 30.0;
        let wave = |p: &DVec3| 0.1 * trig::sin(9.0 * p.x + 4.0 * time) * trig::cos(7.0 * p.z - 3.0 * time);
        let moved: Vec<DVec3> = header.rest_positions.iter().map(|p| *p + DVec3::Y * wave(p)).collect();
        (frame.number, frame.time, frame.report) = (number, time, json!({ "strain": wave(&DVec3::ONE) }));
        frame.set_positions(&moved);
        writer.frame(&frame)?;
    }
    Ok(writer.finish()?)
}

/// The most memory that this process ever had, where the system tells [kB].
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, format, sizes @ ..] = &arguments[..] else {
        return Err("name a folder and a format".into());
    };
    let number = |k: usize, default| sizes.get(k).map_or(Ok(default), |text| text.parse());
    let (frames, side, format) = (number(0, 250)?, number(1, 100)?, format.parse::<Format>()?);
    std::fs::create_dir_all(folder)?;
    let recording = Path::new(folder).join(format!("{frames}_{side}.taffeta"));
    if !recording.exists() {
        return record(&recording, frames, side)
            .map(|()| println!("recorded {recording:?}; run again to export it"));
    }
    let mut reader = Reader::open(&recording)?;
    let to = Path::new(folder).join(format!("cost_{format}")).with_extension(format.extension());
    let options = Options { replace: true, ..Options::default() };
    let start = Instant::now();
    let done = export(&mut reader, format, &to, &options, &mut |_, _| {})?;
    let (seconds, megabytes) = (start.elapsed().as_secs_f64(), done.bytes as f64 / 1e6);
    let peak =
        peak_memory().map_or("unknown".into(), |kilobytes| format!("{:.1} MB", kilobytes as f64 / 1e3));
    println!("| {format} | {seconds:.2} s | {megabytes:.1} MB | {peak} |");
    Ok(())
}
