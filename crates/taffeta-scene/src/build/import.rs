//! A surface from a file made ready to be cloth: its units and axes, double points joined, loose points left out, its warp found.

use crate::scene::{Mesh, MeshShape, UpAxis};
use std::collections::HashMap;
use taffeta::math::DVec3;

/// Marks a point of the file that no particle stands for.
pub const NO_PARTICLE: u32 = u32::MAX;

/// A surface as it becomes cloth, and who is who in its file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    /// The surface, in metres with y up; every point belongs to a face.
    pub mesh: Mesh,
    /// The particle of every point of the file, or [`NO_PARTICLE`] where no face uses it.
    pub particle_of: Vec<u32>,
    /// The first point of the file that became each particle.
    pub point_of: Vec<u32>,
    /// What is otherwise than in the file, one sentence each.
    pub notes: Vec<String>,
}

/// Prepares a surface as its scene asks. One that names points that are not there is left as it is, for the topology to refuse.
pub fn import(file: &Mesh, shape: &MeshShape) -> Imported {
    let points = file.positions.len();
    let mut import = Imported { mesh: in_metres(file, shape), ..Imported::default() };
    let mut corners = file.triangles.as_flattened().iter().chain(file.quads.as_flattened());
    let material_fits = file.material.is_empty() || file.material.len() == points;
    if corners.any(|i| *i as usize >= points) || !material_fits {
        import.particle_of = (0..points as u32).collect();
        import.point_of = import.particle_of.clone();
        return import;
    }
    import.stretch_material(shape.scale);
    let kept = if shape.weld > 0.0 {
        let kept = joined(&import.mesh.positions, shape.weld);
        import.join(&kept, shape.weld);
        kept
    } else {
        (0..points as u32).collect()
    };
    import.drop_unused(&kept);
    import
}

/// A point of a file in metres with y up.
pub(super) fn placed(point: DVec3, shape: &MeshShape) -> DVec3 {
    let p = point * shape.scale;
    match shape.up {
        UpAxis::Y => p,
        UpAxis::Z => DVec3::new(p.x, p.z, -p.y),
    }
}

/// The surface in metres with y up.
fn in_metres(file: &Mesh, shape: &MeshShape) -> Mesh {
    let mut mesh = file.clone();
    mesh.positions.iter_mut().for_each(|p| *p = placed(*p, shape));
    mesh.material.iter_mut().flatten().for_each(|c| *c *= shape.scale);
    mesh
}

impl Imported {
    /// Stretches u and v until they are metres on the surface. Texture coordinates often fill a unit square, which bends all angles.
    fn stretch_material(&mut self, scale: f64) {
        if self.mesh.material.is_empty() {
            return;
        }
        let metres = metres_per_unit(&self.mesh);
        if !metres.iter().all(|s| s.is_finite() && *s > 0.0) {
            self.mesh.material.clear();
            self.notes.push("the texture coordinates cover no area; the warp lies along x instead".into());
        } else if metres.iter().any(|s| (s - 1.0).abs() > 0.01) {
            for uv in &mut self.mesh.material {
                *uv = [uv[0] * metres[0], uv[1] * metres[1]];
            }
            let [u, v] = metres.map(|s| s * scale);
            self.notes.push(format!("texture coordinates in metres: one u is {u:.4} m, one v is {v:.4} m"));
        }
    }

    /// Lets the faces use the points that are kept; those that lose a side or all their area go.
    fn join(&mut self, kept: &[u32], distance: f64) {
        let gone = kept.iter().enumerate().filter(|(i, k)| *i != **k as usize).count();
        if gone == 0 {
            return;
        }
        let faces = self.mesh.triangles.len() + self.mesh.quads.len();
        let mut triangles: Vec<[u32; 3]> = Vec::with_capacity(self.mesh.triangles.len());
        triangles.extend(self.mesh.triangles.iter().map(|t| t.map(|i| kept[i as usize])));
        self.mesh.quads.iter_mut().flatten().for_each(|i| *i = kept[*i as usize]);
        self.mesh.quads.retain(|&[a, b, c, d]| {
            let sides = [a == b, b == c, c == d, d == a];
            if sides.contains(&true) {
                // With one side gone a triangle is left; with more, or a diagonal, a line.
                triangles.push(if sides[0] || sides[1] { [a, c, d] } else { [a, b, c] });
                return false;
            }
            a != c && b != d
        });
        triangles.retain(|[a, b, c]| a != b && b != c && c != a);
        self.mesh.triangles = triangles;
        let lost = faces - self.mesh.triangles.len() - self.mesh.quads.len();
        let lost = if lost > 0 { format!("; faces that collapsed: {lost}") } else { String::new() };
        self.notes.push(format!("points joined to others within {distance} m: {gone}{lost}"));
        // Two material coordinates at one point are a seam; which of them counts depends on the face.
        let apart = |(a, k): (usize, &u32)| {
            let ([u, v], [s, t]) = (self.mesh.material[a], self.mesh.material[*k as usize]);
            (u - s).abs() + (v - t).abs() > 2.0 * distance
        };
        if !self.mesh.material.is_empty()
            && let torn @ 1.. = kept.iter().enumerate().filter(|pair| apart(*pair)).count()
        {
            self.mesh.material.clear();
            self.notes.push(format!(
                "joined points with several texture coordinates (seams): {torn}; the warp lies along x"
            ));
        }
    }

