//! Internal friction: what a loop takes, what stays when cloth is let go, and that it keeps the laws.

use crate::common::{free_sheet, simulation};
use taffeta::forces;
use taffeta::forces::air::HeldForces;
use taffeta::forces::slider::{self, HeldSliders, followed};
use taffeta::math::random::Random;
use taffeta::math::{DVec3, Vec4};
use taffeta::model::{Environment, Model, Slides, State};
use taffeta::step::{Energy, Hands, momentum};
use taffeta_scene::{
    Cloth, ClothModel, Collider, Ease, FabricChange, Keyframe, Kick, Method, Pin, PlaneShape, Scene, Sheet,
    Side, SphereShape,
};

/// Cells of the strip that is bent [m], and how many columns and rows of particles it has.
const CELL: f64 = 0.005;
const COLUMNS: u32 = 13;
const ROWS: u32 = 4;
/// HB / B of the fabric [1/m]: the curvature that stays.
const STAYS: f64 = 50.0;

/// A cotton whose moment is larger by 2HB = 2 × 50 /m × 12 µN·m = 1.2 mN while it is bent than while it is let go.
fn cotton_with_friction() -> FabricChange {
    FabricChange {
        bending_warp: Some(12.0),
        bending_weft: Some(12.0),
        warp: Some(300.0),
        weft: Some(300.0),
        bias: Some(150.0),
        bending_hysteresis: Some(1.2),
        shear_hysteresis: Some(2.0),
        ..FabricChange::default()
    }
}

/// The same with a tensile resilience, and edges that stretch.
fn resilient(mut scene: Scene) -> Scene {
    scene.solver.extensible = true;
    scene.fabrics.values_mut().for_each(|fabric| fabric.tensile_resilience = Some(60.0));
    scene
}

fn with_fabric(mut scene: Scene, fabric: FabricChange) -> Scene {
    scene.fabrics = [("test".to_string(), fabric)].into();
    scene.cloth.iter_mut().for_each(|cloth| cloth.fabric = "test".into());
    scene
}

/// A strip in a vacuum that rests level.
fn strip(method: Method, model: ClothModel, fabric: FabricChange) -> Scene {
    let mut scene = with_fabric(free_sheet(method, 2), fabric);
    let (width, height) = (CELL * f64::from(COLUMNS - 1), CELL * f64::from(ROWS - 1));
    let sheet = Sheet { width, height, columns: COLUMNS, rows: ROWS, slack: 1.0 };
    scene.cloth[0] = Cloth { sheet: Some(sheet), model, ..scene.cloth[0].clone() };
    scene
}

/// Its particles when it turns by an angle [rad] at every column, edges as long as at rest [m].
fn arc(angle: f64) -> Vec<DVec3> {
    let mut row = vec![DVec3::ZERO];
    for k in 1..COLUMNS {
        let heading = angle * (f64::from(k) - 0.5 * f64::from(COLUMNS));
        let end = row[row.len() - 1] + DVec3::new(heading.cos(), heading.sin(), 0.0) * CELL;
        row.push(end);
    }
    let place = |r: u32| row.iter().map(move |x| *x - DVec3::Z * (CELL * f64::from(r)));
    (0..ROWS).flat_map(place).collect()
}

fn padded(vectors: &[DVec3]) -> Vec<Vec4> {
    vectors.iter().map(|v| Vec4::from(*v)).collect()
}

#[test]
fn the_anchor_follows_as_the_closed_form_of_the_loop_has_it() {
    let (give, most) = (0.3, 2.0);
    let (mut anchor, mut area, mut last) = (0.0, 0.0, (0.0, 0.0));
    let there = |k: i32| most * f64::from(k) / 200.0;
    let ways = (0..=200).chain((-200..200).rev()).chain(-199..=200);
    for (n, e) in ways.map(there).enumerate() {
        anchor = followed(anchor, e, give);
        let force = e - anchor;
        // Along the first way up, then Masing's rule: twice as far in every direction.
        let want = match n {
            0..=200 => e.min(give),
            201..=600 => give - (most - e).min(2.0 * give),
            _ => (most + e).min(2.0 * give) - give,
        };
        assert!((force - want).abs() < 1e-12, "{n}: {force}, {want} expected");
        if n > 200 {
            area += 0.5 * (force + last.1) * (e - last.0);
        }
        last = (e, force);
    }
    assert!((area / (4.0 * give * (most - give)) - 1.0).abs() < 1e-3, "{area}");
}

