//! Small scenes, each for one thing that a step can do, and how to see that it did it.

use crate::common::{free_sheet, mesh_body};
use std::collections::BTreeMap;
use taffeta::Simulation;
use taffeta::check::{seam_opening, self_intersections};
use taffeta::math::DVec3;
use taffeta_scene::{
    Ball, Body, BoxShape, Cloth, ClothModel, Collider, Corner, Direction, Disc, Filling, FillingKind,
    Garment, Gust, Keyframe, Lattice, LimitWay, Mesh, Method, Panel, PanelEdge, ParticleOrder, Pin,
    PlaneShape, Scene, Seam, Sequence, Sheet, Side, SoftSolid, SphereShape, StepChoice, StrainLimit, Strip,
    Tube, Velocities,
};

/// What the reports of all steps add up to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    pub contacts: u32,
    pub parted: u32,
}

/// A scene, how many frames of it are hashed, and what must have happened by then.
pub struct Case {
    pub scene: Scene,
    pub meshes: BTreeMap<String, Mesh>,
    pub frames: usize,
    /// Whether a second run of it is for long runs only.
    pub heavy: bool,
    /// Panics where the scene did not do what it is for.
    pub shows: fn(&Simulation, Seen),
    /// The same scene without what it is for, where that can be left out: it must end elsewhere.
    pub without: Option<fn(&mut Scene)>,
}

impl Case {
    fn new(scene: Scene, frames: usize, shows: fn(&Simulation, Seen)) -> Self {
        Self { scene, meshes: BTreeMap::new(), frames, heavy: false, shows, without: None }
    }

    pub fn build(&self) -> Simulation {
        taffeta_scene::simulation(&self.scene, &self.meshes).unwrap_or_else(|faults| panic!("{faults:#?}"))
    }
}

fn moment(time: f64, shift: [f64; 3], turn: [f64; 3]) -> Keyframe {
    Keyframe { time, shift, turn, ease: Default::default() }
}

fn weighty(mut scene: Scene) -> Scene {
    scene.gravity = [0.0, -9.81, 0.0];
    scene
}

/// Sheets, a disc and a tube with wind, a moving sphere and a moving pin. Sides have a part of their particles if it is `coarse`.
fn windy(method: Method, coarse: bool) -> Scene {
    let side = |count: u32| if coarse { count / 3 } else { count };
    let mut scene = weighty(free_sheet(method, side(33)));
    scene.air.density = 1.2;
    scene.air.wind = [2.0, 0.0, 1.0];
    scene.cloth[0].rotation = [10.0, 20.0, 30.0];
    let lead = moment(0.5, [0.1, 0.2, 0.0], [0.0, 30.0, 0.0]);
    scene.cloth[0].pin =
        vec![Pin { vertices: vec![0, side(33) - 1], keyframe: vec![lead.clone()], ..Pin::default() }];
    scene.cloth.push(Cloth {
        disc: Some(Disc { radius: 0.3, rings: side(12) }),
        fabric: "jersey".into(),
        position: [0.0, 0.5, 0.0],
        ..Cloth::default()
    });
    scene.cloth.push(Cloth {
        tube: Some(Tube { radius: 0.2, length: 0.5, segments: side(24), rows: side(20) }),
        fabric: "silk".into(),
        position: [0.1, 1.0, 0.0],
        ..Cloth::default()
    });
    scene.collider = vec![Collider {
        sphere: Some(SphereShape { radius: 0.25 }),
        position: [0.0, -0.3, 0.0],
        keyframe: vec![lead],
        ..Collider::default()
    }];
    scene
}

/// Pins and a body that are led, wind, and several pieces of cloth; as large as several threads need, but for the slow.
pub fn wind_and_led_things(method: Method) -> Case {
    let case =
        Case::new(windy(method, is_slow(method)), 14, |_, seen| assert!(seen.contacts > 0, "{seen:?}"));
    Case { heavy: true, ..case }
}

/// Methods that need too long for many particles.
fn is_slow(method: Method) -> bool {
    matches!(method, Method::ImpulseIterative | Method::ImpulseDirect | Method::Bdf2Secant)
}

/// The same, as many or with few particles.
pub fn wind(method: Method, few: bool) -> Scene {
    windy(method, few || is_slow(method))
}

/// Gusts that lift: air that differs from place to place and from time to time.
pub fn gusts(method: Method) -> Case {
    let mut scene = weighty(free_sheet(method, 7));
    (scene.air.density, scene.air.wind, scene.air.lift) = (1.2, [4.0, 0.0, 1.0], 1.5);
    scene.air.gust = Gust { speed: 3.0, frequency: 5.0, length: 0.3 };
    scene.cloth[0].pin = vec![Pin { sides: vec![Side::Left], ..Pin::default() }];
    let without: fn(&mut Scene) = |scene| scene.air.gust.speed = 0.0;
    Case { without: Some(without), ..Case::new(scene, 5, |_, _| {}) }
}

