//! Hysteresis as the Kawabata system measures it: a strip that is bent there and back, a sheet that is sheared there and back.

use super::{Experiment, Finding, Way, scene, simulation, usual_ways};
use crate::BenchError;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::model::State;
use taffeta::step::{Energy, Hands};
use taffeta_scene::{Cloth, ClothModel, Ease, FabricChange, Keyframe, Pin, Sheet, Side};

pub(super) const LOOPS: Experiment = Experiment {
    name: "hysteresis",
    about: "A strip is led along arcs of up to ±2.5 1/cm and back, the rim of a sheet of 50 mm is sheared to ±8° and back and what is inside follows, as by KES-FB2 and KES-FB1 (Kawabata 1980): from the second loop, rigidities as slopes from 0.5 to 1.5 1/cm and from 0.5 to 2.5°, hystereses as what moment and force differ by at 1 1/cm and at 0.5°. Two sides of such a sheet are pulled apart by 2 % and let go: EMT and RT as the force at the end and the work that came back. Moments and forces are what the energy changes by when all is bent, sheared or pulled by a little more. Reference: the numbers of the fabric, a cotton broadcloth with 2HB of Matsudaira et al. 2015, and 60 % for RT.",
    misses: &[],
    curve: None,
    ways: usual_ways,
    find: loops,
};

/// Of the fabric: B [N·m], 2HB [N], G and 2HG [N/m].
const BENDING: f64 = 11.6e-6;
const BENDING_HYSTERESIS: f64 = 1.216e-3;
const SHEAR: f64 = 80.0;
const SHEAR_HYSTERESIS: f64 = 1.5;
/// Its stiffness [N/m] and RT [%], as far as it is pulled [1].
const STIFFNESS: f64 = 500.0;
const RESILIENCE: f64 = 60.0;
const MOST_PULLED: f64 = 0.02;

fn loops(way: Way, quick: bool) -> Result<Vec<Finding>, BenchError> {
    let levels = if quick { 5 } else { 10 };
    let bending = bent(way, levels)?;
    let shear = sheared(way, levels)?;
    let [force, resilience] = pulled(way, 50 * levels)?;
    let near =
        |case: &str, unit, want, found, allowed| Finding::near(case.into(), unit, want, found, allowed);
    Ok(vec![
        near("bending, B", "µN·m", 1e6 * BENDING, 1e6 * bending.slope(50.0, 150.0), 0.05),
        near("bending, 2HB", "mN", 1e3 * BENDING_HYSTERESIS, 1e3 * bending.width(100.0), 0.05),
        near("shear, G", "N/m", SHEAR, shear.slope(0.5_f64.to_radians(), 2.5_f64.to_radians()), 0.05),
        near("shear, 2HG", "N/m", SHEAR_HYSTERESIS, shear.width(0.5_f64.to_radians()), 0.05),
        near("tension, force at 2 %", "N/m", STIFFNESS * MOST_PULLED, force, 0.05),
        near("tension, RT", "%", RESILIENCE, 100.0 * resilience, 0.05),
    ])
}

fn fabric() -> FabricChange {
    FabricChange {
        base: Some("cotton".into()),
        warp: Some(STIFFNESS),
        weft: Some(STIFFNESS),
        bias: Some(4.0 / (2.0 / STIFFNESS + 1.0 / SHEAR)),
        bending_warp: Some(1e6 * BENDING),
        bending_weft: Some(1e6 * BENDING),
        // As little as explicit methods can take in so small cells.
        bending_damping: Some(0.5),
        bending_hysteresis: Some(1e3 * BENDING_HYSTERESIS),
        shear_hysteresis: Some(SHEAR_HYSTERESIS),
        ..FabricChange::default()
    }
}

/// Deformation and resistance, there and back.
struct Loop {
    there: Vec<[f64; 2]>,
    back: Vec<[f64; 2]>,
}

impl Loop {
    /// What resistance is on a branch at a deformation, between its points.
    fn at(branch: &[[f64; 2]], e: f64) -> f64 {
        let between = |pair: &&[[f64; 2]]| (pair[0][0] - e) * (pair[1][0] - e) <= 0.0;
        branch.windows(2).find(between).map_or(f64::NAN, |pair| {
            pair[0][1] + (pair[1][1] - pair[0][1]) * (e - pair[0][0]) / (pair[1][0] - pair[0][0])
        })
    }

    fn width(&self, e: f64) -> f64 {
        Self::at(&self.there, e) - Self::at(&self.back, e)
    }

    fn slope(&self, from: f64, to: f64) -> f64 {
        let of = |branch: &[[f64; 2]]| (Self::at(branch, to) - Self::at(branch, from)) / (to - from);
        0.5 * (of(&self.there) + of(&self.back))
    }
}