#[test]
fn a_full_loop_takes_the_hysteresis_times_its_range_and_never_gives() {
    for kind in [ClothModel::Springs, ClothModel::Triangles] {
        let built = simulation(&strip(Method::BackwardEuler, kind, cotton_with_friction()));
        let (model, mut state) = (built.model(), built.state().clone());
        let mut sliders = HeldSliders::new(model);
        sliders.load(&state);
        let most = 1.25;
        let mut taken = 0.0;
        let mut bend_to = |angle: f64, state: &mut State| {
            state.positions = arc(angle);
            let before = Energy::of(model, DVec3::ZERO, state).elastic;
            sliders.follow(model, &padded(&state.positions));
            sliders.store(state);
            let lost = before - Energy::of(model, DVec3::ZERO, state).elastic;
            assert!(lost >= -1e-12 * before, "{kind:?} gains {} J", -lost);
            taken += lost;
            taken
        };
        let there = |k: i32| most * f64::from(k) / 2000.0;
        let first = (0..=2000).map(|k| bend_to(there(k), &mut state)).fold(0.0, f64::max);
        let x = state.positions.clone();
        let normals = slider::normals(model, &x);
        let loop_of = |s: &taffeta::model::Slider| {
            let (e, _) = slider::measure(model, s.of, |i| x[i as usize], |i| normals[i as usize]);
            4.0 * s.stiffness * s.give * (e.abs() - s.give).max(0.0)
        };
        let bends = |s: &&taffeta::model::Slider| matches!(s.of, Slides::Bend(_) | Slides::Plate(..));
        let want: f64 = model.sliders.iter().filter(bends).map(loop_of).sum();
        let back = (-2000..2000).rev().chain(-1999..=2000);
        let found = back.map(|k| bend_to(there(k), &mut state)).fold(0.0, f64::max) - first;
        assert!((found / want - 1.0).abs() < 0.01, "{kind:?}: {found} J, {want} J expected");
        if kind == ClothModel::Springs {
            // 2HB times the area of the bends and the range of curvature; what is rounded off at the two ends is a twentieth.
            let area = CELL * CELL * f64::from((COLUMNS - 2) * (ROWS - 1));
            let range = 2.0 * (2.0 * (0.5 * most).sin()) / CELL;
            let whole = 1.2e-3 * area * range;
            assert!(found < whole && found > 0.93 * whole, "{found} J of {whole} J");
        }
    }
}

