//! The plate of triangles against closed answers: quadratic surfaces, balance, the cantilever and the twisted strip, on any mesh.

use super::meshes::irregular;
use taffeta::math::DVec3;
use taffeta::model::{Model, Plates};
use taffeta_scene::{Cloth, ClothModel, FabricChange, Mesh, MeshShape, Method, Scene};

/// D11, D22 and D66 [N·m].
const RIGIDITY: [f64; 3] = [2.0, 1.0, 0.7];

/// The model of a flat mesh whose warp is along x.
fn model(points: &[[f64; 2]], triangles: &[[u32; 3]]) -> Model {
    let [warp, weft, twist] = RIGIDITY.map(|d| Some(1e6 * d));
    let fabric =
        FabricChange { bending_warp: warp, bending_weft: weft, bending_twist: twist, ..Default::default() };
    let mesh = Mesh {
        positions: points.iter().map(|p| DVec3::new(p[0], 0.0, -p[1])).collect(),
        triangles: triangles.to_vec(),
        material: points.to_vec(),
        ..Mesh::default()
    };
    let cloth = Cloth {
        mesh: Some(MeshShape { file: "plate".into(), scale: 1.0, up: Default::default(), weld: 0.0 }),
        fabric: "plate".into(),
        model: ClothModel::Triangles,
        ..Cloth::default()
    };
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.solver.method = Method::BackwardEuler;
    scene.fabrics.insert("plate".into(), fabric);
    taffeta_scene::build(&scene, &[("plate".to_string(), mesh)].into()).unwrap().0
}

