//! Springs and bends against the laboratory's numbers.

use taffeta::math::DVec3;
use taffeta::model::Model;
use taffeta_scene::build;
use taffeta_scene::build::{bias_stiffness, shear_stiffness};
use taffeta_scene::{Cloth, Scene, Sheet, preset};

/// cos² of the angle between an edge and the warp, which lies along x.
fn warp_share(ends: [u32; 2], rest: &[DVec3]) -> f64 {
    let [a, b] = ends.map(|i| rest[i as usize]);
    (b - a).x.powi(2) / (b - a).length_squared()
}

#[test]
fn a_grid_gives_back_the_laboratory_s_numbers() {
    let fabric = preset("cotton").unwrap().fabric;
    let sheet = Sheet { width: 0.6, height: 0.4, columns: 7, rows: 5, slack: 1.0 };
    let cloth = Cloth { sheet: Some(sheet), fabric: "cotton".into(), ..Cloth::default() };
    let scene = Scene { cloth: vec![cloth], ..Scene::default() };
    let (model, _) = build(&scene, &Default::default()).unwrap();
    let Model { springs, bends, rest_positions: rest, .. } = &model;
    let mass: f64 = model.mass.iter().sum();
    assert!((mass - 1e-3 * fabric.density * 0.24).abs() < 1e-12);

    let g = shear_stiffness(&fabric);
    // Energy density of a sheet strained by ε along the warp and ε' along the weft, and the stiffness matrix from it.
    let density = |along_warp: f64, along_weft: f64| -> f64 {
        let energy = (0..springs.ends.len()).map(|s| {
            let [a, b] = springs.ends[s].map(|i| rest[i as usize]);
            let strained = (b - a) * DVec3::new(1.0 + along_warp, 1.0, 1.0 + along_weft);
            0.5 * springs.stiffness[s] * (strained.length() - springs.rest_length[s]).powi(2)
        });
        energy.sum::<f64>() / 0.24
    };
    let e = 1e-4;
    let (ww, ff) = (2.0 * density(e, 0.0) / (e * e), 2.0 * density(0.0, e) / (e * e));
    let wf = density(e, e) / (e * e) - 0.5 * (ww + ff);
    // A strip that is free to narrow.
    assert!(((ww - wf * wf / ff) / fabric.warp - 1.0).abs() < 1e-3);
    assert!(((ff - wf * wf / ww) / fabric.weft - 1.0).abs() < 1e-3);
    assert!((wf / g - 1.0).abs() < 1e-2);
    assert!((bias_stiffness(fabric.warp, fabric.weft, g) / fabric.bias - 1.0).abs() < 1e-12);

    // Rolled to a cylinder of radius R about z, the energy is B / (2 R²) per area of the columns that can bend.
    let angle = 0.1 / 3.0;
    let energy: f64 = (0..bends.points.len())
        .filter(|&i| warp_share([bends.points[i][0], bends.points[i][1]], rest) > 0.9)
        .map(|i| 0.5 * bends.stiffness[i] * angle * angle)
        .sum();
    let want = 0.5 * 1e-6 * fabric.bending_warp / 9.0 * (0.5 * 0.4);
    assert!((energy / want - 1.0).abs() < 1e-9, "{energy} {want}");
}
