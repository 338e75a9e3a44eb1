//! Folds pressed into cloth: it rests at their angle with every method, and the laws hold.

use crate::common::{free_sheet, simulation};
use taffeta::Simulation;
use taffeta::forces::{self, slider};
use taffeta::math::{DQuat, DVec3};
use taffeta::model::{Model, Slides, State};
use taffeta::step::{Energy, momentum};
use taffeta_scene::{Cloth, ClothModel, FabricChange, Fold, Method, Pin, Scene, Sheet};

/// Cells of the strip that is folded [m], and how many columns and rows of particles it has.
const CELL: f64 = 0.005;
const COLUMNS: u32 = 17;
const ROWS: u32 = 5;

fn fabric() -> FabricChange {
    FabricChange {
        bending_warp: Some(12.0),
        bending_weft: Some(12.0),
        warp: Some(100.0),
        weft: Some(100.0),
        bias: Some(50.0),
        ..FabricChange::default()
    }
}

/// A strip in a vacuum that rests level but for its folds.
fn strip(method: Method, model: ClothModel, fold: Vec<Fold>, fabric: FabricChange) -> Scene {
    let mut scene = free_sheet(method, 2);
    scene.fabrics = [("test".to_string(), fabric)].into();
    let (width, height) = (CELL * f64::from(COLUMNS - 1), CELL * f64::from(ROWS - 1));
    let sheet = Sheet { width, height, columns: COLUMNS, rows: ROWS, slack: 1.0 };
    scene.cloth[0] =
        Cloth { sheet: Some(sheet), model, fold, fabric: "test".into(), ..scene.cloth[0].clone() };
    scene
}

/// A fold across the strip at so many cells from its left end, that leads so many cells along it on its way across.
fn across(cells: f64, aslant: f64, angle: f64) -> Fold {
    let (u, v, lean) = (CELL * cells, CELL * f64::from(ROWS - 1), 0.5 * CELL * aslant);
    Fold { from: [u - lean, 0.0], to: [u + lean, v], angle, stiffness: 1.0 }
}

/// The angle between both ends of a strip with so many times as many cells, above 0 if its outside is the inside of the fold [degrees].
fn angle(simulation: &Simulation, finer: u32) -> f64 {
    let x = &simulation.state().positions;
    let at = |row: u32, column: u32| x[(finer * (row * (finer * (COLUMNS - 1) + 1) + column)) as usize];
    let normal = |from: u32, to: u32| {
        let along = at(0, to) + at(ROWS - 1, to) - at(0, from) - at(ROWS - 1, from);
        let up = at(ROWS - 1, from) + at(ROWS - 1, to) - at(0, from) - at(0, to);
        (along, along.cross(up))
    };
    let ((_, first), (last, other)) = (normal(0, 3), normal(COLUMNS - 4, COLUMNS - 1));
    first.angle_between(other).to_degrees() * last.dot(first).signum()
}

/// That of a scene at rest.
fn angle_at_rest(scene: Scene) -> f64 {
    finer_angle_at_rest(scene, 1)
}

fn finer_angle_at_rest(mut scene: Scene, finer: u32) -> f64 {
    scene.air.damping = 25.0;
    let mut simulation = simulation(&scene);
    for _ in 0..45 {
        simulation.step().unwrap_or_else(|error| panic!("{}: {error}", scene.solver.method.name()));
    }
    angle(&simulation, finer)
}

#[test]
fn a_folded_strip_rests_at_its_angle_with_every_method() {
    let ways = Method::ALL.iter().map(|method| (*method, ClothModel::Springs));
    for (method, model) in ways.chain([(Method::BackwardEuler, ClothModel::Triangles)]) {
        // On a column of particles, between two, and the other way.
        for (cells, asked, within) in [(8.0, 90.0, 0.04), (8.4, 90.0, 0.1), (8.0, -40.0, 0.05)] {
            // It takes some ten times as long as all others.
            if method == Method::Bdf2Secant && asked > 0.0 {
                continue;
            }
            let found = angle_at_rest(strip(method, model, vec![across(cells, 0.0, asked)], fabric()));
            let name = method.name();
            assert!((found / asked - 1.0).abs() < within, "{name} {model:?}, {asked} at {cells}: {found}");
        }
    }
}

