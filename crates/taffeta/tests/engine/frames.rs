//! Physics has no units, no place and no rest: a scene with other metres, kilograms and seconds, elsewhere, or in a moving train is the same scene.

use crate::common::simulation;
use taffeta::math::DVec3;
use taffeta::model::Params;
use taffeta_scene::{
    Air, Body, Cloth, Collider, Corner, Ease, FabricChange, Keyframe, Method, Pin, PlaneShape, Scene, Sheet,
    Solver, SphereShape, preset,
};

/// Steps before and after gravity changes.
const STEPS: [u32; 2] = [6, 4];
/// Gravity in the second part [m/s²].
const OTHER_GRAVITY: DVec3 = DVec3::new(1.5, -4.0, 0.5);

/// How long a metre, how heavy a kilogram, how long a second is in other units.
#[derive(Clone, Copy)]
struct Units {
    length: f64,
    mass: f64,
    time: f64,
}

/// A sheet that swings down from two corners in the wind.
fn swinging(method: Method) -> Scene {
    let sheet = Sheet { width: 0.5, height: 0.5, columns: 7, rows: 7, slack: 0.9 };
    let pin = Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() };
    Scene {
        solver: Solver { method, ..Solver::default() },
        air: Air { wind: [0.5, 0.0, 1.0], lift: 0.5, ..Air::default() },
        fabrics: [("test".to_string(), FabricChange::default())].into(),
        cloth: vec![Cloth { sheet: Some(sheet), fabric: "test".into(), pin: vec![pin], ..Cloth::default() }],
        ..Scene::default()
    }
}

/// A scene whose fabric has internal friction.
fn rubbing(mut scene: Scene) -> Scene {
    for fabric in scene.fabrics.values_mut() {
        (fabric.bending_hysteresis, fabric.shear_hysteresis) = (Some(1.0), Some(2.0));
        fabric.tensile_resilience = Some(60.0);
    }
    scene.solver.extensible = true;
    scene
}

/// The same against a ball at rest, and under one that falls on it.
fn meeting(method: Method) -> Scene {
    let ball = |radius: f64| Some(SphereShape { radius });
    let falls = Body {
        sphere: ball(0.04),
        mass: Some(0.02),
        position: [-0.08, 0.05, 0.04],
        velocity: [0.0, -1.0, 0.0],
        spin: [0.0, 0.0, 5.0],
        ..Body::default()
    };
    let rests = Collider { sphere: ball(0.1), position: [0.03, -0.13, 0.05], ..Collider::default() };
    let body = if method.takes_free_bodies() { vec![falls] } else { Vec::new() };
    Scene { collider: vec![rests], body, ..swinging(method) }
}

/// A sheet that lands on a slope, and slides on.
fn sliding(method: Method) -> Scene {
    let mut scene = swinging(method);
    scene.cloth[0].pin.clear();
    scene.cloth[0].sheet.iter_mut().for_each(|sheet| sheet.slack = 1.0);
    (scene.cloth[0].rotation, scene.cloth[0].position) = ([0.0, 0.0, 40.0], [-0.001, 0.001, 0.0]);
    let slope = Collider { plane: Some(PlaneShape {}), rotation: [0.0, 0.0, 40.0], ..Collider::default() };
    Scene { collider: vec![slope], ..scene }
}

/// Scenes that a rounding changes no more than by roundings.
fn scenes(method: Method) -> Vec<Scene> {
    // Four methods ask of a contact what a rounding may turn: whether forces are wrong by less than a share, whether velocities still change, whether a
    // particle was moved at all, whether a matrix is definite. From there on cloth goes another way, by up to a centimetre.
    let turns = matches!(method, Method::BackwardEuler | Method::Bdf2Secant | Method::Vbd | Method::Barrier);
    let meeting = (!turns).then(|| meeting(method));
    [swinging(method), sliding(method)].into_iter().chain(meeting).collect()
}

/// The scene measured in other units.
fn measured(scene: &Scene, Units { length, mass, time }: Units) -> Scene {
    let mut scene = scene.clone();
    let (speed, force) = (length / time, mass * length / (time * time));
    let times = |list: &mut [f64; 3], by: f64| *list = list.map(|n| n * by);
    scene.frame_time *= time;
    times(&mut scene.gravity, speed / time);
    scene.air.density *= mass / (length * length * length);
    scene.air.damping /= time;
    times(&mut scene.air.wind, speed);
    for change in scene.fabrics.values_mut() {
        let fabric = change.apply(&preset("cotton").expect("cotton is built in").fabric);
        let (stiffness, rigidity) = (force / length, force * length);
        *change = FabricChange {
            density: Some(fabric.density * mass / (length * length)),
            warp: Some(fabric.warp * stiffness),
            weft: Some(fabric.weft * stiffness),
            bias: Some(fabric.bias * stiffness),
            bending_warp: Some(fabric.bending_warp * rigidity),
            bending_weft: Some(fabric.bending_weft * rigidity),
            bending_hysteresis: Some(fabric.bending_hysteresis * force),
            shear_hysteresis: Some(fabric.shear_hysteresis * stiffness),
            thickness: Some(fabric.thickness * length),
            damping: Some(fabric.damping * time),
            bending_damping: Some(fabric.bending_damping * time),
            ..change.clone()
        };
    }
    for cloth in &mut scene.cloth {
        let sheet = cloth.sheet.as_mut().expect("all are sheets");
        (sheet.width, sheet.height) = (sheet.width * length, sheet.height * length);
        times(&mut cloth.position, length);
        times(&mut cloth.velocity, speed);
    }
    for collider in &mut scene.collider {
        times(&mut collider.position, length);
        collider.sphere.iter_mut().for_each(|sphere| sphere.radius *= length);
    }
    for body in &mut scene.body {
        times(&mut body.position, length);
        times(&mut body.velocity, speed);
        times(&mut body.spin, 1.0 / time);
        body.mass.iter_mut().for_each(|own| *own *= mass);
        body.sphere.iter_mut().for_each(|sphere| sphere.radius *= length);
    }
    scene
}

