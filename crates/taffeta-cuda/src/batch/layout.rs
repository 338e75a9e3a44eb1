//! Structures that host and device share, as `kernels/batch.cuh` has them.

use crate::layout::{Address, Air, Pace, Sheet, common_sizes, same_size};
use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use std::mem::size_of;

/// Bends that share no particle.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Alone {
    pub points: Address,
    pub turns: Address,
    pub count: i64,
}

/// Triangles that the air pushes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Triangles {
    pub corners: Address,
    pub area_mass: Address,
    pub around_from: Address,
    pub around: Address,
    pub count: i64,
}

/// How members cut their steps.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Rules {
    pub step_time: f64,
    pub fewest: f64,
    pub most: f64,
    pub fixed: f64,
    pub added_mass: f64,
    pub added_mass_lost: f64,
    pub infeasible_end: f64,
    pub retry_factor: f64,
    pub error_time: f64,
    pub damping: f64,
    pub wind: [f64; 3],
    pub stiffest: [f64; 2],
    pub moment_error: f64,
    pub retries_lost: i32,
    pub retries_missed: i32,
    pub many_sweeps: i32,
    pub air_renewals: i32,
}

/// What a member remembers, and tells of its last step.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Member {
    pub wanted: f64,
    pub step: u64,
    pub missed: i32,
    pub failed: i32,
    pub substeps: i32,
    pub sweeps: i32,
    pub tries: i32,
    pub most_substeps: i32,
}

/// A batch.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Batch {
    pub sheet: Sheet,
    pub hard: Address,
    pub soft: Address,
    pub alone: Address,
    pub air_on: Triangles,
    pub air: Air,
    pub rules: Rules,
    pub pace: Pace,
    pub positions: Address,
    pub velocities: Address,
    pub tensions: Address,
    pub members: Address,
    pub places: Address,
    pub held: Address,
    pub work: Address,
    pub work_bytes: u64,
    pub handles: Address,
    pub handle_count: i32,
    pub hard_groups: i32,
    pub soft_groups: i32,
    pub alone_groups: i32,
    pub tension_count: i32,
    pub hard_tension_count: i32,
    pub bend_mobility: f32,
    pub room: i32,
}

// SAFETY: plain numbers in the order that C has them.
unsafe impl DeviceRepr for Alone {}
// SAFETY: as above.
unsafe impl DeviceRepr for Member {}
// SAFETY: as above.
unsafe impl DeviceRepr for Batch {}
// SAFETY: zeros are numbers.
unsafe impl ValidAsZeroBits for Member {}

/// Lines of source that refuse to be compiled where the device has other structures.
pub fn sizes() -> Vec<String> {
    let of_batch = [
        ("Alone", size_of::<Alone>()),
        ("Triangles", size_of::<Triangles>()),
        ("Rules", size_of::<Rules>()),
        ("Member", size_of::<Member>()),
        ("Batch", size_of::<Batch>()),
    ];
    common_sizes().into_iter().chain(of_batch).map(same_size).collect()
}
