//! One list of laws that every method obeys. A new method joins by a line below `methods!`, a new law by a line within it.

use crate::common::{centre, free_sheet, hanging_strip, run, simulation};
use crate::frames::{has_no_unit_of_its_own, is_the_same_a_kilometre_away, is_the_same_in_a_moving_train};
use taffeta::math::DVec3;
use taffeta::step::momentum;
use taffeta_scene::{Cloth, Collider, FabricChange, Kick, Method, PlaneShape, Scene, Sheet, presets};

/// One test for each method and law, so that one that fails hides no other.
macro_rules! methods {
    ($($module:ident $method:ident)*) => {
        /// Methods that have joined.
        const JOINED: &[Method] = &[$(Method::$method),*];
        $(mod $module {
            laws! {
                $method:
                falls_freely
                keeps_momentum
                never_gains_energy
                hangs_as_long_as_its_stiffness_says
                rests_where_it_lies
                friction_holds_below_its_limit
                friction_lets_slide_above_its_limit
                any_fabric_survives_a_fall
                reaches_its_terminal_speed
                has_no_unit_of_its_own
                is_the_same_a_kilometre_away
                is_the_same_in_a_moving_train
            }
        })*
    };
}

macro_rules! laws {
    ($method:ident: $($law:ident)*) => {
        $(#[test]
        fn $law() {
            super::$law(super::Method::$method)
        })*
    };
}

methods! {
    backward_euler BackwardEuler
    bdf2 Bdf2
    bdf2_secant Bdf2Secant
    impulse_iterative ImpulseIterative
    impulse_strips ImpulseStrips
    impulse_direct ImpulseDirect
    verlet Verlet
    xpbd Xpbd
    projective Projective
    vbd Vbd
    barrier Barrier
}

#[test]
fn every_method_has_joined() {
    assert_eq!(JOINED, Method::ALL);
}

fn falls_freely(method: Method) {
    let mut scene = free_sheet(method, 8);
    scene.gravity = [1.0, -9.81, 0.5];
    let mut simulation = simulation(&scene);
    let start = centre(&simulation);
    let last = run(&mut simulation, 1.0);
    let t = simulation.state().time;
    let want = DVec3::from(scene.gravity) * (0.5 * t * t);
    // A first-order method is late or early by at most one of its own steps.
    let allowed = 9.9 * t * last.shortest_substep;
    assert!((centre(&simulation) - start - want).length() < allowed, "{}", method.name());
    assert!(simulation.certificate().max_strain < 1e-9);
}

fn keeps_momentum(method: Method) {
    let mut scene = free_sheet(method, 10);
    scene.cloth[0].velocity = [0.3, -0.2, 0.1];
    scene.cloth[0].kick = Some(Kick { share: 0.5, speed: 0.5 });
    let mut simulation = simulation(&scene);
    let angular = |s: &taffeta::Simulation| -> DVec3 {
        let state = s.state();
        let moments = state.positions.iter().zip(&state.velocities).zip(&s.model().mass);
        moments.map(|((x, v), m)| *m * x.cross(*v)).sum()
    };
    let before = (momentum(simulation.model(), simulation.state()), angular(&simulation));
    run(&mut simulation, 0.5);
    let after = (momentum(simulation.model(), simulation.state()), angular(&simulation));
    let scale = before.0.length();
    assert!(
        (after.0 - before.0).length() < 1e-11 * scale,
        "linear {}",
        (after.0 - before.0).length() / scale
    );
    // Impulses act where particles will be, momentum is counted where they are: a sub-step turns it by h Σ m v⁺ × v. Implicit forces act
    // there too, with sub-steps many times as long.
    let turned = match method {
        Method::ImpulseStrips | Method::ImpulseDirect => 5e-4,
        // Its impulses displace by h² f / m, those of the two others by 0.6 of that.
        Method::ImpulseIterative => 5e-4 / 0.6,
        Method::BackwardEuler | Method::Bdf2 | Method::Barrier => 5e-3,
        Method::Verlet | Method::Bdf2Secant => 1e-4,
        // Constraints act along edges where they are so far, not where momentum is counted.
        Method::Xpbd => 5e-4,
        // Springs pull along where they were an iteration before.
        Method::Projective => 5e-4,
        // One iteration: a particle that goes before its neighbours answers forces that they do not.
        Method::Vbd => 5e-3,
    };
    assert!(
        (after.1 - before.1).length() < turned * scale,
        "angular {}",
        (after.1 - before.1).length() / scale
    );
}

fn never_gains_energy(method: Method) {
    let mut scene = free_sheet(method, 12);
    scene.cloth[0].kick = Some(Kick { share: 0.3, speed: 1.0 });
    // Methods that keep lengths keep them so well here that stretch stores no energy.
    scene.solver.tolerance = 1e-4;
    let mut simulation = simulation(&scene);
    let mut last = simulation.energy().total();
    let start = last;
    for _ in 0..30 {
        run(&mut simulation, 1.0 / 30.0);
        let now = simulation.energy().total();
        // Symplectic integration lets the energy swing by a little; it must not drift up.
        assert!(now <= last + 0.01 * start, "{}: {now} J after {last} J", method.name());
        last = last.min(now);
    }
    assert!(last < start);
}

