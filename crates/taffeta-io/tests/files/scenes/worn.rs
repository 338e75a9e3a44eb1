//! A garment that is worn comes to rest: what is left of its motion goes, where contacts and lengths would keep it up for ever.

use taffeta::Simulation;
use taffeta::check::certify;
use taffeta::math::{DVec3, Pose};
use taffeta::model::Form;
use taffeta_io::scene_file::{SceneSource, load};

const SHIRT: &str = r#"
solver = { tolerance = 0.02 }
air = { damping = 5 }

[[garment]]
pattern = "t-shirt"
edge_length = 0.03
baste = true
let_out = 0.6
sewing = 0.1

[[collider]]
friction = 0.2
mannequin = { arms = 45 }
"#;

/// How the arms of the mannequin come from where the shirt is sewn to where they are as it walks.
const WALKS: &str =
    "mannequin = { arms = 30, walk = { start = 0.3, duration = 3.0, arms = 60, in_place = true } }";
/// Frames until it walks in earnest.
const SET_OUT: u32 = 46;

/// Frames after which it hangs still, and in which it is looked at.
const HUNG: u32 = 25;
const SEEN: u32 = 10;
/// What is slower is at rest [m/s].
const SLOW: f64 = 0.01;

fn simulated(text: &str) -> Simulation {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shirt.toml");
    std::fs::write(&file, text).unwrap();
    let loaded = load(&SceneSource::File(file), &[]).unwrap();
    taffeta_scene::simulation(&loaded.scene, &loaded.meshes).unwrap()
}

#[test]
fn a_basted_shirt_has_the_same_bits_on_any_number_of_threads_and_after_an_interruption() {
    let last = |threads: usize, interrupted: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = simulated(SHIRT);
            simulation.step().unwrap();
            if interrupted {
                let bytes = simulation.state().to_bytes();
                simulation = simulated(SHIRT);
                simulation.restore(&bytes).unwrap();
            }
            simulation.step().unwrap();
            simulation.state().hash()
        })
    };
    assert_eq!(last(1, false), last(2, true));
}

#[test]
fn a_worn_shirt_comes_to_rest() {
    let mut simulation = simulated(SHIRT);
    let count = simulation.model().cloth_particle_count();
    let mut moving = 0;
    for frame in 0..HUNG + SEEN {
        simulation.step().unwrap();
        if frame >= HUNG {
            moving += simulation.velocities()[..count].iter().filter(|v| v.length() > SLOW).count();
        }
    }
    // One in sixteen; without `rest.rs` of the impulse methods three in four tremble.
    let share = moving as f64 / (f64::from(SEEN) * count as f64);
    assert!(share < 0.2, "{share} of the shirt is not at rest");
}

#[test]
fn a_shirt_stays_whole_as_its_body_goes_from_the_pose_of_sewing_to_its_walk() {
    let scene = SHIRT.replace("mannequin = { arms = 45 }", WALKS).replace("t-shirt", "hoodie");
    let mut simulation = simulated(&scene);
    let body = |simulation: &Simulation| match &simulation.model().colliders[0].form {
        Form::Mesh(mesh) => mesh.points(simulation.state().time, &Pose::IDENTITY),
        Form::Closed(_) => Vec::new(),
    };
    let sewn = body(&simulation);
    for frame in 0..SET_OUT {
        simulation.step().unwrap();
        let (now, certificate) = (body(&simulation), certify(simulation.model(), simulation.state()));
        if simulation.state().time < 0.3 {
            assert_eq!(now, sewn, "it stands until it sets out");
        }
        // Rounding alone takes a frame over its tolerance.
        assert!(certificate.max_strain <= 0.02 * (1.0 + 1e-9), "frame {frame}: {certificate:?}");
        assert_eq!((certificate.cloth_cloth, certificate.cloth_body), (0, 0), "frame {frame}");
    }
    let far = sewn.iter().zip(body(&simulation)).map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
    assert!(far > 0.15, "hands were lowered by {far} m");
}

const BELT: &str = r#"
weightless = 0.6
solver = { tolerance = 0.02 }
air = { damping = 5 }

[[garment]]
fabric = "leather"
edge_length = 0.0175
sewing = 0.5
belt = { length = 0.74, height = 1.1 }

[[collider]]
friction = 0.3
mannequin = {}
"#;

