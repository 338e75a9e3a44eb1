//! Many hanging sheets that stay on a card.

use super::{Args, hang};
use crate::measure::{build, median, timed};
use crate::{BenchError, figures, percent};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;
use taffeta_cuda::{Batch, CudaDevice, CudaError, number_of};

/// Kicks that members start from, in turn.
const KICKS: u64 = 8;

/// One line of the table.
#[derive(Serialize)]
pub(super) struct Row {
    members: u32,
    device: String,
    grid: u32,
    tolerance: f64,
    slack: f64,
    frames: u32,
    start_s: f64,
    /// Wall time of a frame of all members, its certificates on the card.
    median_ms: f64,
    least_ms: f64,
    largest_ms: f64,
    /// Frames of single members in a second, over all frames.
    cloth_frames_per_s: f64,
    substeps: f64,
    most_substeps: u32,
    sweeps: f64,
    max_strain: f64,
    /// Frames of single members within the tolerance by their certificates.
    within: u64,
}

/// Steps a batch, frame by frame.
pub(super) fn measure(
    args: &Args,
    count: u32,
    grid: u32,
    tolerance: f64,
    frames: u32,
) -> Result<Row, BenchError> {
    let begun = Instant::now();
    let scene = hang::scene(grid, tolerance, args.slack, frames, "cpu");
    let device = number_of(&args.device)
        .and_then(|number| CudaDevice::open(number.ok_or(CudaError::NoName(args.device.clone()))?));
    let device = device.map_err(BenchError::asked)?;
    let simulation = build("gpu", &scene, &BTreeMap::new())?;
    let mut batch = Batch::new(&device, &simulation, count as usize, &[]).map_err(BenchError::asked)?;
    for kick in 1..KICKS.min(count.into()) {
        let seeded = build(
            "gpu",
            &taffeta_scene::Scene { seed: scene.seed + kick, ..scene.clone() },
            &BTreeMap::new(),
        )?;
        let members: Vec<usize> = (kick as usize..count as usize).step_by(KICKS as usize).collect();
        batch.set_state(seeded.state(), Some(&members)).map_err(BenchError::asked)?;
    }
    batch.wait().map_err(BenchError::asked)?;
    let start_s = begun.elapsed().as_secs_f64();
    let (mut ms, mut max_strain, mut within) = (Vec::new(), 0.0_f64, 0);
    let (mut substeps, mut most_substeps, mut sweeps) = (0.0, 0, 0.0);
    for _ in 0..frames {
        let (done, took) = timed(|| batch.step_frames(1).and_then(|()| batch.wait()));
        done.map_err(BenchError::asked)?;
        ms.push(1e3 * took.wall.as_secs_f64());
        for report in batch.reports().map_err(BenchError::asked)? {
            max_strain = max_strain.max(report.max_strain);
            within += u64::from(report.converged);
            substeps += f64::from(report.substeps);
            sweeps += f64::from(report.sweeps);
            most_substeps = most_substeps.max(report.substeps);
        }
    }
    let all = f64::from(count) * f64::from(frames);
    Ok(Row {
        members: count,
        device: args.device.clone(),
        grid,
        tolerance,
        slack: args.slack,
        frames,
        start_s,
        least_ms: ms.iter().copied().fold(f64::INFINITY, f64::min),
        largest_ms: ms.iter().copied().fold(0.0, f64::max),
        cloth_frames_per_s: 1e3 * all / ms.iter().sum::<f64>(),
        median_ms: median(ms),
        substeps: substeps / all,
        most_substeps,
        sweeps: sweeps / all,
        max_strain,
        within,
    })
}

/// A row in words.
pub(super) fn words(row: &Row) -> String {
    format!(
        "{} members of {} x {} at {} on {}: {} ms a frame of all (least {}, largest {}), {} frames of members a second, start {} s\n  \
         {} sub-steps a frame (most {}), {} sweeps, largest strain {}, {} of {} frames within",
        row.members,
        row.grid,
        row.grid,
        percent(row.tolerance),
        row.device,
        figures(row.median_ms),
        figures(row.least_ms),
        figures(row.largest_ms),
        figures(row.cloth_frames_per_s),
        figures(row.start_s),
        figures(row.substeps),
        row.most_substeps,
        figures(row.sweeps),
        percent(row.max_strain),
        row.within,
        u64::from(row.members) * u64::from(row.frames),
    )
}