/// A sheet one end of which is led over and then into its other half: cloth meets itself and nothing else.
pub fn self_contact(method: Method) -> Case {
    let mut scene = free_sheet(method, 2);
    scene.contact.cloth_cloth = true;
    let led = Pin {
        sides: vec![Side::Right],
        keyframe: vec![
            moment(0.0, [0.0; 3], [0.0; 3]),
            moment(0.1, [-0.2, 0.04, 0.0], [0.0; 3]),
            moment(0.2, [-0.2, -0.1, 0.0], [0.0; 3]),
        ],
        ..Pin::default()
    };
    scene.cloth = vec![Cloth {
        sheet: Some(Sheet { width: 0.3, height: 0.15, columns: 9, rows: 5, slack: 1.0 }),
        fabric: "silk".into(),
        pin: vec![Pin { sides: vec![Side::Left], ..Pin::default() }, led],
        ..Cloth::default()
    }];
    let shows = |simulation: &Simulation, _: Seen| {
        assert_eq!(simulation.certificate().cloth_cloth, 0);
        assert!(passes_through_itself(simulation.model().method), "it does not meet itself");
    };
    let without: fn(&mut Scene) = |scene| scene.contact.cloth_cloth = false;
    Case { without: Some(without), ..Case::new(scene, 9, shows) }
}

/// Whether the sheet of [`self_contact`] does where nothing looks for it.
fn passes_through_itself(method: Method) -> bool {
    let mut case = self_contact(method);
    case.scene.contact.cloth_cloth = false;
    let mut twin = case.build();
    (0..case.frames).any(|_| {
        twin.step().unwrap();
        !self_intersections(&twin.state().positions, &twin.model().triangles).is_empty()
    })
}

/// A ball and a box fall into a sheet, the box onto the ball.
pub fn free_bodies(method: Method) -> Case {
    let mut scene = weighty(free_sheet(method, 7));
    let sheet = Sheet { width: 0.4, height: 0.4, columns: 7, rows: 7, slack: 1.0 };
    let pin = vec![Pin { sides: vec![Side::Left, Side::Right], ..Pin::default() }];
    scene.cloth = vec![Cloth { sheet: Some(sheet), pin, ..Cloth::default() }];
    let ball = Body {
        sphere: Some(SphereShape { radius: 0.06 }),
        position: [0.0, 0.07, 0.0],
        mass: Some(0.1),
        ..Body::default()
    };
    let cuboid = Body {
        cuboid: Some(BoxShape { size: [0.1, 0.06, 0.08] }),
        position: [0.02, 0.175, 0.01],
        rotation: [20.0, 10.0, 30.0],
        velocity: [0.0, -1.0, 0.0],
        spin: [1.0, 2.0, -3.0],
        restitution: 0.2,
        mass: Some(0.2),
        ..Body::default()
    };
    scene.body = vec![ball, cuboid];
    let shows = |simulation: &Simulation, _: Seen| {
        // What nothing has stopped falls faster with every moment.
        let (model, state) = (simulation.model(), simulation.state());
        for (body, start) in model.bodies.iter().zip([0.0, -1.0]) {
            let velocity = body.of(&state.velocities).iter().sum::<DVec3>() / 4.0;
            assert!(velocity.y > start - 9.81 * state.time + 0.2, "{velocity}: it falls freely");
        }
        assert!(simulation.certificate().cloth_body == 0);
    };
    Case::new(scene, 5, shows)
}

/// A ball of tetrahedra and a lattice fall onto the ground.
pub fn soft_solids(method: Method) -> Case {
    let mut scene = weighty(free_sheet(method, 2));
    scene.contact.cloth_cloth = true;
    let solid = SoftSolid { cell: 0.07, density: 300.0, modulus: 3e4, damping: 0.5 };
    let ball = Cloth {
        ball: Some(Ball { radius: 0.1, rings: 6 }),
        solid: Some(solid),
        position: [0.0, 0.104, 0.0],
        velocity: [0.0, -1.0, 0.0],
        ..Cloth::default()
    };
    let lattice =
        Lattice { size: [0.1, 0.1, 0.1], cells: [2, 2, 2], density: 100.0, modulus: 2e4, damping: 5.0 };
    let lattice = Cloth {
        lattice: Some(lattice),
        position: [0.3, 0.08, 0.0],
        rotation: [20.0, 0.0, 30.0],
        velocity: [0.0, -1.0, 0.0],
        ..Cloth::default()
    };
    scene.cloth = vec![ball, lattice];
    scene.collider = vec![Collider { plane: Some(PlaneShape {}), ..Collider::default() }];
    let shows = |simulation: &Simulation, seen: Seen| {
        assert!(seen.contacts > 0, "{seen:?}");
        let (springs, x) = (&simulation.model().springs, &simulation.state().positions);
        let strain = |(ends, rest): (&[u32; 2], &f64)| {
            (x[ends[0] as usize].distance(x[ends[1] as usize]) / rest - 1.0).abs()
        };
        let most = springs.ends.iter().zip(&springs.rest_length).map(strain).fold(0.0, f64::max);
        assert!(most > 1e-3, "they do not give way: {most}");
    };
    Case::new(scene, 3, shows)
}

