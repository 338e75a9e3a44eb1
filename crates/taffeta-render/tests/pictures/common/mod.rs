//! A sheet of triangles in any shape, and a view of it.

use taffeta::math::DVec3;
use taffeta_render::{ClothView, SceneView};

/// Arrays of a piece of cloth.
pub struct Sheet {
    /// [m]
    pub positions: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    /// [m]
    pub material: Vec<[f64; 2]>,
}

/// A square of `n` × `n` particles and side `size` [m], centred, bent into shape.
pub fn sheet(n: u32, size: f64, bend: impl Fn(f64, f64) -> DVec3) -> Sheet {
    let h = size / f64::from(n - 1);
    let at = |i: u32| [f64::from(i % n) * h - 0.5 * size, f64::from(i / n) * h - 0.5 * size];
    let cell = |i: u32| [[i, i + n, i + 1], [i + 1, i + n, i + n + 1]];
    let inside = |i: &u32| i % n < n - 1 && i / n < n - 1;
    Sheet {
        positions: (0..n * n).map(at).map(|[u, v]| bend(u, v)).collect(),
        triangles: (0..n * n).filter(inside).flat_map(cell).collect(),
        material: (0..n * n).map(at).collect(),
    }
}

/// A view of it in cream.
pub fn view(sheet: &Sheet) -> SceneView<'_> {
    let cloth = ClothView {
        positions: &sheet.positions,
        triangles: &sheet.triangles,
        material: &sheet.material,
        colour: [0.7, 0.65, 0.55],
        thread: None,
        values: None,
    };
    SceneView { cloths: vec![cloth], ..SceneView::default() }
}
