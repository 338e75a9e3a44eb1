//! Structures that host and device share, as `kernels/types.cuh` and `kernels/air.cu` have them.

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use std::mem::size_of;

/// Rounds of Chebyshev's polynomials for bends at most.
pub const MOST_BEND_ROUNDS: usize = 64;

/// An address on the device.
pub type Address = u64;

/// Strips of one group in lanes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Group {
    pub particle: Address,
    pub edge: Address,
    pub bend: Address,
    pub first: i32,
    pub lanes: i32,
}

/// How a step is cut.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Pace {
    pub h: f64,
    pub tolerance: f64,
    pub infeasible: f64,
    pub slow: f64,
    pub lost: f64,
    pub radius: f64,
    pub squared: f32,
    pub inverse: f32,
    pub share: f32,
    pub kept: f32,
    pub left: f32,
    pub slower: f32,
    pub give: f32,
    pub gravity: [f32; 3],
    pub wind: [f32; 3],
    pub count: i32,
    pub pins_move: i32,
    pub held: i32,
    pub bend_rounds: i32,
    pub most_sweeps: i32,
    pub stalled_sweeps: i32,
    pub relaxed_sweeps: i32,
    pub bend_shares: [[f32; 2]; MOST_BEND_ROUNDS],
}

/// What is found out on the way.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Control {
    pub worst: f64,
    pub moving: f64,
    pub before: f64,
    pub error: f64,
    pub best: f64,
    pub most: u64,
    pub least: u64,
    pub beyond: f32,
    pub base: i32,
    pub far: i32,
    pub lost: i32,
    pub done: i32,
    pub sweeps: i32,
    pub best_at: i32,
    pub room: i32,
}

impl Control {
    /// At the start of an attempt.
    pub fn new() -> Self {
        let one = 1.0_f64.to_bits();
        Self {
            worst: 0.0,
            moving: 0.0,
            before: 0.0,
            error: 0.0,
            best: 0.0,
            most: one,
            least: one,
            beyond: 1.0,
            base: 0,
            far: 0,
            lost: 0,
            done: 0,
            sweeps: 0,
            best_at: 0,
            room: 0,
        }
    }
}

/// One model on the device.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Sheet {
    pub x: Address,
    pub r: Address,
    pub v: Address,
    pub tension: Address,
    pub last_tension: Address,
    pub mass: Address,
    pub pin: Address,
    pub pin_end: Address,
    pub around_from: Address,
    pub around: Address,
    pub held: Address,
    pub sums: Address,
    pub ends: Address,
    pub rest: Address,
    pub pace: Address,
    pub control: Address,
    pub particles: i32,
    pub pins: i32,
    pub edges: i32,
    pub room: i32,
}

/// The air while its forces are held.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Air {
    pub density: f64,
    pub drag: f64,
    pub skin_friction: f64,
    pub lift: f64,
    pub wind: [f64; 3],
    pub gust: [f64; 3],
    pub seed: u64,
    pub time: f64,
    pub duration: f64,
}

// SAFETY: plain numbers in the order that C has them.
unsafe impl DeviceRepr for Group {}
// SAFETY: as above.
unsafe impl DeviceRepr for Pace {}
// SAFETY: as above.
unsafe impl DeviceRepr for Control {}
// SAFETY: as above.
unsafe impl DeviceRepr for Sheet {}
// SAFETY: as above.
unsafe impl DeviceRepr for Air {}
// SAFETY: zeros are numbers.
unsafe impl ValidAsZeroBits for Pace {}
// SAFETY: as above.
unsafe impl ValidAsZeroBits for Control {}

/// Lines of source that refuse to be compiled where the device has other structures.
pub fn sizes() -> impl Iterator<Item = String> {
    let sizes = [
        ("Group", size_of::<Group>()),
        ("Pace", size_of::<Pace>()),
        ("Control", size_of::<Control>()),
        ("Sheet", size_of::<Sheet>()),
        ("Air", size_of::<Air>()),
    ];
    sizes.into_iter().map(|(name, size)| {
        format!("static_assert(sizeof({name}) == {size}, \"{name} of host and device differ\");\n")
    })
}
