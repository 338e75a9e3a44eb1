//! Testers of laboratories as scenes: each has a specimen, a standard, and one number that is read.

use super::sheet::Reading;
use crate::measure::{Measure, Reduction};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Acceleration of gravity [m/s²].
const GRAVITY: f64 = 9.81;
/// Gauge length and width of a tensile specimen [m].
const GAUGE: [f64; 2] = [0.2, 0.05];
/// Cells along the overhang of a cantilever.
const CELLS: f64 = 15.0;
/// Cells of a heart loop between its clamped ends; an even number, so that a particle is the lowest.
const LOOP: u32 = 48;
/// Particles across a strip that is bent, less one.
const ACROSS: u32 = 3;
/// Radii of the specimen and the holder of the drapemeter [m].
const DRAPE: [f64; 2] = [0.15, 0.09];
/// How fast the slope is raised [degrees/s], and when that begins [s].
const SLOPE: [f64; 2] = [10.0, 0.5];
/// How far a specimen has slid when it is seen [m].
const SLID: f64 = 0.002;

/// A tester.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tester {
    /// ISO 13934-1, strips of 50 mm by 200 mm along the warp: force per width at a strain [N/m].
    TensileWarp,
    /// The same along the weft.
    TensileWeft,
    /// The same at 45°.
    TensileBias,
    /// ASTM D1388, option A, along the warp: bending length [mm].
    CantileverWarp,
    /// The same along the weft.
    CantileverWeft,
    /// ASTM D1388, option B, along the warp: height of a heart-shaped loop [mm].
    HeartLoopWarp,
    /// The same along the weft.
    HeartLoopWeft,
    /// ISO 9073-9, a disc of 300 mm on one of 180 mm: drape coefficient [%].
    Cusick,
    /// The same: number of folds.
    CusickFolds,
    /// A specimen on a plate that is raised: the angle at which it slides [degrees].
    Slope,
}