/// Leads a simulation up, down and up again in so many levels to the furthest; `held` is who is held where, `seen` what is measured at rest there.
fn led(
    simulation: &mut Simulation,
    levels: i32,
    held: impl Fn(f64) -> Hands,
    seen: impl Fn(&Simulation) -> [f64; 2],
) -> Result<Loop, BenchError> {
    let mut go = |level: i32| -> Result<[f64; 2], BenchError> {
        let (hands, step) = (held(f64::from(level) / f64::from(levels)), simulation.model().step_time);
        // Hands that hold all would go there little by little, no further than the cloth between them reaches.
        if hands.held.len() == simulation.positions().len() {
            let places: Vec<DVec3> = hands.held.values().copied().collect();
            simulation.set_positions(&places).map_err(BenchError::asked)?;
        }
        simulation.set_hands(&hands, step);
        for _ in 0..6 {
            simulation.step()?;
        }
        Ok(seen(simulation))
    };
    (0..levels).try_for_each(|level| go(level).map(drop))?;
    let back = (-levels..=levels).rev().map(&mut go).collect::<Result<_, _>>()?;
    let there = (1 - levels..=levels).map(&mut go).collect::<Result<_, _>>()?;
    Ok(Loop { there, back })
}

/// What the elastic energy of a state is once particles are elsewhere [J].
fn energy(simulation: &Simulation, place: impl Fn((usize, &DVec3)) -> DVec3) -> f64 {
    let state = simulation.state();
    let moved = State { positions: state.positions.iter().enumerate().map(place).collect(), ..state.clone() };
    Energy::of(simulation.model(), DVec3::ZERO, &moved).elastic
}

/// Of the strip [m], and the furthest that it is bent [1/m].
const LENGTH: f64 = 0.01;
const MOST_BENT: f64 = 250.0;
/// Cells across it.
const ACROSS: usize = 2;

fn bent(way: Way, levels: i32) -> Result<Loop, BenchError> {
    // Plates are too stiff by 5.7 % in cells of 1 mm and by 1.4 % in half of that: an error that goes with the square of the cells.
    let is_plate = way.model == ClothModel::Triangles;
    let cells = if is_plate { 20 } else { 10 };
    let (cell, columns) = (LENGTH / cells as f64, cells + 1);
    let width = cell * ACROSS as f64;
    // Bends reach from the middle of the first cell to that of the last, plates from end to end.
    let bent_cells = if is_plate { cells } else { cells - 1 };
    let area = width * cell * bent_cells as f64;
    let [along, up] = [columns, ACROSS + 1].map(|count| count as u32);
    let sheet = Sheet { width: LENGTH, height: width, columns: along, rows: up, slack: 1.0 };
    let mut scene = scene(way, Cloth { sheet: Some(sheet), ..Cloth::default() }, fabric());
    (scene.gravity, scene.air.damping) = ([0.0; 3], 100.0);
    let mut simulation = simulation(&scene, &Default::default())?;
    let held = |share: f64| {
        let row = arc(share * MOST_BENT * cell, cell, columns);
        let place = |r: usize, c: usize| row[c] - DVec3::Z * (cell * r as f64);
        let all = (0..=ACROSS).flat_map(|r| (0..columns).map(move |c| (r, c)));
        let held = all.map(|(r, c)| ((r * columns + c) as u32, place(r, c))).collect();
        Hands { held, ..Hands::default() }
    };
    let seen = |s: &Simulation| {
        let x = &s.state().positions;
        let middle = (ACROSS / 2) * columns + columns / 2;
        let [before, after] = [x[middle] - x[middle - 1], x[middle + 1] - x[middle]];
        let angle = libm::atan2(before.x * after.y - before.y * after.x, before.dot(after));
        let [row, less, more] = [0.0, -1e-4, 1e-4].map(|by| arc(angle + by, cell, columns));
        let bent_to = |to: &[DVec3]| energy(s, |(i, x)| *x + to[i % columns] - row[i % columns]);
        // The difference of two edges is the curvature.
        let curvature = |angle: f64| 2.0 * libm::sin(0.5 * angle) / cell;
        let further = curvature(angle + 1e-4) - curvature(angle - 1e-4);
        [curvature(angle), (bent_to(&more) - bent_to(&less)) / further / area]
    };
    led(&mut simulation, levels, held, seen)
}

/// A row of particles, a `cell` apart [m], that turns by an angle [rad] at every column.
fn arc(angle: f64, cell: f64, columns: usize) -> Vec<DVec3> {
    let mut row = vec![DVec3::ZERO];
    for k in 1..columns {
        let heading = angle * (k as f64 - 0.5 * columns as f64);
        row.push(row[k - 1] + DVec3::new(libm::cos(heading), libm::sin(heading), 0.0) * cell);
    }
    row
}

/// The sheet [m], its particles along a side, and the furthest that it is sheared [rad].
const SIDE: f64 = 0.05;
const ALONG: usize = 6;
const MOST_SHEARED: f64 = 8.0 / 180.0 * std::f64::consts::PI;

