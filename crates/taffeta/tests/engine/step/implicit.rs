//! Implicit methods: their order, long steps, element kinds, and answers that are known in closed form.

use crate::common::{free_sheet, hanging_strip, heavy_elastica, run, simulation};
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta_scene::{
    Ball, Cloth, ClothModel, Corner, FabricChange, Filling, FillingKind, Lattice, Method, ParticleOrder, Pin,
    Scene, Sheet, Side, StepChoice, Strip,
};

const IMPLICIT: [Method; 2] = [Method::BackwardEuler, Method::Bdf2];

/// A strip of two springs' width that swings from one end like a pendulum, lengths nearly kept.
fn swing(method: Method, substeps: u32) -> Scene {
    let fabric = FabricChange {
        warp: Some(40.0),
        weft: Some(40.0),
        bias: Some(20.0),
        density: Some(200.0),
        bending_warp: Some(100.0),
        bending_weft: Some(100.0),
        damping: Some(0.0),
        bending_damping: Some(0.0),
        ..FabricChange::default()
    };
    let mut scene = hanging_strip(method, 5, fabric);
    scene.air.damping = 0.0;
    scene.cloth[0].rotation = [0.0, 0.0, -60.0];
    scene.frame_time = 0.1;
    scene.solver.substeps = Some(substeps);
    scene.solver.newton = 30;
    scene
}

fn end_of_swing(method: Method, substeps: u32) -> Vec<DVec3> {
    let mut simulation = simulation(&swing(method, substeps));
    run(&mut simulation, 0.1);
    simulation.state().positions.clone()
}

fn distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

#[test]
fn backward_euler_is_of_first_and_bdf2_with_and_without_a_matrix_of_second_order() {
    let reference = end_of_swing(Method::Bdf2, 4096);
    for (method, order) in [(Method::BackwardEuler, 1.0), (Method::Bdf2, 2.0), (Method::Bdf2Secant, 2.0)] {
        let errors = [128, 256, 512].map(|count| distance(&end_of_swing(method, count), &reference));
        for pair in errors.windows(2) {
            let found = (pair[0] / pair[1]).log2();
            eprintln!("{}: errors {errors:?}, order {found}", method.name());
            assert!((found - order).abs() < 0.25, "{}: {errors:?}, order {found}", method.name());
        }
    }
}

#[test]
fn bdf2_keeps_a_swing_longer() {
    let energy = |method| {
        let mut scene = swing(method, 20);
        scene.solver.newton = 5;
        let mut simulation = simulation(&scene);
        let before = simulation.energy().total();
        run(&mut simulation, 2.0);
        before - simulation.energy().total()
    };
    let (euler, bdf2) = (energy(Method::BackwardEuler), energy(Method::Bdf2));
    assert!(bdf2 > 0.0 && bdf2 < 0.5 * euler, "lost {bdf2} J against {euler} J");
}

/// A sheet that hangs from two corners.
fn hanging_sheet(method: Method, model: ClothModel, frame_time: f64) -> Scene {
    let mut scene = free_sheet(method, 12);
    scene.gravity = [0.0, -9.81, 0.0];
    scene.frame_time = frame_time;
    scene.solver.substeps = Some(1);
    scene.cloth[0].model = model;
    scene.cloth[0].pin = vec![Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() }];
    scene
}

#[test]
fn a_hanging_sheet_stays_plausible_at_any_step() {
    for method in IMPLICIT {
        for model in [ClothModel::Springs, ClothModel::Triangles, ClothModel::ChoiKo] {
            for step in [1e-3, 1e-2, 0.1, 1.0] {
                let mut scene = hanging_sheet(method, model, step);
                // Nothing holds a strip of Choi & Ko that lies beyond its buckling: one linearisation may throw it metres away.
                scene.solver.newton = if model == ClothModel::ChoiKo { 4 } else { 1 };
                let mut simulation = simulation(&scene);
                let what = format!("{} {model:?} {step} s", method.name());
                // The first steps are the wildest; long runs see it swing.
                for _ in 0..if testing::long() { 40 } else { 20 } {
                    simulation.step().unwrap_or_else(|error| panic!("{what}: {error}"));
                }
                // Nothing is further from the pins than the sheet is large, but for what stretches.
                let x = &simulation.state().positions;
                let furthest = x.iter().map(|p| p.length()).fold(0.0, f64::max);
                assert!(furthest < 3.0, "{what}: {furthest} m");
            }
        }
    }
}