#[test]
fn what_was_pulled_and_let_go_gives_back_its_resilience() {
    let most = 0.02;
    for (kind, resilience) in
        [ClothModel::Springs, ClothModel::Triangles].into_iter().flat_map(|k| [(k, 40.0), (k, 75.0)])
    {
        let fabric = FabricChange {
            warp: Some(300.0),
            weft: Some(300.0),
            bias: Some(1.0),
            tensile_resilience: Some(resilience),
            ..FabricChange::default()
        };
        let built = simulation(&strip(Method::BackwardEuler, kind, fabric));
        let (model, mut state) = (built.model(), built.state().clone());
        let rest = state.positions.clone();
        let mut sliders = HeldSliders::new(model);
        sliders.load(&state);
        let mut pulled = |strain: f64| {
            let at = |strain: f64| rest.iter().map(|x| DVec3::new(x.x * (1.0 + strain), x.y, x.z)).collect();
            state.positions = at(strain);
            sliders.follow(model, &padded(&state.positions));
            sliders.store(&mut state);
            let mut energy = |strain: f64| {
                state.positions = at(strain);
                Energy::of(model, DVec3::ZERO, &state).elastic
            };
            (energy(strain + 1e-7) - energy(strain - 1e-7)) / 2e-7
        };
        let there = |k: i32| most * f64::from(k) / 2000.0;
        let up: Vec<f64> = (0..=2000).map(|k| pulled(there(k))).collect();
        let down: Vec<f64> = (0..=2000).rev().map(|k| pulled(there(k))).collect();
        let work =
            |forces: &[f64]| forces.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]).max(0.0)).sum::<f64>();
        let share = 100.0 * work(&down) / work(&up);
        assert!((share / resilience - 1.0).abs() < 0.01, "{kind:?}: {share} %, {resilience} % expected");
        // Pulled from rest it is as stiff as the fabric.
        let area = CELL * CELL * f64::from((COLUMNS - 1) * (ROWS - 1));
        let stiffness = up[2000] / most / area;
        assert!((stiffness / 300.0 - 1.0).abs() < 0.01, "{kind:?}: {stiffness} N/m");
        // Pulled again, it goes up from where it was let go, and loses no less than nothing.
        let again: Vec<f64> = (0..=2000).map(|k| pulled(there(k))).collect();
        assert!(work(&again) >= work(&down) && work(&again) <= work(&up), "{kind:?}");
    }
}

/// A strip that hands bend to a tight arc and let go in thick air: the curvature in its middle at rest [1/m].
fn left_over(method: Method, model: ClothModel, fabric: FabricChange) -> f64 {
    let mut scene = strip(method, model, fabric);
    scene.air.damping = 300.0;
    let mut simulation = simulation(&scene);
    let step = simulation.model().step_time;
    for k in 1..=15 {
        let held = (0..).zip(arc(0.75 * f64::from(k) / 15.0)).collect();
        simulation.set_hands(&Hands { held, ..Hands::default() }, step);
        simulation.step().unwrap_or_else(|error| panic!("{error}"));
    }
    simulation.set_hands(&Hands::default(), step);
    for _ in 0..60 {
        simulation.step().unwrap_or_else(|error| panic!("{}: {error}", method.name()));
    }
    let x = &simulation.state().positions;
    let middle = (COLUMNS + COLUMNS / 2) as usize;
    (x[middle + 1] + x[middle - 1] - 2.0 * x[middle]).length() / (CELL * CELL)
}

#[test]
fn what_was_bent_and_let_go_keeps_the_curvature_of_its_hysteresis() {
    // `barrier` keeps a twelfth too little, as docs/barrier.md tells.
    let known = Method::ALL.iter().filter(|method| **method != Method::Barrier);
    let ways = known.map(|method| (*method, ClothModel::Springs));
    for (method, model) in ways.chain([(Method::BackwardEuler, ClothModel::Triangles)]) {
        let stays = left_over(method, model, cotton_with_friction());
        assert!((stays / STAYS - 1.0).abs() < 0.05, "{} {model:?}: {stays} /m", method.name());
        let smooth = FabricChange { bending_hysteresis: None, ..cotton_with_friction() };
        let gone = left_over(method, model, smooth);
        assert!(gone < 0.05 * STAYS, "{} {model:?}: {gone} /m without", method.name());
    }
}