fn sheared(way: Way, levels: i32) -> Result<Loop, BenchError> {
    let along = ALONG as u32;
    let sheet = Sheet { width: SIDE, height: SIDE, columns: along, rows: along, slack: 1.0 };
    let mut scene = scene(way, Cloth { sheet: Some(sheet), ..Cloth::default() }, fabric());
    (scene.gravity, scene.air.damping) = ([0.0; 3], 100.0);
    let mut simulation = simulation(&scene, &Default::default())?;
    // Sides keep their lengths: those along z lean towards x.
    let lean = |x: DVec3, shear: f64| DVec3::new(x.x - x.z * libm::sin(shear), x.y, x.z * libm::cos(shear));
    let rest = simulation.state().positions.clone();
    let held = |share: f64| {
        let rim = |i: &usize| [i / ALONG, i % ALONG].iter().any(|k| *k == 0 || *k == ALONG - 1);
        let place = |i: usize| (i as u32, lean(rest[i], share * MOST_SHEARED));
        Hands { held: (0..ALONG * ALONG).filter(rim).map(place).collect(), ..Hands::default() }
    };
    let seen = |s: &Simulation| {
        let x = &s.state().positions;
        let (low, high) = (x[0], x[ALONG * (ALONG - 1)]);
        let shear = libm::atan2(high.x - low.x, (high.z - low.z).abs());
        let more = |by: f64| {
            energy(s, |(_, x)| {
                let upright = DVec3::new(x.x + x.z * libm::tan(shear), x.y, x.z / libm::cos(shear));
                lean(upright, shear + by)
            })
        };
        [shear, (more(1e-5) - more(-1e-5)) / 2e-5 / (SIDE * SIDE)]
    };
    led(&mut simulation, levels, held, seen)
}

/// A sheet whose sides are led apart in so many steps and back: the force at the end [N/m], and the share of the work that came back.
fn pulled(way: Way, steps: i32) -> Result<[f64; 2], BenchError> {
    let along = ALONG as u32;
    let resilient = FabricChange {
        tensile_resilience: Some(RESILIENCE),
        // What is pulled becomes narrower between the sides that are held; shear is not to count.
        bias: Some(0.01 * STIFFNESS),
        shear_hysteresis: None,
        ..fabric()
    };
    let mut cloth = Cloth {
        sheet: Some(Sheet { width: SIDE, height: SIDE, columns: along, rows: along, slack: 1.0 }),
        ..Cloth::default()
    };
    let mut scene = scene(way, cloth.clone(), resilient);
    let seconds = scene.frame_time * f64::from(steps);
    let led = |side: Side, outwards: f64| {
        let to = |time: f64, strain: f64| Keyframe {
            time,
            shift: [0.5 * outwards * strain * SIDE, 0.0, 0.0],
            turn: [0.0; 3],
            ease: Ease::Linear,
        };
        let keyframe = vec![to(0.0, 0.0), to(seconds, MOST_PULLED), to(2.0 * seconds, 0.0)];
        Pin { sides: vec![side], keyframe, ..Pin::default() }
    };
    cloth.pin = vec![led(Side::Left, -1.0), led(Side::Right, 1.0)];
    scene.cloth = vec![Cloth { fabric: "bench".into(), model: way.model, ..cloth }];
    (scene.gravity, scene.air.damping) = ([0.0; 3], 100.0);
    // Edges of methods that keep lengths stretch up to six tenths of the tolerance.
    scene.solver.extensible = true;
    scene.solver.tolerance = scene.solver.tolerance.max(2.5 * MOST_PULLED);
    let mut simulation = simulation(&scene, &Default::default())?;
    let longer = |x: DVec3, strain: f64| DVec3::new(x.x * (1.0 + strain), x.y, x.z);
    let mut go = |_| -> Result<[f64; 2], BenchError> {
        simulation.step()?;
        let x = &simulation.state().positions;
        let length = x[ALONG - 1].x - x[0].x;
        let more = |by: f64| energy(&simulation, |(_, x)| longer(*x, by));
        Ok([length, (more(1e-6) - more(-1e-6)) / 2e-6 / length / SIDE])
    };
    let there: Vec<[f64; 2]> = (0..steps).map(&mut go).collect::<Result<_, _>>()?;
    let back: Vec<[f64; 2]> = (0..steps).map(&mut go).collect::<Result<_, _>>()?;
    let end = there[there.len() - 1];
    // Where it pulls no more the tester has come back.
    let area = |pair: &[[f64; 2]]| 0.5 * (pair[1][0] - pair[0][0]).abs() * (pair[0][1] + pair[1][1]).max(0.0);
    let work = |branch: Vec<[f64; 2]>| branch.windows(2).map(area).sum::<f64>();
    let start = [[SIDE, 0.0]];
    let whole = work([&start[..], &there].concat());
    Ok([end[1], work([&[end][..], &back].concat()) / whole])
}