/// Its name, points and triangles.
type FlatMesh = (&'static str, Vec<[f64; 2]>, Vec<[u32; 3]>);

/// A strip in `cells` triangles that do not lie alike: a grid, a skewed grid, and one without order. Its points stand row by row.
fn meshes(size: [f64; 2], cells: [usize; 2]) -> [FlatMesh; 3] {
    let columns = cells[0] as u32 + 1;
    let grid = || -> (Vec<[f64; 2]>, Vec<[u32; 3]>) {
        let at = |k: usize, of: usize, length: f64| length * k as f64 / of as f64;
        let rows = 0..=cells[1];
        let points = rows
            .flat_map(|j| (0..=cells[0]).map(move |i| [at(i, cells[0], size[0]), at(j, cells[1], size[1])]));
        let corners = (0..cells[1] as u32).flat_map(|j| (0..columns - 1).map(move |i| j * columns + i));
        let cut = |a: u32| [[a, a + 1, a + columns + 1], [a, a + columns + 1, a + columns]];
        (points.collect(), corners.flat_map(cut).collect())
    };
    let (points, triangles) = grid();
    let leaning = |p: &[f64; 2]| {
        let inside = p[0] > 0.0 && p[0] < size[0];
        let lean = if inside { 0.35 * size[0] / cells[0] as f64 * (2.0 * p[1] / size[1] - 1.0) } else { 0.0 };
        [p[0] + lean, p[1]]
    };
    let skewed = points.iter().map(leaning).collect();
    let (scattered, cut) = irregular(size, cells, 7);
    [("grid", points, triangles.clone()), ("skewed", skewed, triangles), ("irregular", scattered, cut)]
}

#[test]
fn a_quadratic_surface_has_its_curvature_on_any_mesh() {
    for (name, points, triangles) in meshes([1.0, 0.6], [8, 5]) {
        let model = model(&points, &triangles);
        assert_eq!(model.plates.ends.len(), triangles.len());
        let height = |i: u32| {
            let [x, y] = points[i as usize];
            DVec3::Z * (0.3 - x + 2.0 * y + 0.5 * x * x + 0.75 * y * y - 1.5 * x * y)
        };
        for patch in model.plates.patches() {
            let found = taffeta::forces::plate::curvatures(&patch, height).map(|c| c.z);
            for (found, want) in found.iter().zip([1.0, 1.5, -3.0]) {
                assert!((found - want).abs() < 1e-3, "{name}: {found} {want}");
            }
        }
    }
}

#[test]
fn constant_moments_leave_particles_inside_in_balance() {
    for (name, points, triangles) in meshes([1.0, 0.6], [12, 8]) {
        let model = model(&points, &triangles);
        let (mut force, mut scale) = (vec![[0.0; 3]; points.len()], 0.0_f64);
        for patch in model.plates.patches() {
            let area = patch.stiffness[0] / RIGIDITY[0];
            for (i, w) in patch.points.iter().zip(patch.weights) {
                (0..3).for_each(|k| force[*i as usize][k] += area * w[k]);
                scale = scale.max(area * w[0].abs());
            }
        }
        // Slopes at the rim reach no further than to the particles of the triangles around.
        let inner = |p: &[f64; 2]| p[0] > 0.4 && p[0] < 0.6 && p[1] > 0.2 && p[1] < 0.4;
        assert!(points.iter().any(inner));
        for (p, force) in points.iter().zip(&force).filter(|(p, _)| inner(p)) {
            assert!(force.iter().all(|f| f.abs() < 1e-9 * scale), "{name}: {force:?} at {p:?}");
        }
    }
}

/// Where forces across the sheet lead particles that are not held.
fn deflected(plates: &Plates, held: &[bool], forces: &[f64]) -> Vec<f64> {
    let n = held.len();
    let mut k = vec![vec![0.0; n]; n];
    for patch in plates.patches() {
        for (i, a) in patch.points.iter().zip(patch.weights) {
            for (j, b) in patch.points.iter().zip(patch.weights) {
                k[*i as usize][*j as usize] += (0..3).map(|c| patch.stiffness[c] * a[c] * b[c]).sum::<f64>();
            }
        }
    }
    let free: Vec<usize> = (0..n).filter(|i| !held[*i]).collect();
    let mut rows: Vec<Vec<f64>> =
        free.iter().map(|i| free.iter().map(|j| k[*i][*j]).chain([forces[*i]]).collect()).collect();
    let count = rows.len();
    for k in 0..count {
        let pivot = rows[k].clone();
        assert!(pivot[k] > 0.0, "a plate resists every bend");
        for row in &mut rows[k + 1..] {
            let factor = row[k] / pivot[k];
            if factor != 0.0 {
                row.iter_mut().zip(&pivot).for_each(|(entry, above)| *entry -= factor * above);
            }
        }
    }
    let mut way = vec![0.0; n];
    for k in (0..count).rev() {
        let known: f64 = (k + 1..count).map(|j| rows[k][j] * way[free[j]]).sum();
        way[free[k]] = (rows[k][count] - known) / rows[k][k];
    }
    way
}

/// Errors of the tip of a strip under its weight (Bernoulli: q L⁴ / 8 D11) and of the rate of twist under a couple at its end (Saint-Venant: T / 4 D66 b), by cells along it.
fn errors(cells: usize) -> [(&'static str, [f64; 2]); 3] {
    let (cell, width) = (1.0 / cells as f64, 0.2);
    meshes([1.0 + cell, width], [cells + 1, cells / 5]).map(|(name, mut points, triangles)| {
        // Where the strip is held it ends straight.
        points.iter_mut().skip(1).step_by(cells + 2).for_each(|p| p[0] = cell);
        let model = model(&points, &triangles);
        let points: Vec<[f64; 2]> = points.iter().map(|p| [p[0] - cell, p[1]]).collect();
        let held: Vec<bool> = (0..points.len()).map(|i| i % (cells + 2) < 2).collect();
        let tip = |row: usize| row * (cells + 2) + cells + 1;
        let rows = cells / 5 + 1;
        let weight: Vec<f64> = model.mass.iter().map(|m| m / model.mass.iter().sum::<f64>()).collect();
        let weight: Vec<f64> = weight.iter().map(|w| w * (1.0 + cell)).collect();
        let sag = deflected(&model.plates, &held, &weight);
        let sag = (0..rows).map(|row| sag[tip(row)]).sum::<f64>() / rows as f64;
        let bernoulli = 1.0 / (8.0 * RIGIDITY[0] * width);

        let mut couple = vec![0.0; points.len()];
        (couple[tip(0)], couple[tip(rows - 1)]) = (-1.0 / width, 1.0 / width);
        let twisted = deflected(&model.plates, &held, &couple);
        let near = |x: f64, row: usize| {
            let own = row * (cells + 2)..(row + 1) * (cells + 2);
            own.min_by(|a, b| (points[*a][0] - x).abs().total_cmp(&(points[*b][0] - x).abs())).unwrap()
        };
        let turn = |x: f64| {
            let [low, high] = [near(x, 0), near(x, rows - 1)];
            ((twisted[high] - twisted[low]) / width, 0.5 * (points[low][0] + points[high][0]))
        };
        let ((first, from), (second, to)) = (turn(0.3), turn(0.8));
        let rate = (second - first) / (to - from);
        let saint_venant = 1.0 / (4.0 * RIGIDITY[2] * width);
        (name, [sag / bernoulli - 1.0, rate / saint_venant - 1.0].map(f64::abs))
    })
}

#[test]
fn a_strip_bends_and_twists_as_a_plate_does_the_finer_the_better() {
    let (coarse, fine) = (errors(10), errors(20));
    for ((name, coarse), (_, fine)) in coarse.into_iter().zip(fine) {
        println!("{name}: sag {:.4} to {:.4}, twist {:.4} to {:.4}", coarse[0], fine[0], coarse[1], fine[1]);
        assert!(fine[0] < 0.05 && fine[0] < 0.6 * coarse[0], "{name}: sag {coarse:?} {fine:?}");
        assert!(coarse[1] < 0.02 && fine[1] < 0.005, "{name}: twist {coarse:?} {fine:?}");
    }
}