#[test]
fn every_kind_of_element_stretches_as_the_fabric_says() {
    let (density, warp) = (200.0, 100.0);
    let fabric = FabricChange {
        density: Some(density),
        warp: Some(warp),
        weft: Some(warp),
        bias: Some(0.5),
        bending_warp: Some(1.0),
        bending_weft: Some(1.0),
        ..FabricChange::default()
    };
    let want = 1e-3 * density * 9.81 * 0.25 / (2.0 * warp);
    for model in [ClothModel::Springs, ClothModel::Triangles, ClothModel::ChoiKo] {
        let mut scene = hanging_strip(Method::BackwardEuler, 20, fabric.clone());
        scene.cloth[0].model = model;
        let mut simulation = simulation(&scene);
        run(&mut simulation, 3.0);
        let lowest = simulation.state().positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
        let longer = -0.25 - lowest;
        assert!((longer / want - 1.0).abs() < 0.02, "{model:?}: {longer} m, {want} m expected");
    }
}

#[test]
fn a_spring_swings_with_its_period() {
    // One cell that hangs from its upper side: two springs k carry two particles m, and ω² = k / m.
    let mut scene = free_sheet(Method::Bdf2, 2);
    let fabric = FabricChange {
        warp: Some(100.0),
        weft: Some(100.0),
        bias: Some(0.01),
        damping: Some(0.0),
        bending_warp: Some(0.0),
        bending_weft: Some(0.0),
        ..FabricChange::default()
    };
    scene.fabrics = [("test".to_string(), fabric)].into();
    scene.cloth[0].fabric = "test".into();
    scene.cloth[0].rotation = [90.0, 0.0, 0.0];
    scene.cloth[0].pin = vec![Pin { sides: vec![Side::Upper], ..Pin::default() }];
    scene.gravity = [0.0, -0.5, 0.0];
    scene.frame_time = 1e-3;
    let mut simulation = simulation(&scene);
    let model = simulation.model();
    let (k, m) = (model.springs.stiffness[1], model.mass[0]);
    let want = std::f64::consts::TAU * (m / k).sqrt();
    // Between two passages downwards through the middle lies a period.
    let (mut before, mut passages) = (simulation.state().velocities[0].y, Vec::new());
    while passages.len() < 3 {
        simulation.step().unwrap();
        let now = simulation.state().velocities[0].y;
        if before > 0.0 && now <= 0.0 {
            passages.push(simulation.state().time - 1e-3 * now / (now - before));
        }
        before = now;
    }
    let period = passages[2] - passages[1];
    assert!((period / want - 1.0).abs() < 0.01, "{period} s, {want} s expected");
}

#[test]
fn a_balloon_grows_until_its_skin_holds_the_pressure() {
    // A thin sphere under pressure p has the tension p r / 2 in every direction, and its strain is tension / stiffness.
    let (pressure, stiffness, radius) = (100.0, 500.0, 0.2);
    let fabric = FabricChange {
        warp: Some(stiffness),
        weft: Some(stiffness),
        bias: Some(0.99 * stiffness),
        density: Some(100.0),
        ..FabricChange::default()
    };
    let balloon = Cloth {
        ball: Some(Ball { radius, rings: 6 }),
        model: ClothModel::Triangles,
        filling: Some(Filling { pressure, kind: FillingKind::Pump }),
        fabric: "test".into(),
        ..Cloth::default()
    };
    let mut scene = free_sheet(Method::BackwardEuler, 2);
    scene.air.damping = 20.0;
    scene.cloth = vec![balloon];
    scene.fabrics = [("test".to_string(), fabric)].into();
    let mut simulation = simulation(&scene);
    run(&mut simulation, 2.0);
    let x = &simulation.state().positions;
    let mean = x.iter().map(|p| p.length()).sum::<f64>() / x.len() as f64;
    // r = r₀ (1 + p r / (2 k)) without Poisson's effect.
    let want = radius / (1.0 - pressure * radius / (2.0 * stiffness));
    assert!((mean / want - 1.0).abs() < 0.01, "{mean} m, {want} m expected");
}