#[test]
fn a_belt_is_drawn_around_the_waist_and_stays_there() {
    let mut simulation = simulated(BELT);
    let start = certify(simulation.model(), simulation.state());
    assert!(start.min_gap > 5e-3 && start.cloth_body + start.cloth_cloth == 0, "{start:?}");
    let heights = |simulation: &Simulation| {
        let y = simulation.state().positions.iter().map(|p| p.y);
        (y.clone().fold(f64::INFINITY, f64::min), y.fold(0.0, f64::max))
    };
    let (low, high) = heights(&simulation);
    assert!((low - 1.0825).abs() < 1e-12 && (high - 1.1175).abs() < 1e-12, "{low} to {high} m");
    for _ in 0..36 {
        simulation.step().unwrap();
    }
    let open = taffeta::check::seam_opening(simulation.model(), simulation.state()).unwrap();
    let end = certify(simulation.model(), simulation.state());
    assert!(open < 5e-4, "open by {open} m");
    assert!(end.max_strain < 0.0201 && end.cloth_body + end.cloth_cloth == 0, "{end:?}");
    let (low, high) = heights(&simulation);
    assert!(low > 1.0 && high < 1.15, "it hangs from {low} to {high} m");
}

#[test]
fn a_belt_around_nothing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("belt.toml");
    std::fs::write(&file, BELT.replace("height = 1.1", "height = 3.0")).unwrap();
    let loaded = load(&SceneSource::File(file), &[]).unwrap();
    let refused = taffeta_scene::simulation(&loaded.scene, &loaded.meshes).err().unwrap().to_string();
    assert!(
        refused.contains("garment[0].belt.height") && refused.contains("goes around nothing"),
        "{refused}"
    );
}

/// Trousers, and over them the hoodie, both basted.
const OUTFIT: &str = r#"
[[garment]]
name = "trousers"
pattern = "trousers"
edge_length = 0.03
baste = true
let_out = 0.2

[[garment]]
name = "hoodie"
pattern = "hoodie"
edge_length = 0.03
baste = true
let_out = 0.2

[[collider]]
mannequin = { build = "man", arms = 40 }
"#;

#[test]
fn what_is_basted_over_a_garment_starts_outside_of_it() {
    let simulation = simulated(OUTFIT);
    let (model, x) = (simulation.model(), &simulation.state().positions);
    let certificate = certify(model, simulation.state());
    assert_eq!((certificate.cloth_cloth, certificate.cloth_body), (0, 0), "{certificate:?}");
    // Rays from the axis of the body: the hoodie is outside wherever one goes through both.
    let [inner, outer] = [0, 1].map(|piece| &model.triangles[model.cloths[piece].triangles.clone()]);
    let mut both = 0;
    for (k, height) in (0..180).flat_map(|k| [0.92, 0.94, 0.96, 0.98, 1.0].map(|height| (k, height))) {
        let angle = f64::from(k) * std::f64::consts::TAU / 180.0;
        let (from, way) = (DVec3::new(0.0, height, 0.0), DVec3::new(angle.sin(), 0.0, angle.cos()));
        let far = |triangles: &[[u32; 3]]| {
            triangles
                .iter()
                .filter_map(|t| hit(from, way, t.map(|i| x[i as usize])))
                .fold(None, |a: Option<f64>, b| Some(a.map_or(b, |a| a.max(b))))
        };
        if let (Some(trousers), Some(hoodie)) = (far(inner), far(outer)) {
            both += 1;
            assert!(hoodie > trousers, "at {height} m, {k}: {hoodie} and {trousers}");
        }
    }
    assert!(both > 170, "{both} rays go through both");
}

#[test]
fn a_t_shirt_with_a_rib_starts_whole_and_its_collar_lies() {
    let simulation = simulated(&OUTFIT.replace("hoodie", "tee"));
    let certificate = certify(simulation.model(), simulation.state());
    assert_eq!((certificate.cloth_cloth, certificate.cloth_body), (0, 0), "{certificate:?}");
    assert!(certificate.max_strain < 0.02, "{certificate:?}");
    // Shoulders and rib slip to neither side.
    let own = simulation.model().cloths[1].particles.clone();
    let x = &simulation.positions()[own];
    let top = x.iter().map(|x| x.y).fold(0.0, f64::max);
    let rib: Vec<f64> = x.iter().filter(|x| x.y > top - 0.06).map(|x| x.x).collect();
    let middle = rib.iter().sum::<f64>() / rib.len() as f64;
    assert!(rib.len() > 20 && middle.abs() < 0.01, "{} particles around {middle} m", rib.len());
}

/// How far along a ray a triangle is.
fn hit(from: DVec3, way: DVec3, [a, b, c]: [DVec3; 3]) -> Option<f64> {
    let normal = (b - a).cross(c - a);
    let far = (a - from).dot(normal) / way.dot(normal);
    let p = from + far * way;
    let inside = |a: DVec3, b: DVec3| (b - a).cross(p - a).dot(normal) >= 0.0;
    (far > 0.0 && inside(a, b) && inside(b, c) && inside(c, a)).then_some(far)
}