/// All positions at the end [m], when gravity has changed on the way.
fn end(scene: &Scene, other_gravity: DVec3) -> Vec<DVec3> {
    let mut simulation = simulation(scene);
    let mut go = |steps: u32| {
        for _ in 0..steps {
            simulation.step().unwrap_or_else(|error| panic!("{error}"));
        }
        let air = simulation.environment().air;
        simulation.set_surroundings(other_gravity, air);
    };
    STEPS.into_iter().for_each(&mut go);
    simulation.state().positions.clone()
}

/// How far the ends of a scene are from those of the same scene seen in another way, at most [m].
fn apart(scene: &Scene, other: &Scene, other_gravity: DVec3, seen: impl Fn(DVec3) -> DVec3) -> f64 {
    let (ends, others) = (end(scene, OTHER_GRAVITY), end(other, other_gravity));
    ends.iter().zip(others).map(|(a, b)| a.distance(seen(b))).fold(0.0, f64::max)
}

#[test]
fn tuned_numbers_go_with_the_scene() {
    let scene = meeting(Method::ImpulseStrips);
    let (length, time) = (4.0, 0.5);
    let other = simulation(&measured(&scene, Units { length, mass: 2.0, time })).model().params;
    let usual = simulation(&scene).model().params;
    let numbers = |params: &Params| {
        let (impulse, collision) = (&params.impulse, &params.collision);
        [
            (params.common.weightless, length / (time * time)),
            (impulse.hand_acceleration, length / (time * time)),
            (impulse.hand_speed, length / time),
            (impulse.stitch_closing_speed, length / time),
            (impulse.hand_away, length),
            (impulse.seam_tolerance, length),
            (impulse.closed_by_sweeps, length),
            (impulse.stitch_closing_time, time),
            (params.implicit.longest_with_bodies, time),
            (collision.body_skin, length),
            (collision.untangling_speed, length / time),
            (collision.bounce_speed, length / time),
            // What has no unit.
            (impulse.load, 1.0),
            (collision.pad, 1.0),
        ]
    };
    for (k, (usual, other)) in numbers(&usual).iter().zip(numbers(&other)).enumerate() {
        assert_eq!(usual.0 * usual.1, other.0, "number {k}");
    }
}

pub fn has_no_unit_of_its_own(method: Method) {
    let gravity = |Units { length, time, .. }: Units| OTHER_GRAVITY * (length / (time * time));
    // Powers of 2 change no digit.
    for units in [
        Units { length: 4.0, mass: 1.0, time: 1.0 },
        Units { length: 1.0, mass: 0.125, time: 1.0 },
        Units { length: 1.0, mass: 1.0, time: 0.25 },
        Units { length: 0.5, mass: 2.0, time: 2.0 },
    ] {
        let Units { length, mass, time } = units;
        for scene in [meeting(method), rubbing(swinging(method))] {
            let off = apart(&scene, &measured(&scene, units), gravity(units), |x| x / length);
            assert_eq!(off, 0.0, "{}: {length} m, {mass} kg, {time} s", method.name());
        }
    }
    let feet_and_pounds = Units { length: 1.0 / 0.3048, mass: 1.0 / 0.4536, time: 0.6 };
    for scene in scenes(method).into_iter().chain([rubbing(swinging(method))]) {
        let other = measured(&scene, feet_and_pounds);
        let off = apart(&scene, &other, gravity(feet_and_pounds), |x| x / feet_and_pounds.length);
        assert!(off < 1e-9, "{}: {off} m", method.name());
    }
}

pub fn is_the_same_a_kilometre_away(method: Method) {
    let far = DVec3::new(1000.0, -30.0, 200.0);
    let away = |position: &mut [f64; 3]| *position = (DVec3::from(*position) + far).into();
    for scene in scenes(method) {
        let mut moved = scene.clone();
        moved.cloth.iter_mut().for_each(|cloth| away(&mut cloth.position));
        moved.collider.iter_mut().for_each(|collider| away(&mut collider.position));
        moved.body.iter_mut().for_each(|body| away(&mut body.position));
        let off = apart(&scene, &moved, OTHER_GRAVITY, |x| x - far);
        assert!(off < 1e-6, "{}: {off} m", method.name());
    }
}

pub fn is_the_same_in_a_moving_train(method: Method) {
    let train = DVec3::new(30.0, 2.0, -20.0);
    let along = |velocity: &mut [f64; 3]| *velocity = (DVec3::from(*velocity) + train).into();
    let led = |time: f64| Keyframe { time, shift: (time * train).into(), turn: [0.0; 3], ease: Ease::Linear };
    for scene in scenes(method) {
        let mut moved = scene.clone();
        along(&mut moved.air.wind);
        moved.cloth.iter_mut().for_each(|cloth| {
            along(&mut cloth.velocity);
            cloth.pin.iter_mut().for_each(|pin| pin.keyframe = vec![led(0.0), led(1.0)]);
        });
        moved.collider.iter_mut().for_each(|collider| collider.keyframe = vec![led(0.0), led(1.0)]);
        moved.body.iter_mut().for_each(|body| along(&mut body.velocity));
        let gone = train * (f64::from(STEPS[0] + STEPS[1]) * scene.frame_time);
        let off = apart(&scene, &moved, OTHER_GRAVITY, |x| x - gone);
        assert!(off < 1e-6, "{}: {off} m", method.name());
    }
}