#[test]
fn a_sealed_balloon_keeps_pressure_times_volume() {
    let mut scene = free_sheet(Method::BackwardEuler, 2);
    scene.cloth = vec![Cloth {
        ball: Some(Ball { radius: 0.2, rings: 5 }),
        filling: Some(Filling { pressure: 2000.0, kind: FillingKind::Gas }),
        fabric: "jersey".into(),
        ..Cloth::default()
    }];
    scene.air.damping = 20.0;
    let mut simulation = simulation(&scene);
    let volume =
        |s: &Simulation| taffeta::forces::pressure::volume(&s.state().positions, &s.model().triangles);
    let before = volume(&simulation);
    run(&mut simulation, 1.0);
    let after = volume(&simulation);
    // Jersey yields, but not by more than the pressure pays for: p V is constant, and p stays above that of the outside.
    let limit = before * (101_325.0 + 2000.0) / 101_325.0;
    assert!(after > before && after < limit, "{before} m³, then {after} m³ of at most {limit} m³");
}

#[test]
fn a_lattice_has_the_modulus_asked_for() {
    // A column that is pulled down by gravity from its upper end lengthens by ρ g L² / (2 E).
    let lattice =
        Lattice { size: [0.1, 0.4, 0.1], cells: [2, 8, 2], density: 100.0, modulus: 2e4, damping: 5.0 };
    let mut scene = free_sheet(Method::BackwardEuler, 2);
    scene.gravity = [0.0, -9.81, 0.0];
    scene.air.damping = 10.0;
    scene.cloth = vec![Cloth { lattice: Some(lattice), ..Cloth::default() }];
    // x first, then y, then z: the upper layer.
    let upper = (0..3).flat_map(|k| (0..3).map(move |i| i + 3 * (8 + 9 * k))).collect();
    scene.cloth[0].pin = vec![Pin { vertices: upper, ..Pin::default() }];
    let mut simulation = simulation(&scene);
    run(&mut simulation, 3.0);
    let lowest = simulation.state().positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    let (longer, want) = (-0.2 - lowest, 100.0 * 9.81 * 0.16 / (2.0 * 2e4));
    // The held end cannot narrow, which makes the first cells stiffer.
    assert!((longer / want - 1.0).abs() < 0.06, "{longer} m, {want} m expected");
}

#[test]
fn the_order_of_particles_changes_nothing_but_round_off() {
    let end = |order| {
        let mut scene = hanging_sheet(Method::BackwardEuler, ClothModel::Springs, 1.0 / 60.0);
        scene.solver.order = order;
        scene.solver.newton = 20;
        let mut simulation = simulation(&scene);
        run(&mut simulation, 0.25);
        simulation.state().positions.clone()
    };
    let given = end(ParticleOrder::Given);
    for order in [ParticleOrder::Striped, ParticleOrder::Recursive] {
        let far = distance(&given, &end(order));
        assert!(far > 0.0 && far < 1e-4, "{order:?}: {far} m");
    }
}

#[test]
fn the_program_takes_short_steps_where_much_happens_and_long_ones_at_rest() {
    for method in IMPLICIT {
        let mut scene = hanging_sheet(method, ClothModel::Springs, 1.0 / 30.0);
        scene.solver.substeps = None;
        scene.solver.step = StepChoice::Auto;
        scene.air.damping = 5.0;
        let mut simulation = simulation(&scene);
        let counts: Vec<u32> = (0..150).map(|_| simulation.step().unwrap().substeps).collect();
        let (falling, resting) = (counts[5..15].iter().sum::<u32>(), counts[140..].iter().sum::<u32>());
        assert!(falling > resting && resting <= 20, "{}: {counts:?}", method.name());
    }
}

