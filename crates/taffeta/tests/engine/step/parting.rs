//! Cloth that tears and pins that let go: at the strain and the pull that they should, in two pieces, with the same bits everywhere.

use taffeta::Simulation;
use taffeta::step::Shortfall;
use taffeta_scene::{Cloth, Ease, FabricChange, Keyframe, Method, Pin, Scene, Side, Strip};

const LENGTH: f64 = 0.4;
const WIDTH: f64 = 0.1;

/// Edges along the strip: a crack runs through its width bit by bit.
const SEGMENTS: u32 = 16;

/// Where the crack matters little: fewer for secants, whose sub-steps cost a dozen evaluations of all forces, but in long runs.
fn segments(method: Method) -> u32 {
    if method == Method::Bdf2Secant && !testing::long() { SEGMENTS / 2 } else { SEGMENTS }
}

/// A strip that is drawn out by a share `by` of its length within a second.
fn drawn(method: Method, by: f64, segments: u32) -> Scene {
    let moment = |time, x| Keyframe { time, shift: [x, 0.0, 0.0], turn: [0.0; 3], ease: Ease::Linear };
    let led = Pin {
        sides: vec![Side::Right],
        keyframe: vec![moment(0.0, 0.0), moment(1.0, by * LENGTH)],
        ..Pin::default()
    };
    let strip = Cloth {
        strip: Some(Strip { length: LENGTH, width: WIDTH, segments }),
        pin: vec![Pin { sides: vec![Side::Left], ..Pin::default() }, led],
        tear: Some(0.2),
        ..Cloth::default()
    };
    let mut scene = Scene { cloth: vec![strip], gravity: [0.0; 3], ..Scene::default() };
    scene.solver.method = method;
    scene.air.density = 0.0;
    scene
}