#[test]
fn a_fold_aslant_is_rounded_and_rests_at_its_angle_on_fine_cells() {
    let turned = |cells: u32| {
        let mut scene =
            strip(Method::BackwardEuler, ClothModel::Springs, vec![across(8.0, 3.0, 60.0)], fabric());
        let sheet =
            Sheet { columns: cells * 16 + 1, rows: cells * 4 + 1, ..scene.cloth[0].sheet.clone().unwrap() };
        scene.cloth[0].sheet = Some(sheet);
        finer_angle_at_rest(scene, cells)
    };
    let (coarse, fine) = (turned(1), turned(2));
    assert!((coarse / 60.0 - 1.0).abs() < 0.13, "{coarse} degrees");
    assert!((fine / 60.0 - 1.0).abs() < 0.06, "{fine} degrees");
}

#[test]
fn two_folds_make_a_pleat_and_a_stiff_one_gives_less() {
    let pleat = vec![across(6.0, 0.0, 60.0), across(10.0, 0.0, -60.0)];
    let found = angle_at_rest(strip(Method::ImpulseStrips, ClothModel::Springs, pleat, fabric()));
    assert!(found.abs() < 1.0, "{found} degrees between the ends of a pleat");
    // Held at its left end, its own weight bends it down.
    let sags = |stiffness: f64| {
        let fold = Fold { stiffness, ..across(4.0, 0.0, 60.0) };
        let mut scene = strip(Method::BackwardEuler, ClothModel::Springs, vec![fold], fabric());
        scene.gravity = [0.0, -2.0, 0.0];
        let vertices = (0..ROWS).flat_map(|row| [row * COLUMNS, row * COLUMNS + 1]).collect();
        scene.cloth[0].pin = vec![Pin { vertices, ..Pin::default() }];
        angle_at_rest(scene)
    };
    let (soft, stiff) = (sags(1.0), sags(20.0));
    assert!(soft < stiff - 5.0, "{soft} and {stiff} degrees");
}

/// A strip folded at its middle by an angle, exactly, as the model has it [m].
fn folded(model: &Model, degrees: f64) -> Vec<DVec3> {
    let half = DQuat::from_rotation_z(0.5 * degrees.to_radians());
    let side = |x: &DVec3| if x.x < 0.0 { half.inverse() * *x } else { half * *x };
    model.rest_positions.iter().map(side).collect()
}

#[test]
fn at_its_angle_it_has_no_energy_and_beside_it_forces_are_the_slope() {
    for kind in [ClothModel::Springs, ClothModel::Triangles] {
        let fabric = FabricChange { bending_twist: Some(5.0), ..fabric() };
        let scene = strip(Method::BackwardEuler, kind, vec![across(8.0, 0.0, 70.0)], fabric);
        let built = simulation(&scene);
        let (model, mut state) = (built.model(), built.state().clone());
        let energy = |state: &State| Energy::of(model, DVec3::ZERO, state).elastic;
        let flat = energy(&state);
        state.positions = folded(model, 70.0);
        let left = energy(&state);
        assert!(flat > 0.0 && left.abs() < 1e-2 * flat, "{kind:?}: {left} J of {flat} J when flat");
        if kind == ClothModel::Triangles {
            // The slow twin of forces has no plates and membranes.
            continue;
        }
        // Bent by less than it rests at: along its own turn an element pulls and turns nothing, but for what the normal of the cloth counts beside it.
        state.positions = folded(model, 50.0);
        let forces = forces::all_forces(model, &model.air, &state, 1e-3);
        let largest = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
        for (i, force) in forces.iter().enumerate() {
            let moved = |by: DVec3| {
                let mut state = state.clone();
                state.positions[i] += by;
                energy(&state)
            };
            let slope = DVec3::AXES.map(|axis| (moved(1e-7 * axis) - moved(-1e-7 * axis)) / -2e-7);
            let off = force.distance(slope.into());
            assert!(off < 0.03 * largest, "particle {i}: {force}, {slope:?} by differences");
        }
    }
}