    /// Leaves out points that no face uses and numbers the others anew, in the order of the file.
    fn drop_unused(&mut self, kept: &[u32]) {
        let mut used = vec![false; kept.len()];
        let corners =
            self.mesh.triangles.as_flattened_mut().iter_mut().chain(self.mesh.quads.as_flattened_mut());
        corners.for_each(|i| used[*i as usize] = true);
        let mut number = vec![NO_PARTICLE; kept.len()];
        for (i, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            number[i] = self.point_of.len() as u32;
            self.point_of.push(i as u32);
        }
        let loose = kept.iter().enumerate().filter(|(i, k)| *i == **k as usize && !used[*i]).count();
        if loose > 0 {
            self.notes.push(format!("points that no face uses, left out: {loose}"));
        }
        let corners =
            self.mesh.triangles.as_flattened_mut().iter_mut().chain(self.mesh.quads.as_flattened_mut());
        corners.for_each(|i| *i = number[*i as usize]);
        self.particle_of = kept.iter().map(|k| number[*k as usize]).collect();
        let particle_of = |i: u32| self.particle_of.get(i as usize).copied().unwrap_or(NO_PARTICLE);
        self.mesh.lines.iter_mut().for_each(|line| *line = line.map(particle_of));
        self.mesh.lines.retain(|[a, b]| a != b && *a.max(b) != NO_PARTICLE);
        self.mesh.positions = self.point_of.iter().map(|i| self.mesh.positions[*i as usize]).collect();
        if !self.mesh.material.is_empty() {
            self.mesh.material = self.point_of.iter().map(|i| self.mesh.material[*i as usize]).collect();
        }
    }
}

/// How many metres of the surface a unit of u and of v spans, in the mean over the material [m]; not finite where it has no area.
fn metres_per_unit(mesh: &Mesh) -> [f64; 2] {
    let halves = mesh.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    let (mut sum, mut area) = ([0.0; 2], 0.0);
    for corners in mesh.triangles.iter().copied().chain(halves) {
        let [a, b, c] = corners.map(|i| mesh.positions[i as usize]);
        let [p, q, r] = corners.map(|i| mesh.material[i as usize]);
        let ([u1, v1], [u2, v2]) = ([q[0] - p[0], q[1] - p[1]], [r[0] - p[0], r[1] - p[1]]);
        let doubled = u1 * v2 - u2 * v1;
        // A triangle that is a line in the material has no directions to tell.
        if doubled.abs() > 1e-9 * (u1 * u1 + v1 * v1 + u2 * u2 + v2 * v2) {
            // Tangents along u and v, times the doubled area in the material.
            sum[0] += ((b - a) * v2 - (c - a) * v1).length();
            sum[1] += ((c - a) * u1 - (b - a) * u2).length();
            area += doubled.abs();
        }
    }
    sum.map(|s| s / area)
}

/// For every point the first one that stays within `distance`, mostly itself. Points that stay are further apart.
pub fn joined(positions: &[DVec3], distance: f64) -> Vec<u32> {
    // Points that stay, by the cube of the side `distance` that they lie in; near ones lie in this or a neighbouring cube.
    let mut cubes: HashMap<[u64; 3], Vec<u32>> = HashMap::new();
    // The sum turns -0 to 0.
    let name = |cube: DVec3| (cube + DVec3::ZERO).to_array().map(f64::to_bits);
    let near = |i: usize, cube: DVec3, cubes: &HashMap<[u64; 3], Vec<u32>>| {
        let shifts =
            (0..27).map(|k| DVec3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64) - DVec3::ONE);
        let around = shifts.filter_map(|shift| cubes.get(&name(cube + shift))).flatten().copied();
        around.filter(|k| positions[*k as usize].distance(positions[i]) <= distance).min()
    };
    let mut kept = Vec::with_capacity(positions.len());
    for (i, p) in positions.iter().enumerate() {
        let cube = (p / distance).floor();
        // What is out of all proportion is nobody's neighbour.
        let first = if cube.is_finite() { near(i, cube, &cubes) } else { None };
        if first.is_none() && cube.is_finite() {
            cubes.entry(name(cube)).or_default().push(i as u32);
        }
        kept.push(first.unwrap_or(i as u32));
    }
    kept
}
