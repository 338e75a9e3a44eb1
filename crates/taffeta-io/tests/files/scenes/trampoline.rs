//! A ball leaves a mat that has pressed on it: the last contact carries nothing but round-off, which is none of its forces.

use taffeta_io::scene_file::{SceneSource, load};

/// The ball has left by then.
const FRAMES: u32 = 48;

#[test]
fn a_ball_that_leaves_a_mat_leaves_no_contact_undecided() {
    let loaded = load(&SceneSource::find("trampoline").unwrap(), &[]).unwrap();
    let mut simulation = taffeta_scene::simulation(&loaded.scene, &loaded.meshes).unwrap();
    let mut touched = 0;
    for frame in 1..=FRAMES {
        let report = simulation.step().unwrap();
        touched = touched.max(report.contacts);
        assert!(report.converged, "frame {frame}: {:?}", report.shortfall);
        let strain = simulation.certificate().max_strain;
        assert!(strain <= simulation.model().tolerance, "frame {frame}: {strain}");
    }
    assert!(touched > 30, "{touched}");
}