impl Tester {
    /// The name in sheets.
    pub fn name(self) -> &'static str {
        match self {
            Self::TensileWarp => "tensile-warp",
            Self::TensileWeft => "tensile-weft",
            Self::TensileBias => "tensile-bias",
            Self::CantileverWarp => "cantilever-warp",
            Self::CantileverWeft => "cantilever-weft",
            Self::HeartLoopWarp => "heart-loop-warp",
            Self::HeartLoopWeft => "heart-loop-weft",
            Self::Cusick => "cusick",
            Self::CusickFolds => "cusick-folds",
            Self::Slope => "slope",
        }
    }

    /// The unit of its readings.
    pub fn unit(self) -> &'static str {
        match self {
            Self::TensileWarp | Self::TensileWeft | Self::TensileBias => "N/m",
            Self::CantileverWarp | Self::CantileverWeft | Self::HeartLoopWarp | Self::HeartLoopWeft => "mm",
            Self::Cusick => "%",
            Self::CusickFolds => "",
            Self::Slope => "°",
        }
    }

    /// The numbers of a fabric that its reading depends on.
    pub fn depends_on(self) -> &'static [&'static str] {
        match self {
            Self::TensileWarp | Self::TensileWeft | Self::TensileBias => &["warp", "weft", "bias"],
            Self::CantileverWarp | Self::HeartLoopWarp => &["bending_warp"],
            Self::CantileverWeft | Self::HeartLoopWeft => &["bending_weft"],
            Self::Cusick | Self::CusickFolds => &["bending_warp", "bending_weft", "bias"],
            Self::Slope => &["friction"],
        }
    }

    /// The number that a textbook's formula gives for a reading: where the search begins.
    pub fn first_guess(self, reading: &Reading, density: f64) -> Option<(&'static str, f64)> {
        let value = reading.mean();
        let rigidity = |length: f64| 1e6 * (1e-3 * length).powi(3) * 1e-3 * density * GRAVITY;
        Some(match self {
            Self::TensileWarp => ("warp", value / reading.strain),
            Self::TensileWeft => ("weft", value / reading.strain),
            Self::TensileBias => ("bias", value / reading.strain),
            Self::CantileverWarp => ("bending_warp", rigidity(value)),
            Self::CantileverWeft => ("bending_weft", rigidity(value)),
            Self::HeartLoopWarp => ("bending_warp", rigidity(bending_length(reading.strip, value)?)),
            Self::HeartLoopWeft => ("bending_weft", rigidity(bending_length(reading.strip, value)?)),
            Self::Slope => ("friction", libm::tan(value.to_radians())),
            Self::Cusick | Self::CusickFolds => return None,
        })
    }

    /// The scene, the fabric being `specimen`, whose numbers are those given.
    pub fn scene(self, reading: &Reading, base: &str, numbers: &BTreeMap<String, f64>) -> String {
        let mut text = format!(
            "gravity = [0.0, -{GRAVITY}, 0.0]\n[solver]\nmethod = \"backward-euler\"\ntolerance = 0.1\n\
             [contact]\ncloth_cloth = false\n[fabrics.specimen]\nbase = \"{base}\"\ndamping = 0.0\nbending_damping = 0.0\n"
        );
        for (name, value) in numbers {
            let _ = writeln!(text, "{name} = {value:?}");
        }
        let calm = |damping: f64| format!("[air]\ndensity = 0.0\ndamping = {damping:?}\n");
        match self {
            Self::TensileWarp | Self::TensileWeft | Self::TensileBias => {
                let warp = match self {
                    Self::TensileWarp => 0,
                    Self::TensileWeft => 90,
                    _ => 45,
                };
                let [length, width] = GAUGE;
                let pull = |share: f64| share * reading.strain * length;
                let (near, far) = (pull(0.95), pull(1.05));
                text =
                    text.replace(&format!("gravity = [0.0, -{GRAVITY}, 0.0]"), "gravity = [0.0, 0.0, 0.0]");
                text = format!("frames = 60\n{text}") + &calm(30.0);
                let _ = write!(
                    text,
                    "[[garment]]\nname = \"strip\"\nfabric = \"specimen\"\nmodel = \"triangles\"\nedge_length = 0.0125\n[[garment.panel]]\nname = \"it\"\nwarp = {warp}.0\n\
                     start = [0.0, 0.0]\nedge = [{{ name = \"a\", to = [{length:?}, 0.0] }}, {{ name = \"right\", to = [{length:?}, {width:?}] }}, \
                     {{ name = \"c\", to = [0.0, {width:?}] }}, {{ name = \"left\", to = [0.0, 0.0] }}]\n\
                     [[garment.pin]]\nedges = [\"it.left\"]\n[[garment.pin]]\nedges = [\"it.right\"]\n\
                     keyframe = [{{ time = 0.0 }}, {{ time = 0.3, move = [{near:?}, 0.0, 0.0] }}, {{ time = 1.0, move = [{near:?}, 0.0, 0.0] }}, \
                     {{ time = 1.2, move = [{far:?}, 0.0, 0.0] }}]\n"
                );
            }
            Self::CantileverWarp | Self::CantileverWeft => {
                // As in the bench: the bend at the clamp stands for half a cell, of which the clamped half cannot curve.
                let length = 1e-3 * reading.overhang();
                let strip =
                    Strip::new(length / (CELLS + 0.5), CELLS as u32 + 1, self == Self::CantileverWeft);
                text = format!("frames = 75\n{text}") + &calm(2.0 * (GRAVITY / length).sqrt());
                let _ =
                    writeln!(text, "{}pin = [{{ vertices = {:?} }}]", strip.cloth(), strip.clamped([0, 1]));
            }
            Self::HeartLoopWarp | Self::HeartLoopWeft => {
                // At either clamp half a cell counts as at that of the cantilever.
                let length = 1e-3 * reading.strip;
                let weft = self == Self::HeartLoopWeft;
                let d = length / f64::from(LOOP + 1);
                let strip = Strip::new(d, LOOP + 2, weft);
                text = format!("frames = 120\n{text}") + &calm(2.0 * (GRAVITY / length).sqrt());
                text += &strip.cloth();
                // The ends come together hanging down, then each is turned outwards until it points up.
                let way = 0.5 * (length + d) - 0.5 * d;
                for (ends, sign) in [([0, 1], 1.0), ([LOOP + 1, LOOP + 2], -1.0)] {
                    let (shift, turn) = (sign * way, |degrees: f64| -sign * degrees);
                    let moved = |time: f64, degrees: f64| {
                        let (shift, turn) = match weft {
                            false => ([shift, 0.0, 0.0], [0.0, 0.0, turn(degrees)]),
                            true => ([0.0, 0.0, -shift], [turn(degrees), 0.0, 0.0]),
                        };
                        format!("{{ time = {time:?}, move = {shift:?}, turn = {turn:?}, ease = \"smooth\" }}")
                    };
                    let _ = write!(
                        text,
                        "[[cloth.pin]]\nvertices = {:?}\nkeyframe = [{{ time = 0.0 }}, {}, {}]\n",
                        strip.clamped(ends),
                        moved(0.8, 90.0),
                        moved(1.6, 270.0)
                    );
                }
            }
            Self::Cusick | Self::CusickFolds => {
                let rings = 10_u32;
                let held = (DRAPE[1] / DRAPE[0] * f64::from(rings)).round() as u32;
                let held: Vec<u32> = (0..3 * held * (held + 1) + 1).collect();
                text = format!("frames = 75\n{text}") + &calm(6.0);
                let _ = write!(
                    text,
                    "[[cloth]]\nfabric = \"specimen\"\ndisc = {{ radius = {:?}, rings = {rings} }}\npin = [{{ vertices = {held:?} }}]\n\
                     kick = {{ share = 0.3, speed = 0.02 }}\n",
                    DRAPE[0]
                );
            }
            Self::Slope => {
                let [rate, start] = SLOPE;
                let end = start + 60.0 / rate;
                text = format!("frames = {}\n{text}", (30.0 * end) as u32) + &calm(0.0);
                // A hand's breadth of cloth, laid on by its thickness.
                let _ = write!(
                    text,
                    "[[cloth]]\nfabric = \"specimen\"\nposition = [0.0, 0.0006, 0.0]\nsheet = {{ width = 0.1, height = 0.1, columns = 5, rows = 5 }}\n\
                     [[collider]]\nplane = {{}}\nkeyframe = [{{ time = 0.0 }}, {{ time = {start:?}, turn = [0.0, 0.0, 0.0] }}, \
                     {{ time = {end:?}, turn = [0.0, 0.0, 60.0], ease = \"linear\" }}]\n"
                );
            }
        }
        text
    }

    /// What is measured of the scene.
    pub fn measures(self) -> Vec<Measure> {
        let one = |name: &str, of: &str| Measure { name: name.into(), of: of.into(), ..Measure::default() };
        let tip = |particle: usize, from: usize| {
            let droop = Measure { particle: Some(particle), from: Some(from), ..one("droop", "droop") };
            vec![droop, Measure { particle: Some(particle), ..one("height", "height") }]
        };
        match self {
            Self::TensileWarp | Self::TensileWeft | Self::TensileBias => vec![
                Measure { by: Reduction::Frame, frame: Some(30), ..one("near", "energy_j.elastic") },
                one("far", "energy_j.elastic"),
            ],
            Self::CantileverWarp => tip(16, 1),
            Self::CantileverWeft => tip(4 * 16, 4),
            Self::HeartLoopWarp | Self::HeartLoopWeft => {
                let across = if self == Self::HeartLoopWeft { ACROSS + 1 } else { 1 };
                let lowest = ((LOOP / 2 + 1) * across) as usize;
                vec![Measure { particle: Some(lowest), ..one("height", "height") }]
            }
            Self::Cusick => {
                vec![Measure { holder: Some(DRAPE[1]), ..one("coefficient", "drape-coefficient") }]
            }
            Self::CusickFolds => vec![one("folds", "fold-count")],
            Self::Slope => {
                let slides = Measure { particle: Some(12), above: Some(SLID), ..one("slides", "travel") };
                vec![Measure { by: Reduction::Time, ..slides }]
            }
        }
    }

    /// The reading, from what was measured.
    pub fn read(self, reading: &Reading, measured: &BTreeMap<String, Option<f64>>) -> Option<f64> {
        let number = |name: &str| measured.get(name).copied().flatten();
        Some(match self {
            // What the pull has put into the strip, over its way and width.
            Self::TensileWarp | Self::TensileWeft | Self::TensileBias => {
                (number("far")? - number("near")?) / (0.1 * reading.strain * GAUGE[0] * GAUGE[1])
            }
            // Peirce 1930: c = l (cos(θ/2) / (8 tan θ))^(1/3).
            Self::CantileverWarp | Self::CantileverWeft => {
                let drop = -number("height")?;
                // The chord begins half a cell before the last particle that is held.
                let reach = drop / libm::tan(number("droop")?.to_radians())
                    + 0.5e-3 * reading.overhang() / (CELLS + 0.5);
                let angle = libm::atan2(drop, reach);
                reading.overhang() * libm::cbrt(libm::cos(0.5 * angle) / (8.0 * libm::tan(angle)))
            }
            Self::HeartLoopWarp | Self::HeartLoopWeft => -1e3 * number("height")?,
            Self::Cusick => 100.0 * number("coefficient")?,
            Self::CusickFolds => number("folds")?,
            // From the angle of friction on it slides by g ω t³ / (6 cos α).
            Self::Slope => {
                let [rate, start] = SLOPE;
                let seen = rate * (number("slides")? - start);
                let lag =
                    libm::cbrt(6.0 * SLID * libm::cos(seen.to_radians()) / (GRAVITY * rate.to_radians()));
                seen - rate * lag
            }
        })
    }
}