/// Two panels one above the other that are sewn together.
pub fn seams(method: Method) -> Case {
    let edge = |name: &str, to: [f64; 2]| PanelEdge { name: name.into(), to, ..PanelEdge::default() };
    let panel = |name: &str, height: f64| Panel {
        name: name.into(),
        start: [0.0, 0.0],
        edge: vec![
            edge("lower", [0.16, 0.0]),
            edge("right", [0.16, 0.16]),
            edge("upper", [0.0, 0.16]),
            edge("left", [0.0, 0.0]),
        ],
        position: [0.0, height, 0.0],
        ..Panel::default()
    };
    let garment = Garment {
        edge_length: 0.04,
        sewing: 0.1,
        panel: vec![panel("above", 0.03), panel("below", -0.16)],
        seam: vec![Seam { join: ["above.lower".into(), "below.upper".into()], ..Seam::default() }],
        ..Garment::default()
    };
    let mut scene = free_sheet(method, 2);
    scene.contact.cloth_cloth = true;
    (scene.cloth, scene.garment) = (Vec::new(), vec![garment]);
    let shows = |simulation: &Simulation, _: Seen| {
        let opening = seam_opening(simulation.model(), simulation.state()).expect("a seam");
        assert!(opening < 2e-3, "3 cm at the start, now {opening} m");
    };
    Case::new(scene, 5, shows)
}

/// A strip that is drawn out until it tears, and one that comes off its pins.
pub fn tearing(method: Method) -> Case {
    let led = Pin {
        sides: vec![Side::Right],
        keyframe: vec![moment(0.0, [0.0; 3], [0.0; 3]), moment(0.1, [0.09, 0.0, 0.0], [0.0; 3])],
        ..Pin::default()
    };
    let strip = |pin: Vec<Pin>| Cloth {
        strip: Some(Strip { length: 0.3, width: 0.075, segments: 8 }),
        pin,
        tear: Some(0.2),
        ..Cloth::default()
    };
    let held = Pin { sides: vec![Side::Left], ..Pin::default() };
    let loose = Pin { breaks: Some(1e-3), ..held.clone() };
    let mut scene = weighty(free_sheet(method, 2));
    scene.cloth = vec![strip(vec![held, led]), Cloth { position: [0.0, 0.0, 1.0], ..strip(vec![loose]) }];
    let shows = |simulation: &Simulation, seen: Seen| {
        assert!(seen.parted > 0 && !simulation.model().splits.is_empty(), "{seen:?}: nothing tore");
        assert!(simulation.model().clips.is_empty(), "its pins still hold");
    };
    Case::new(scene, 6, shows)
}

/// A sheet on a point that rises and grows broader: a body from a mesh that moves and deforms.
pub fn mesh_bodies(method: Method) -> Case {
    let pyramid = |wide: f64| {
        let corners = [(-wide, -wide), (wide, -wide), (wide, wide), (-wide, wide)];
        let mut positions: Vec<DVec3> = corners.map(|(x, z)| DVec3::new(x, -0.3, z)).to_vec();
        positions.push(DVec3::ZERO);
        let triangles = vec![[1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4], [0, 1, 2], [0, 2, 3]];
        Mesh { positions, triangles, ..Mesh::default() }
    };
    let mut body = mesh_body("pyramid-#.obj");
    body.sequence = Some(Sequence { first: 1, last: 2, rate: 5.0 });
    let mut scene = weighty(free_sheet(method, 8));
    scene.contact.cloth_cloth = true;
    scene.cloth[0].position = [0.03, 0.015, 0.01];
    let rises = vec![moment(0.0, [0.0; 3], [0.0; 3]), moment(0.2, [0.0, 0.05, 0.0], [0.0, 20.0, 0.0])];
    scene.collider = vec![Collider { mesh: Some(body), keyframe: rises, ..Collider::default() }];
    let shows = |simulation: &Simulation, seen: Seen| {
        assert!(seen.contacts > 0, "{seen:?}");
        assert_eq!(simulation.certificate().cloth_body, 0);
    };
    let meshes = [1, 2].map(|k| (format!("pyramid-{k}.obj"), pyramid(0.2 + 0.1 * f64::from(k)))).into();
    Case { meshes, ..Case::new(scene, 6, shows) }
}