/// Σ m x × v [kg·m²/s], and the same if all of it turned the same way.
fn angular_momentum(simulation: &Simulation) -> (DVec3, f64) {
    let state = simulation.state();
    let all = || state.positions.iter().zip(&state.velocities).zip(&simulation.model().mass);
    let sum = all().map(|((x, v), m)| *m * x.cross(*v)).sum();
    (sum, all().map(|((x, v), m)| *m * x.length() * v.length()).sum())
}

#[test]
fn folding_itself_in_a_vacuum_it_keeps_its_momentum_and_gains_no_energy() {
    for method in Method::ALL.iter().filter(|method| **method != Method::Bdf2Secant) {
        // Nearer to one end, and aslant: nothing is symmetric.
        let mut scene = strip(*method, ClothModel::Springs, vec![across(6.3, 2.0, 80.0)], fabric());
        scene.cloth[0].velocity = [0.05, 0.0, 0.02];
        if *method == Method::Xpbd {
            // Bends that are answered once, one after the other, pull against one another in longer sub-steps.
            scene.solver.tolerance = 1e-3;
        }
        let mut simulation = simulation(&scene);
        let start = simulation.energy().total();
        let before = momentum(simulation.model(), simulation.state());
        let (turns_before, mut turning) = angular_momentum(&simulation);
        for _ in 0..15 {
            simulation.step().unwrap();
            let now = simulation.energy().total();
            assert!(now < start, "{}: {now} J of {start} J", method.name());
            turning = turning.max(angular_momentum(&simulation).1);
        }
        let gained = (momentum(simulation.model(), simulation.state()) - before).length();
        assert!(gained < 1e-9 * before.length(), "{}: {gained}", method.name());
        let turned = (angular_momentum(&simulation).0 - turns_before).length();
        let within = match method {
            // One iteration: a particle that goes before its neighbours answers forces that they do not.
            Method::Vbd | Method::Xpbd => 0.3,
            _ => 0.05,
        };
        assert!(turned < within * turning, "{}: {turned} of {turning}", method.name());
    }
}

#[test]
fn the_thread_count_and_an_interruption_change_no_bit() {
    let folds = vec![across(6.3, 2.0, 80.0), across(12.0, 0.0, -50.0)];
    for method in [Method::ImpulseStrips, Method::ImpulseIterative, Method::BackwardEuler, Method::Xpbd] {
        let rubs = FabricChange { bending_hysteresis: Some(1.2), ..fabric() };
        let scene = strip(method, ClothModel::Springs, folds.clone(), rubs);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut simulation = simulation(&scene);
            pool.install(|| (0..4).for_each(|_| simulation.step().map(|_| ()).unwrap()));
            simulation
        };
        let mut whole = on(1);
        assert_eq!(on(3).state().hash(), whole.state().hash(), "{}", method.name());
        let mut resumed = simulation(&scene);
        resumed.restore(&whole.state().to_bytes()).unwrap();
        whole.step().unwrap();
        resumed.step().unwrap();
        assert_eq!(resumed.state().hash(), whole.state().hash(), "{}", method.name());
    }
}

#[test]
fn without_folds_there_is_nothing_to_remember() {
    let built = simulation(&strip(Method::ImpulseStrips, ClothModel::Springs, Vec::new(), fabric()));
    assert!(built.model().sliders.is_empty() && built.state().anchors.is_empty());
    let folds = vec![across(8.0, 0.0, 90.0)];
    let built = simulation(&strip(Method::ImpulseStrips, ClothModel::Springs, folds, fabric()));
    let bent = &built.model().sliders;
    assert_eq!(bent.len(), ROWS as usize);
    for slider in bent {
        let Slides::Bend(b) = slider.of else { panic!("{slider:?}") };
        assert!((built.model().bends.rest[b as usize] - 2.0 * 45f64.to_radians().sin()).abs() < 1e-12);
        assert!(slider::of_rest(built.model(), slider) > 0.0);
    }
}
