//! The table-cloth goes, the dishes stay: the built-in scene by several methods.

use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta_io::scene_file::{SceneSource, load};

/// Where the free bodies are [m].
fn dishes(simulation: &Simulation) -> Vec<DVec3> {
    let poses: Vec<_> = simulation.model().poses(simulation.state()).collect();
    simulation.model().bodies.iter().map(|body| poses[body.collider].position).collect()
}

/// Runs the scene with some changes; returns how far each dish went [m].
fn pulled(sets: &[&str]) -> Vec<f64> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_string()).collect();
    let scene = load(&SceneSource::find("tablecloth-pull").unwrap(), &sets).unwrap();
    let mut simulation = taffeta_scene::simulation(&scene.scene, &scene.meshes).unwrap();
    let start = dishes(&simulation);
    for frame in 1..=scene.scene.frames {
        for _ in 0..scene.scene.solver.steps_per_frame {
            assert!(simulation.step().unwrap().converged, "frame {frame}");
        }
        let certificate = simulation.certificate();
        assert_eq!([certificate.cloth_cloth, certificate.cloth_body], [0, 0], "frame {frame}");
        assert!(certificate.max_strain <= scene.scene.solver.tolerance, "frame {frame}: {certificate:?}");
    }
    let cloth = &simulation.state().positions[..simulation.model().cloth_particle_count()];
    assert!(cloth.iter().all(|x| x.x > 0.45), "the cloth is off the table");
    dishes(&simulation).iter().zip(&start).map(|(end, start)| end.distance(*start)).collect()
}

#[test]
fn dishes_stay_on_the_table_and_every_frame_converges() {
    let went = pulled(&[]);
    // Explicit springs keep no lengths: what pulls is stretched by 2 %. They take as long again.
    let springs = ["solver.method=verlet", "solver.tolerance=0.05"];
    let by_springs = if testing::long() { pulled(&springs) } else { Vec::new() };
    println!("dishes went {went:.3?} m and {by_springs:.3?} m");
    // The bread is the last to be left, after 0.21 s: friction of 0.15 takes it 3 cm along by then, and it may go on as far.
    assert!(went.iter().chain(&by_springs).all(|way| *way < 0.07));
}