/// Soft cloth that hangs from two corners and is longer than its limit allows.
fn limited(method: Method, way: LimitWay) -> Case {
    let mut scene = free_sheet(method, 6);
    scene.gravity = [0.0, -60.0, 0.0];
    // Impulses keep lengths so that there is something left to limit.
    scene.solver.tolerance = 0.05;
    scene.solver.limit = Some(StrainLimit { strain: 1e-3, way, sweeps: 5 });
    scene.cloth[0].fabric = "jersey".into();
    scene.cloth[0].rotation = [60.0, 0.0, 0.0];
    scene.cloth[0].pin = vec![Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() }];
    let without: fn(&mut Scene) = |scene| scene.solver.limit.as_mut().unwrap().sweeps = 0;
    Case { without: Some(without), ..Case::new(scene, 4, |_, _| {}) }
}

pub fn strain_limit_by_halves(method: Method) -> Case {
    limited(method, LimitWay::Half)
}

pub fn strain_limit_by_priority(method: Method) -> Case {
    limited(method, LimitWay::Priority)
}

/// A closed ball with gas in it and one with a pump.
pub fn fillings(method: Method) -> Case {
    let balloon = |kind: FillingKind, x: f64| Cloth {
        ball: Some(Ball { radius: 0.2, rings: 3 }),
        filling: Some(Filling { pressure: 500.0, kind }),
        position: [x, 0.205, 0.0],
        velocity: [0.0, -1.0, 0.0],
        ..Cloth::default()
    };
    let mut scene = weighty(free_sheet(method, 2));
    scene.cloth = vec![balloon(FillingKind::Gas, 0.0), balloon(FillingKind::Pump, 1.0)];
    scene.collider = vec![Collider { plane: Some(PlaneShape {}), ..Collider::default() }];
    let without: fn(&mut Scene) = |scene| scene.cloth.iter_mut().for_each(|cloth| cloth.filling = None);
    Case { without: Some(without), ..Case::new(scene, 5, |_, seen| assert!(seen.contacts > 0)) }
}

/// A sheet of another model over a ball.
fn modelled(method: Method, model: ClothModel) -> Scene {
    let mut scene = weighty(free_sheet(method, 7));
    scene.air.density = 1.2;
    scene.cloth[0].model = model;
    scene.cloth[0].position = [0.0, 0.02, 0.0];
    let sphere = Some(SphereShape { radius: 0.3 });
    scene.collider = vec![Collider { sphere, position: [0.0, -0.3, 0.0], ..Collider::default() }];
    scene
}

/// Triangles with membranes and plates.
pub fn triangles(method: Method) -> Case {
    let without: fn(&mut Scene) = |scene| scene.cloth[0].model = ClothModel::Springs;
    let scene = modelled(method, ClothModel::Triangles);
    Case { without: Some(without), ..Case::new(scene, 5, |_, seen| assert!(seen.contacts > 0)) }
}

/// Sub-steps that the program chooses, in another order. Only implicit methods take notice.
pub fn chosen_steps(method: Method) -> Case {
    let mut scene = weighty(free_sheet(method, 6));
    (scene.solver.step, scene.solver.order) = (StepChoice::Auto, ParticleOrder::Striped);
    scene.cloth[0].pin = vec![Pin { sides: vec![Side::Left], ..Pin::default() }];
    let without: fn(&mut Scene) = |scene| scene.solver.step = StepChoice::Usual;
    let without = matches!(method, Method::BackwardEuler | Method::Bdf2).then_some(without);
    Case { without, ..Case::new(scene, 4, |_, _| {}) }
}

/// Strips that buckle, in another order and with several Newton steps.
pub fn choi_ko(method: Method) -> Case {
    let mut scene = modelled(method, ClothModel::ChoiKo);
    (scene.solver.order, scene.solver.newton) = (ParticleOrder::Recursive, 4);
    let without: fn(&mut Scene) = |scene| scene.cloth[0].model = ClothModel::Springs;
    Case { without: Some(without), ..Case::new(scene, 5, |_, seen| assert!(seen.contacts > 0)) }
}

/// Impulses as the papers print them. Methods without impulses take no notice.
pub fn printed_impulses(method: Method) -> Case {
    let mut scene = weighty(free_sheet(method, 6));
    (scene.solver.direction, scene.solver.velocities) = (Direction::Start, Velocities::Corrected);
    scene.cloth[0].pin = vec![Pin { corners: vec![Corner::UpperLeft], ..Pin::default() }];
    let without: fn(&mut Scene) =
        |scene| (scene.solver.direction, scene.solver.velocities) = (Direction::Preview, Velocities::Kept);
    let without = method.keeps_lengths().then_some(without);
    Case { without, ..Case::new(scene, 3, |_, _| {}) }
}
