//! Structures that host and device share, as `kernels/types.cuh`, `kernels/contact.cuh` and `kernels/air.cu` have them.

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
    pub time: f64,
    pub closing_time: f64,
    pub closing_speed: f64,
    pub seam_tolerance: f64,
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
    pub open: u64,
    pub opening: f64,
    pub beyond: f32,
    pub base: i32,
    pub far: i32,
    pub lost: i32,
    pub done: i32,
    pub sweeps: i32,
    pub best_at: i32,
    pub for_lengths: i32,
    pub given_up: i32,
    pub kept: i32,
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
            open: 0,
            opening: 0.0,
            beyond: 1.0,
            base: 0,
            far: 0,
            lost: 0,
            done: 0,
            sweeps: 0,
            best_at: 0,
            for_lengths: 0,
            given_up: 0,
            kept: 0,
        }
    }
}

/// One model on the device.
#[derive(Debug, Clone, Copy, Default)]
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
    pub pin_start: Address,
    pub around_from: Address,
    pub around: Address,
    pub held: Address,
    pub sums: Address,
    pub ends: Address,
    pub rest: Address,
    pub pace: Address,
    pub control: Address,
    pub found: Address,
    pub stitches: Address,
    pub particles: i32,
    pub pins: i32,
    pub edges: i32,
    pub stitch_count: i32,
}

/// A stitch of a seam.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Stitch {
    pub ends: [i32; 2],
    pub place: i32,
    pub counts: i32,
    pub edge: Address,
    pub start_length: f64,
    pub stitch_length: f64,
    pub begin: f64,
    pub duration: f64,
    pub end: f64,
    pub give: f64,
    pub goal: f64,
}

/// What two objects keep between them.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Kept {
    pub distance: f64,
    pub floor: f64,
    pub solid: f64,
    pub friction: f32,
    pub by_particles: i16,
    pub round: i16,
}

/// A half-space, or all that is within a radius of a segment, in a sub-step.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Solid {
    pub origin: [f64; 3],
    pub axis: [f64; 3],
    pub half_length: f64,
    pub radius: f64,
    pub shift: [f64; 3],
    pub turn: [f64; 9],
}

/// How particles of an object meet a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Meeting {
    pub distance: f64,
    pub friction: f64,
    pub floor: f64,
}

/// A contact; only kernels look into it.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
pub struct Contact([f32; 20]);

/// A box of a triangle; only kernels look into it.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Box([f32; 6]);

/// Levels of a tree at most.
pub const MOST_LEVELS: usize = 8;

/// A tree over triangles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Tree {
    pub levels: i32,
    pub first: [i32; MOST_LEVELS],
    pub size: [i32; MOST_LEVELS],
}

/// Counters of a window.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Found {
    pub pairs: i32,
    pub features: i32,
    pub candidates: i32,
    pub contacts: i32,
    pub hits: i32,
    pub sunk: i32,
    pub outside: i32,
    pub touching: i32,
    pub slips: i32,
    pub faster: [i32; 4],
    pub fastest: u32,
    pub room: [i32; 2],
}

/// What the host reads at once.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Told {
    pub control: Control,
    pub found: Found,
}

impl Told {
    /// At the start of an attempt.
    pub fn new() -> Self {
        Self { control: Control::new(), found: Found::default() }
    }
}

/// What may touch.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Touch {
    pub object: Address,
    pub kept: Address,
    pub solids: Address,
    pub meetings: Address,
    pub grown: Address,
    pub triangles: Address,
    pub boxes: Address,
    pub start: Address,
    pub ahead: Address,
    pub pairs: Address,
    pub features: Address,
    pub candidates: Address,
    pub contacts: Address,
    pub moved: Address,
    pub count: Address,
    pub grip: Address,
    pub found: Address,
    pub sewn_from: Address,
    pub sewn: Address,
    pub trees: [Tree; 2],
    pub reach: f32,
    pub near: f32,
    pub beside: f32,
    pub parting: f32,
    pub hovers: f32,
    pub objects: i32,
    pub solid_count: i32,
    pub cloth_triangles: i32,
    pub all_triangles: i32,
    pub meets_cloth: i32,
    pub pair_room: i32,
    pub feature_room: i32,
    pub candidate_room: i32,
    pub contact_room: i32,
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
unsafe impl DeviceRepr for Stitch {}
// SAFETY: as above.
unsafe impl DeviceRepr for Told {}
// SAFETY: as above.
unsafe impl DeviceRepr for Sheet {}
// SAFETY: as above.
unsafe impl DeviceRepr for Air {}
// SAFETY: as above.
unsafe impl DeviceRepr for Kept {}
// SAFETY: as above.
unsafe impl DeviceRepr for Solid {}
// SAFETY: as above.
unsafe impl DeviceRepr for Meeting {}
// SAFETY: as above.
unsafe impl DeviceRepr for Contact {}
// SAFETY: as above.
unsafe impl DeviceRepr for Box {}
// SAFETY: as above.
unsafe impl DeviceRepr for Touch {}
// SAFETY: zeros are numbers.
unsafe impl ValidAsZeroBits for Pace {}
// SAFETY: as above.
unsafe impl ValidAsZeroBits for Told {}
// SAFETY: as above.
unsafe impl ValidAsZeroBits for Solid {}
// SAFETY: as above.
unsafe impl ValidAsZeroBits for Contact {}
// SAFETY: as above.
unsafe impl ValidAsZeroBits for Box {}

/// Lines of source that refuse to be compiled where the device has other structures.
pub fn sizes() -> Vec<String> {
    let of_contact = [
        ("Stitch", size_of::<Stitch>()),
        ("Kept", size_of::<Kept>()),
        ("Solid", size_of::<Solid>()),
        ("Meeting", size_of::<Meeting>()),
        ("Contact", size_of::<Contact>()),
        ("Box", size_of::<Box>()),
        ("Tree", size_of::<Tree>()),
        ("Found", size_of::<Found>()),
        ("Touch", size_of::<Touch>()),
    ];
    common_sizes().into_iter().chain(of_contact).map(same_size).collect()
}

/// The sizes of what all kernels have.
pub fn common_sizes() -> [(&'static str, usize); 5] {
    [
        ("Group", size_of::<Group>()),
        ("Pace", size_of::<Pace>()),
        ("Control", size_of::<Control>()),
        ("Sheet", size_of::<Sheet>()),
        ("Air", size_of::<Air>()),
    ]
}

/// A line that refuses to be compiled where the device has another size.
pub fn same_size((name, size): (&str, usize)) -> String {
    format!("static_assert(sizeof({name}) == {size}, \"{name} of host and device differ\");\n")
}