#[test]
fn the_heavy_elastica_is_that_of_the_beam_and_of_the_published_table() {
    // Where it hardly bends, the tip of a beam sinks by γ / 8 of its length.
    let [drop, reach] = heavy_elastica(1e-3);
    assert!((drop / 0.125e-3 - 1.0).abs() < 1e-6 && (1.0 - reach) < 1e-7, "{drop} {reach}");
    for (gamma, known) in [(10.0, 1.0668), (50.0, 3.7056)] {
        let [drop, reach] = heavy_elastica(gamma);
        assert!((drop / reach - known).abs() < 1e-4, "{gamma}: {}", drop / reach);
    }
    let Some(path) = testing::reference_data("reference-physics/heavy_elastica.csv") else { return };
    let table = std::fs::read_to_string(path).unwrap();
    let numbers = |line: &str| line.split(',').map(|n| n.trim().parse().ok()).collect::<Option<Vec<f64>>>();
    let rows: Vec<Vec<f64>> = table.lines().filter_map(numbers).collect();
    assert!(rows.len() > 3, "the table has rows");
    for row in rows {
        let [drop, reach] = heavy_elastica(row[0]);
        assert!((drop - row[1]).abs() < 2e-6 && (reach - row[2]).abs() < 2e-6, "{row:?}: {drop} {reach}");
    }
}

#[test]
fn a_cantilever_bends_like_the_heavy_elastica() {
    // Clamped level: the drop of the tip over its reach.
    let gamma = 10.0;
    let [drop, reach] = heavy_elastica(gamma);
    let want = drop / reach;
    let (length, density) = (0.2, 0.2);
    let rigidity = density * 9.81 * f64::powi(length, 3) / gamma;
    let mut last = f64::INFINITY;
    for segments in [10, 20, 40] {
        let fabric = FabricChange {
            density: Some(1e3 * density),
            warp: Some(5000.0),
            weft: Some(5000.0),
            bias: Some(1000.0),
            bending_warp: Some(1e6 * rigidity),
            bending_weft: Some(1e6 * rigidity),
            bending_damping: Some(50.0),
            ..FabricChange::default()
        };
        let mut scene = hanging_strip(Method::BackwardEuler, segments, fabric);
        // The bend at the clamp stands for half a cell on either side of it, of which the clamped half cannot curve.
        let d = length / (f64::from(segments) + 0.5);
        scene.cloth[0].strip =
            Some(Strip { length: d * f64::from(segments + 1), width: d, segments: segments + 1 });
        scene.cloth[0].rotation = [0.0; 3];
        // Held level over one cell.
        let columns = segments + 2;
        scene.cloth[0].pin = vec![Pin { vertices: vec![0, 1, columns, columns + 1], ..Pin::default() }];
        scene.air.damping = 10.0;
        let mut simulation = simulation(&scene);
        run(&mut simulation, 4.0);
        let x = &simulation.state().positions;
        let (clamp, tip) = (x[1], x[columns as usize - 1]);
        let found = (clamp.y - tip.y) / (tip.x - clamp.x + 0.5 * d);
        let error = (found / want - 1.0).abs();
        eprintln!("{segments} segments: H/W {found:.4}, {want:.4} expected, gamma {gamma}");
        assert!(error < last, "{segments} segments: error {error}, before {last}");
        last = error;
    }
    assert!(last < 0.03, "{last}");
}

#[test]
fn finer_sheets_come_to_the_same_drape() {
    let lowest = |n: u32| {
        let mut scene = hanging_sheet(Method::BackwardEuler, ClothModel::Springs, 1.0 / 30.0);
        scene.cloth[0].sheet = Some(Sheet { width: 1.0, height: 1.0, columns: n, rows: n, slack: 0.9 });
        scene.solver.substeps = None;
        scene.air.damping = 4.0;
        let mut simulation = simulation(&scene);
        run(&mut simulation, 4.0);
        simulation.state().positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min)
    };
    let depths = [7, 13, 25].map(lowest);
    let (coarse, fine) = ((depths[1] - depths[0]).abs(), (depths[2] - depths[1]).abs());
    assert!(fine < coarse && fine < 0.01, "{depths:?}");
}