fn simulation(scene: &Scene) -> Simulation {
    taffeta_scene::simulation(scene, &Default::default()).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn run(simulation: &mut Simulation, steps: u32) {
    for _ in 0..steps {
        simulation.step().unwrap();
    }
}

/// How many pieces the triangles of a model make.
fn pieces(simulation: &Simulation) -> usize {
    let model = simulation.model();
    let mut piece: Vec<usize> = (0..model.particle_count()).collect();
    fn root(piece: &[usize], mut i: usize) -> usize {
        while piece[i] != i {
            i = piece[i];
        }
        i
    }
    for [a, b, c] in model.triangles.iter().map(|t| t.map(|i| i as usize)) {
        for other in [b, c] {
            let (p, q) = (root(&piece, a), root(&piece, other));
            piece[p.max(q)] = p.min(q);
        }
    }
    let mut roots: Vec<usize> = model.triangles.iter().flatten().map(|i| root(&piece, *i as usize)).collect();
    roots.sort_unstable();
    roots.dedup();
    roots.len()
}

/// Runs until something parts; the time at which it did [s].
fn until_parted(simulation: &mut Simulation, steps: u32) -> Option<f64> {
    (0..steps).find_map(|_| (simulation.step().unwrap().parted > 0).then_some(simulation.state().time))
}

/// All methods that know what pulls.
fn methods() -> impl Iterator<Item = Method> {
    Method::ALL.iter().copied().filter(|method| !method.goes_one_by_one())
}

const BY_FORCES: [Method; 4] = [Method::Verlet, Method::BackwardEuler, Method::Bdf2, Method::Bdf2Secant];

#[test]
fn a_strip_tears_in_two_at_its_strain_and_not_before() {
    // Secants need the whole strip, which takes long.
    let quick = |method: &Method| *method != Method::Bdf2Secant || testing::long();
    for method in BY_FORCES.into_iter().filter(quick) {
        let mut held = simulation(&drawn(method, 0.19, SEGMENTS));
        assert_eq!(until_parted(&mut held, 36), None, "{method:?}");
        assert_eq!(pieces(&held), 1);

        // 0.3 of its length in a second: a fifth of it after 2/3 s, which is the 20th step.
        let mut torn = simulation(&drawn(method, 0.3, SEGMENTS));
        let mass: f64 = torn.model().mass.iter().sum();
        let time = until_parted(&mut torn, 36).expect("it tears");
        assert!((time - 2.0 / 3.0).abs() < 1e-9, "{method:?} {time}");
        let mut total = torn.energy().total();
        for step in 0..24 {
            torn.step().unwrap();
            let certificate = torn.certificate();
            assert_eq!((certificate.cloth_cloth, certificate.cloth_body), (0, 0), "{method:?}");
            // Two steps are enough for the crack to run through; from then on nobody works on either piece but at its end.
            let now = torn.energy().total();
            assert!(step < 3 || now < total + 1e-3, "{method:?} {total} {now}");
            total = now;
        }
        assert_eq!(pieces(&torn), 2, "{method:?}");
        assert!(torn.certificate().max_strain < 0.05, "{method:?}: both pieces are slack");
        assert!((torn.model().mass.iter().sum::<f64>() / mass - 1.0).abs() < 1e-12);
    }
}

/// A strip that hangs by its left side and is as heavy as to strain its upper end by a share `of` what tears it.
fn hung(method: Method, of: f64) -> Scene {
    let mut scene = drawn(method, 0.0, segments(method));
    let gauze =
        FabricChange { warp: Some(100.0), weft: Some(100.0), bias: Some(20.0), ..FabricChange::default() };
    scene.fabrics.insert("gauze".into(), gauze);
    scene.cloth[0].fabric = "gauze".into();
    let fabric = scene.fabric("gauze").unwrap();
    scene.cloth[0].pin.truncate(1);
    scene.gravity = [of * 0.2 * fabric.warp / (1e-3 * fabric.density * LENGTH), 0.0, 0.0];
    scene
}

#[test]
fn where_impulses_keep_lengths_the_pull_tears() {
    for method in [Method::ImpulseStrips, Method::ImpulseDirect] {
        let mut held = simulation(&hung(method, 0.8));
        assert_eq!(until_parted(&mut held, 20), None, "{method:?}");
        let mut torn = simulation(&hung(method, 1.25));
        assert!(until_parted(&mut torn, 5).is_some(), "{method:?}");
        assert!(torn.certificate().max_strain < 0.06, "{method:?}: nothing was as long as that");
    }
}

#[test]
fn a_crack_keeps_lengths_or_says_so() {
    for (method, tolerance) in
        [(Method::ImpulseStrips, 0.02), (Method::ImpulseDirect, 0.02), (Method::ImpulseStrips, 1e-4)]
    {
        let mut scene = hung(method, 1.25);
        scene.solver.tolerance = tolerance;
        let mut simulation = simulation(&scene);
        let mut torn = 0;
        for step in 0..6 {
            let report = simulation.step().unwrap();
            let strain = simulation.certificate().max_strain;
            torn += u32::from(matches!(report.shortfall, Some(Shortfall::Torn { .. })));
            assert_eq!(
                report.converged,
                strain <= tolerance * (1.0 + 1e-9),
                "{method:?}, step {step}: {strain}"
            );
        }
        // A thickness is 4 % of a cell: half of that is too much for each side, a quarter of it is not.
        assert_eq!(torn > 0, tolerance < 1e-3, "{method:?}: {torn} steps");
        assert!(!simulation.model().splits.is_empty());
    }
}

#[test]
fn energy_does_not_grow_where_cloth_tears() {
    for method in BY_FORCES {
        let mut simulation = simulation(&hung(method, 1.5));
        let mut before = simulation.energy().total();
        let gravity = simulation.model().gravity.length();
        let scale = simulation.model().mass.iter().sum::<f64>() * gravity * LENGTH;
        let mut parted = 0;
        for _ in 0..6 {
            parted += simulation.step().unwrap().parted;
            let now = simulation.energy().total();
            assert!(now < before + 1e-3 * scale, "{method:?} {before} {now}");
            before = now;
        }
        assert!(parted > 0, "{method:?}");
    }
}

#[test]
fn a_pin_lets_go_at_its_pull() {
    for method in BY_FORCES {
        let mut scene = drawn(method, 0.3, segments(method));
        let warp = scene.fabric("cotton").unwrap().warp;
        // A particle within the side holds a strip as wide as a cell, here when the whole is strained by a tenth.
        scene.cloth[0].pin[0].breaks = Some(0.1 * warp * LENGTH / f64::from(segments(method)));
        let mut simulation = simulation(&scene);
        let held = simulation.model().clips.len();
        let time = until_parted(&mut simulation, 36).expect("it lets go");
        assert!((0.3 * time - 0.1).abs() < 0.0101, "{method:?} {time}");
        assert!(simulation.model().clips.len() < held && simulation.model().splits.is_empty());
        until_parted(&mut simulation, 3);
        run(&mut simulation, 12);
        assert!(simulation.model().clips.is_empty(), "{method:?}: the others had to hold the more");
        assert_eq!(pieces(&simulation), 1);
    }
}

#[test]
fn a_weight_hangs_from_its_pins_or_falls() {
    for method in methods() {
        let mut scene = drawn(method, 0.0, segments(method));
        scene.cloth[0].pin = vec![Pin { sides: vec![Side::Left], breaks: Some(1.0), ..Pin::default() }];
        scene.cloth[0].tear = None;
        let weight: f64 = simulation(&scene).model().mass.iter().sum();
        // Five particles hold it, or three; when it bounces the pull is twice as much at most.
        for (breaks, falls) in [(0.02, true), (0.6, false)] {
            scene.gravity = [9.81, 0.0, 0.0];
            scene.cloth[0].pin[0].breaks = Some(breaks * 9.81 * weight);
            let mut simulation = simulation(&scene);
            // It falls at once; in long runs it bounces some more times.
            run(&mut simulation, if testing::long() { 30 } else { 15 });
            let left = simulation.state().positions.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
            assert_eq!(left > 0.0, falls, "{method:?} {breaks} {left}");
        }
    }
}

#[test]
fn torn_cloth_has_the_same_bits_for_every_thread_count_and_after_an_interruption() {
    // Secants, which take long, tear with the hashes that are kept.
    for method in methods().filter(|method| *method != Method::Bdf2Secant || testing::long()) {
        let mut scene = drawn(method, 0.3, segments(method));
        scene.cloth[0].pin[0].breaks = Some(1e3);
        let run_on = |threads: usize, interrupted: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut simulation = simulation(&scene);
                run(&mut simulation, 20);
                let middle = simulation.state().to_bytes();
                assert!(!simulation.model().splits.is_empty(), "{method:?}: torn by then");
                if interrupted {
                    simulation = self::simulation(&scene);
                    simulation.restore(&middle).unwrap();
                }
                run(&mut simulation, 8);
                let hash = simulation.state().hash();
                // Going back before the tear mends it.
                let start = self::simulation(&scene).state().to_bytes();
                assert!(simulation.restore(&start[8..]).is_err());
                assert_eq!(simulation.state().hash(), hash, "{method:?}: refused, nothing changed");
                simulation.restore(&start).unwrap();
                assert!(simulation.model().splits.is_empty());
                hash
            })
        };
        let hash = run_on(1, false);
        assert_eq!(run_on(3, true), hash, "{method:?}");
        // Without an interruption the threads meet other states.
        assert!(!testing::long() || run_on(2, false) == hash, "{method:?}");
    }
}

#[test]
fn words_that_no_cloth_can_have_are_refused() {
    let mut simulation = simulation(&drawn(Method::Verlet, 0.3, SEGMENTS));
    let good = simulation.state().clone();
    for word in [u64::MAX, 1, 5 << 32 | 5, 3 << 32] {
        let mut bad = good.clone();
        bad.parted[0] = word;
        let taken = simulation.restore(&bad.to_bytes());
        // Splitting the corner 3 of the border towards its neighbour may be right; others never are.
        assert!(taken.is_err() || word == 3 << 32, "{word:x}");
        simulation.restore(&good.to_bytes()).unwrap();
        assert_eq!(simulation.state().hash(), good.hash());
    }
}