/// The bending length that the height of a heart loop of a strip stands for, all in one unit: Peirce, The Handle of Cloth as a Measurable Quantity, 1930; nothing
/// where the loop is higher or lower than any strip hangs.
fn bending_length(strip: f64, height: f64) -> Option<f64> {
    let weightless = 0.1337 * strip;
    let angle = (32.85 * (height - weightless) / weightless).to_radians();
    let length = weightless * libm::cbrt(libm::cos(angle) / libm::tan(angle));
    (height > weightless && length > 0.0).then_some(length)
}

/// A narrow sheet that is bent along the warp or the weft.
struct Strip {
    /// Side of its cells [m].
    cell: f64,
    /// Cells along.
    cells: u32,
    weft: bool,
}

impl Strip {
    fn new(cell: f64, cells: u32, weft: bool) -> Self {
        Self { cell, cells, weft }
    }

    fn cloth(&self) -> String {
        let size = |along: u32| if self.weft { [ACROSS, along] } else { [along, ACROSS] };
        let [columns, rows] = size(self.cells).map(|cells| cells + 1);
        let [width, height] = size(self.cells).map(|cells| f64::from(cells) * self.cell);
        format!(
            "[[cloth]]\nfabric = \"specimen\"\nsheet = {{ width = {width:?}, height = {height:?}, columns = {columns}, rows = {rows} }}\n"
        )
    }

    /// The particles at two places along.
    fn clamped(&self, places: [u32; 2]) -> Vec<u32> {
        let (along, across) = if self.weft { (ACROSS + 1, 1) } else { (1, self.cells + 1) };
        (0..=ACROSS).flat_map(|k| places.map(|place| place * along + k * across)).collect()
    }
}