#[test]
fn a_sheet_in_fine_cells_that_was_crushed_to_a_tenth_opens_when_it_is_lifted() {
    for method in [Method::ImpulseStrips, Method::ImpulseDirect, Method::BackwardEuler] {
        let (size, n) = (0.12, 20);
        let broadcloth = FabricChange {
            base: Some("cotton".into()),
            bending_hysteresis: Some(1.22),
            ..FabricChange::default()
        };
        let mut scene = with_fabric(free_sheet(method, n), broadcloth);
        scene.gravity = [0.0, -9.81, 0.0];
        scene.contact.cloth_cloth = true;
        let to = |time: f64, share: f64| Keyframe {
            time,
            shift: [0.0, -share * (0.9 * size + 0.05), 0.05 * share],
            turn: [0.0; 3],
            ease: Ease::Smooth,
        };
        let keyframe = vec![to(0.2, 0.0), to(1.0, 1.0), to(1.2, 1.0), to(2.0, 0.0)];
        scene.cloth[0] = Cloth {
            sheet: Some(Sheet { width: size, height: size, columns: n, rows: n, slack: 1.0 }),
            position: [0.0, 0.5 * size + 0.05, 0.0],
            rotation: [88.0, 0.0, 0.0],
            pin: vec![Pin { sides: vec![Side::Upper], keyframe, ..Pin::default() }],
            ..scene.cloth[0].clone()
        };
        scene.collider = vec![Collider { plane: Some(PlaneShape::default()), ..Collider::default() }];
        let mut simulation = simulation(&scene);
        for _ in 0..75 {
            simulation.step().unwrap_or_else(|error| panic!("{}: {error}", method.name()));
        }
        let heights = || simulation.state().positions.iter().map(|x| x.y);
        let open = (heights().fold(f64::MIN, f64::max) - heights().fold(f64::MAX, f64::min)) / size;
        assert!(open > 0.9, "{}: {open} of its height", method.name());
    }
}

#[test]
fn no_method_gains_energy_or_momentum_by_it() {
    for method in Method::ALL {
        let mut scene = with_fabric(
            free_sheet(*method, 12),
            FabricChange { warp: None, weft: None, bias: None, ..cotton_with_friction() },
        );
        scene.cloth[0].kick = Some(Kick { share: 0.3, speed: 1.0 });
        scene.solver.tolerance = 1e-4;
        // Fabrics that stretch, too, where they give by more than errors.
        let mut stretching = resilient(scene.clone());
        stretching.solver.tolerance = 0.05;
        gains_nothing(*method, &scene);
        gains_nothing(*method, &stretching);
        // And without friction.
        let mut smooth = stretching;
        smooth.fabrics.values_mut().for_each(|fabric| fabric.tensile_resilience = None);
        gains_nothing(*method, &smooth);
    }
}

fn gains_nothing(method: Method, scene: &Scene) {
    let mut simulation = simulation(scene);
    let before = momentum(simulation.model(), simulation.state());
    let start = simulation.energy().total();
    let mut last = start;
    for _ in 0..30 {
        simulation.step().unwrap();
        let now = simulation.energy().total();
        assert!(now <= last + 0.01 * start, "{}: {now} J after {last} J", method.name());
        last = last.min(now);
    }
    assert!(last < start);
    let gained = momentum(simulation.model(), simulation.state()) - before;
    // Some particles move with up to 1 m/s.
    let all: f64 = simulation.model().mass.iter().sum();
    assert!(gained.length() < 1e-10 * all, "{}: {gained}", method.name());
}

/// A sheet that swings down onto a ball.
fn busy(method: Method, side: u32) -> Scene {
    let mut scene = with_fabric(free_sheet(method, side), cotton_with_friction());
    scene.gravity = [0.0, -9.81, 0.0];
    scene.air.density = 1.2;
    scene.cloth[0].position = [0.0, 0.31, 0.0];
    scene.cloth[0].pin = vec![Pin { vertices: vec![0], ..Pin::default() }];
    scene.collider = vec![Collider { sphere: Some(SphereShape { radius: 0.3 }), ..Collider::default() }];
    resilient(scene)
}

