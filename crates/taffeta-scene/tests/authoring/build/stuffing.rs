//! Surfaces filled with tetrahedra.

use taffeta::math::DVec3;
use taffeta_scene::build::shapes;
use taffeta_scene::build::stuffing::{StuffingProblem, stuff, volume};
use taffeta_scene::{Ball, SoftSolid};

#[test]
fn a_ball_is_filled_to_its_surface_with_what_it_weighs_and_resists() {
    let ball = shapes::ball(&Ball { radius: 0.1, rings: 12 }).rest;
    let topology = ball.topology().unwrap();
    let stuffed = stuff(&ball, &topology.triangles, 0.03).unwrap();
    let x = &stuffed.mesh.positions;
    let total: f64 = stuffed.tetrahedra.iter().map(|t| volume(t, x)).sum();
    let whole = 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    assert!((0.85..1.0).contains(&(total / whole)), "{total} of {whole} m³");
    assert!(stuffed.tetrahedra.iter().all(|t| volume(t, x) > 0.0));
    assert!((stuffed.masses(200.0).iter().sum::<f64>() / (200.0 * total) - 1.0).abs() < 1e-12);
    // Its own surface is closed and encloses what it holds.
    let surface = stuffed.mesh.topology().unwrap();
    assert!(surface.boundary.is_empty());
    let enclosed: f64 = surface.triangles.iter().map(|[a, b, c]| volume(&[0, *a, *b, *c], x)).sum();
    assert!((enclosed / total - 1.0).abs() < 1e-12, "{enclosed} and not {total}");
    // Where two corners are drawn to one place they give way to each other, and stay below the surface.
    let deep = surface.triangles.iter().flatten().map(|i| 1.0 - x[*i as usize].length() / 0.1);
    let deepest = deep.fold(0.0, f64::max);
    assert!(deepest < 0.05, "{deepest} of the radius");

    // The energy of springs when it is stretched by a small strain along any axis, held across: C11 = 3 μ = 6 E / 5.
    let solid = SoftSolid { cell: 0.03, density: 200.0, modulus: 1e4, damping: 0.0 };
    let springs = stuffed.springs(&solid);
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        let strain = 1e-4;
        let energy = |s: usize| {
            let e = springs.ends[s].map(|i| x[i as usize]);
            let way = e[1] - e[0];
            let longer = (way + strain * way.dot(axis) * axis).length() - springs.rest_length[s];
            0.5 * springs.stiffness[s] * longer * longer
        };
        let c11 = 2.0 * (0..springs.ends.len()).map(energy).sum::<f64>() / (total * strain * strain);
        assert!((c11 / 1.2e4 - 1.0).abs() < 0.1, "{c11}");
    }
}

#[test]
fn cells_that_do_not_fit_are_refused() {
    let ball = shapes::ball(&Ball { radius: 0.1, rings: 4 }).rest;
    let topology = ball.topology().unwrap();
    let refused = |cell: f64| stuff(&ball, &topology.triangles, cell).err();
    assert!(matches!(refused(1.0), Some(StuffingProblem::TooCoarse { .. })));
    assert!(matches!(refused(1e-4), Some(StuffingProblem::TooFine { .. })));
}