fn hangs_as_long_as_its_stiffness_says(method: Method) {
    // A strip of stiffness Y per width lengthens under its weight by ρ g L² / (2 Y).
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
    let mut scene = hanging_strip(method, 20, fabric);
    scene.solver.tolerance = 1e-3;
    let mut simulation = simulation(&scene);
    run(&mut simulation, 2.0);
    let lowest = simulation.state().positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    let longer = -0.25 - lowest;
    if method.bounds_strain() {
        assert!(longer.abs() < 1e-3 * 0.5, "{}: longer by {longer} m", method.name());
        assert!(simulation.certificate().max_strain <= 1e-3);
        return;
    }
    let want = 1e-3 * density * 9.81 * 0.25 / (2.0 * warp);
    assert!((longer / want - 1.0).abs() < 0.02, "{}: {longer} m, {want} m expected", method.name());
}

fn rests_where_it_lies(method: Method) {
    let mut scene = on_a_plane(method, 0.0, 0.3);
    scene.cloth[0].position[1] = 1e-3;
    let mut simulation = simulation(&scene);
    run(&mut simulation, 1.0);
    let before = simulation.state().positions.clone();
    run(&mut simulation, 1.0);
    let moved =
        simulation.state().positions.iter().zip(&before).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(moved < 1e-6, "{}: moved {moved} m", method.name());
    let certificate = simulation.certificate();
    assert_eq!((certificate.cloth_body, certificate.cloth_cloth), (0, 0));
    assert!(certificate.min_gap > 0.0);
}

/// How far a sheet slides within a second on a slope of 30°, whose tangent is 0.577, and for how long.
fn slid(method: Method, friction: f64) -> [f64; 2] {
    let mut simulation = simulation(&on_a_plane(method, 30.0, friction));
    let start = centre(&simulation);
    run(&mut simulation, 1.0);
    [(centre(&simulation) - start).length(), simulation.state().time]
}

fn friction_holds_below_its_limit(method: Method) {
    let [path, _] = slid(method, 0.6);
    assert!(path < 1e-6, "crept {path} m");
}

fn friction_lets_slide_above_its_limit(method: Method) {
    let friction = 0.4;
    let [path, t] = slid(method, friction);
    let want = 0.5 * 9.81 * (0.5 - friction * 0.75_f64.sqrt()) * t * t;
    assert!((path / want - 1.0).abs() < 0.02, "slid {path} m, {want} m expected");
}

/// A small sheet that lies on a plane tilted by `degrees`, in a vacuum.
fn on_a_plane(method: Method, degrees: f64, friction: f64) -> Scene {
    let mut scene = free_sheet(method, 5);
    scene.gravity = [0.0, -9.81, 0.0];
    let sheet = Sheet { width: 0.2, height: 0.2, columns: 5, rows: 5, slack: 1.0 };
    let thickness = 0.5;
    scene.fabrics = [(
        "test".to_string(),
        FabricChange { thickness: Some(thickness), friction: Some(friction), ..FabricChange::default() },
    )]
    .into();
    let (sin, cos) = degrees.to_radians().sin_cos();
    let lift = 0.5e-3 * thickness;
    scene.cloth = vec![Cloth {
        sheet: Some(sheet),
        fabric: "test".into(),
        rotation: [0.0, 0.0, degrees],
        position: [-sin * lift, cos * lift, 0.0],
        ..Cloth::default()
    }];
    scene.collider =
        vec![Collider { plane: Some(PlaneShape {}), rotation: [0.0, 0.0, degrees], ..Collider::default() }];
    scene
}

fn any_fabric_survives_a_fall(method: Method) {
    // Finer sheets, which wrap further around the ball, are for long runs. Sub-steps of secants cost a dozen evaluations of all forces.
    let (side, frames) = match (testing::long(), method == Method::Bdf2Secant) {
        (true, false) => (16, 20),
        (true, true) => (10, 20),
        (false, false) => (8, 12),
        (false, true) => (6, 8),
    };
    for preset in presets() {
        let sheet = Sheet { width: 0.5, height: 0.5, columns: side, rows: side, slack: 1.0 };
        let cloth = Cloth {
            sheet: Some(sheet),
            fabric: preset.name.into(),
            position: [0.05, 0.16, 0.02],
            ..Cloth::default()
        };
        let sphere =
            Collider { sphere: Some(taffeta_scene::SphereShape { radius: 0.15 }), ..Collider::default() };
        let mut scene = Scene { cloth: vec![cloth], collider: vec![sphere], ..Scene::default() };
        scene.solver.method = method;
        let mut simulation = simulation(&scene);
        let mut touched = 0;
        for frame in 0..frames {
            touched += run(&mut simulation, 1.0 / 30.0).contacts;
            let certificate = simulation.certificate();
            assert!(certificate.max_strain < 0.1, "{} {}: frame {frame}", method.name(), preset.name);
            assert_eq!(certificate.cloth_body, 0, "{} {}: frame {frame}", method.name(), preset.name);
        }
        assert!(touched > 0, "{}: it has not met the sphere", preset.name);
    }
}

fn reaches_its_terminal_speed(method: Method) {
    // A flat sheet that falls flat: ρ C v² / 2 = area mass × g.
    let mut scene = free_sheet(method, 5);
    scene.gravity = [0.0, -9.81, 0.0];
    scene.air.density = 1.2;
    scene.air.drag = 1.5;
    scene.fabrics =
        [("test".to_string(), FabricChange { density: Some(150.0), ..FabricChange::default() })].into();
    scene.cloth[0].fabric = "test".into();
    let mut simulation = simulation(&scene);
    run(&mut simulation, 3.0);
    let mass: f64 = simulation.model().mass.iter().sum();
    let speed = momentum(simulation.model(), simulation.state()).length() / mass;
    let want = (2.0 * 0.15 * 9.81 / (1.2 * 1.5_f64)).sqrt();
    assert!((speed / want - 1.0).abs() < 0.01, "{}: {speed} m/s, {want} m/s expected", method.name());
}