#[test]
fn the_thread_count_and_an_interruption_change_no_bit() {
    let hashes = |scene: &Scene, threads: usize, frames: usize| -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut simulation = simulation(scene);
        pool.install(|| {
            let mut next = || simulation.step().map(|_| simulation.state().hash()).unwrap();
            (0..frames).map(|_| next()).collect()
        })
    };
    for method in [Method::ImpulseStrips, Method::BackwardEuler] {
        let scene = busy(method, 36);
        let alone = hashes(&scene, 1, 3);
        for threads in [2, 3] {
            assert_eq!(hashes(&scene, threads, 3), alone, "{} on {threads} threads", method.name());
        }
    }
    for method in Method::ALL {
        let scene = busy(*method, 8);
        let mut whole = simulation(&scene);
        for step in 0..6 {
            let mut resumed = simulation(&scene);
            resumed.restore(&whole.state().to_bytes()).unwrap();
            let mut copy = whole.clone();
            for simulation in [&mut resumed, &mut copy, &mut whole] {
                simulation.step().unwrap();
            }
            let want = whole.state().hash();
            assert_eq!(resumed.state().hash(), want, "{} after {step}", method.name());
            assert_eq!(copy.state().hash(), want, "{} after {step}", method.name());
        }
        assert!(whole.state().anchors.iter().any(|anchor| *anchor != 0.0), "{}", method.name());
    }
}

/// A model with every kind of slider and a state of it that is crumpled.
fn crumpled() -> (Model, State) {
    let mut scene = resilient(strip(Method::BackwardEuler, ClothModel::Springs, cotton_with_friction()));
    scene.cloth.push(Cloth { model: ClothModel::Triangles, ..scene.cloth[0].clone() });
    let built = simulation(&scene);
    let (model, mut state) = (Model::clone(built.model()), built.state().clone());
    let mut random = Random::new(3);
    let mut number = |scale: f64| random.between(-scale, scale);
    state.positions.iter_mut().for_each(|x| *x += DVec3::new(number(1e-3), number(1e-3), number(1e-3)));
    (model, state)
}

#[test]
fn forces_of_sliders_go_down_the_slope_of_their_deformation() {
    let (model, state) = crumpled();
    let normals = slider::normals(&model, &state.positions);
    let normal = |i: u32| normals[i as usize];
    let kinds: std::collections::BTreeSet<Slides> = model.sliders.iter().map(|s| s.of.kind()).collect();
    assert_eq!(kinds.len(), 7, "{kinds:?}");
    for of in model.sliders.iter().map(|s| s.of) {
        // The normal of a plate turns with its particles; where the plate is flat that changes no curvature.
        let flat = matches!(of, Slides::Plate(..));
        let at = if flat { &model.rest_positions } else { &state.positions };
        let (_, [first, second]) = slider::measure(&model, of, |i| at[i as usize], normal);
        for (i, [a, b]) in slider::weights(&model, of) {
            let slope = first * a + second * b;
            let moved = |by: DVec3| {
                let x = |k: u32| at[k as usize] + if k == i { by } else { DVec3::ZERO };
                slider::measure(&model, of, x, normal).0
            };
            let by_difference = DVec3::AXES.map(|axis| (moved(1e-7 * axis) - moved(-1e-7 * axis)) / 2e-7);
            let off = (DVec3::from(by_difference) - slope).length();
            assert!(off <= 1e-5 * slope.length(), "{of:?}: {slope}, {by_difference:?} by differences");
        }
    }
}

#[test]
fn held_forces_of_sliders_are_those_of_one_after_the_other() {
    let (mut model, mut state) = crumpled();
    model.air.density = 0.0;
    let environment = Environment::new(&model);
    let mut held = HeldForces::new(&model, &environment);
    held.sliders.load(&state);
    let x = padded(&state.positions);
    held.renew(&model, &environment, (0.0, 1e-3), &x, (|_| Vec4::ZERO, 3.0));
    held.sliders.store(&mut state);
    let with = forces::all_forces(&model, &model.air, &state, 1e-3);
    let without =
        forces::all_forces(&Model { sliders: Vec::new(), ..model.clone() }, &model.air, &state, 1e-3);
    let largest = with.iter().zip(&without).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(largest > 0.0);
    for ((held, with), without) in held.on_particles().iter().zip(&with).zip(&without) {
        assert!((held.xyz() - (*with - *without)).length() < 1e-9 * largest);
    }
}
