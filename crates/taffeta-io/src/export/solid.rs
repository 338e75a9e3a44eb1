//! Colliders as meshes, for formats that know no spheres.

use taffeta::math::{DVec3, Pose, trig};
use taffeta::model::{BodyMesh, Shape};

/// Corners around a sphere, and half as many from pole to pole.
const AROUND: u32 = 48;

/// A mesh with normals, centred on its origin.
#[derive(Default, Clone)]
pub(super) struct Solid {
    pub points: Vec<DVec3>,
    pub normals: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
}

/// What is drawn of a collider, in the file's units.
pub(super) enum Drawn {
    Closed(Shape),
    Mesh(Solid),
}

impl Drawn {
    /// Its surface; of a half-space, a square of this side.
    pub fn solid(&self, plane_size: f64) -> Solid {
        match self {
            Drawn::Closed(shape) => Solid::of(*shape, plane_size),
            Drawn::Mesh(solid) => solid.clone(),
        }
    }
}

/// Side of the square that a half-space is drawn as: four times the room that the cloth takes.
pub(super) fn plane_size(low: DVec3, high: DVec3) -> f64 {
    4.0 * (high - low).max_element()
}

impl Solid {
    /// The surface of a shape; of a half-space, a square of this side.
    pub fn of(shape: Shape, plane_size: f64) -> Solid {
        let mut solid = Solid::default();
        match shape {
            Shape::Sphere { radius } => solid.round(radius, 0.0),
            Shape::Capsule { radius, half_length } => solid.round(radius, half_length),
            Shape::Plane => {
                let h = 0.5 * plane_size;
                solid.face(DVec3::ZERO, DVec3::Z * h, DVec3::X * h);
            }
            Shape::Box { half_size } => {
                let axes = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| axis * half_size);
                for k in 0..3 {
                    let (normal, a, b) = (axes[k], axes[(k + 1) % 3], axes[(k + 2) % 3]);
                    solid.face(normal, a, b);
                    solid.face(-normal, b, a);
                }
            }
        }
        solid
    }

    /// A surface from a file with smooth normals, if its points are points in the file's units.
    pub fn of_mesh(mesh: &BodyMesh, scale: f64) -> Option<Solid> {
        let points: Vec<DVec3> = mesh.points(0.0, &Pose::IDENTITY).iter().map(|p| *p * scale).collect();
        let triangles = mesh.triangles().to_vec();
        let mut normals = vec![DVec3::ZERO; points.len()];
        for t in &triangles {
            let [a, b, c] = t.map(|i| points[i as usize]);
            t.iter().for_each(|i| normals[*i as usize] += (b - a).cross(c - a));
        }
        normals.iter_mut().for_each(|n| *n = n.normalize_or(DVec3::Y));
        let finite = points.iter().all(|p| p.to_array().iter().all(|x| (*x as f32).is_finite()));
        finite.then_some(Solid { points, normals, triangles })
    }

    /// A flat quadrilateral about `centre`, spanned by half its sides; it looks along their cross product.
    fn face(&mut self, centre: DVec3, a: DVec3, b: DVec3) {
        let first = self.points.len() as u32;
        self.points.extend([centre - a - b, centre + a - b, centre + a + b, centre - a + b]);
        self.normals.extend([a.cross(b).normalize_or_zero(); 4]);
        self.triangles.extend([[0, 1, 2], [0, 2, 3]].map(|t| t.map(|i| first + i)));
    }

    /// A sphere whose halves are pulled apart along y.
    fn round(&mut self, radius: f64, half_length: f64) {
        let half = AROUND / 4;
        // Rings from the lower pole to the upper, the equator twice if the halves are apart.
        let lower = (0..=half).map(|k| (k, -half_length));
        let upper = (half + u32::from(half_length == 0.0)..=2 * half).map(|k| (k, half_length));
        let turn = std::f64::consts::TAU / f64::from(AROUND);
        let mut rings = 0;
        for (k, offset) in lower.chain(upper) {
            let latitude = turn * (f64::from(k) - f64::from(half));
            for j in 0..AROUND {
                let longitude = turn * f64::from(j);
                let flat = trig::cos(latitude);
                let n =
                    DVec3::new(flat * trig::sin(longitude), trig::sin(latitude), flat * trig::cos(longitude));
                self.points.push(radius * n + DVec3::Y * offset);
                self.normals.push(n);
            }
            rings += 1;
        }
        for ring in 1..rings {
            for j in 0..AROUND {
                let (below, next) = ((ring - 1) * AROUND, (j + 1) % AROUND);
                let [a, b, c, d] = [below + j, below + next, below + AROUND + next, below + AROUND + j];
                // A pole is one point, so that a half of each quadrilateral there is nothing.
                if ring > 1 {
                    self.triangles.push([a, b, c]);
                }
                if ring < rings - 1 {
                    self.triangles.push([a, c, d]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume enclosed by triangles that look outward.
    fn volume(solid: &Solid) -> f64 {
        let corner = |i: u32| solid.points[i as usize];
        let part = |t: &[u32; 3]| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0;
        solid.triangles.iter().map(part).sum()
    }

    #[test]
    fn surfaces_look_outward_and_enclose_the_volume() {
        let pi = std::f64::consts::PI;
        let half_size = DVec3::new(0.5, 1.0, 2.0);
        let shapes = [
            (Shape::Sphere { radius: 2.0 }, 32.0 / 3.0 * pi),
            (Shape::Capsule { radius: 1.0, half_length: 1.5 }, (4.0 / 3.0 + 3.0) * pi),
            (Shape::Box { half_size }, 8.0),
        ];
        for (shape, exact) in shapes {
            let solid = Solid::of(shape, 1.0);
            let ratio = volume(&solid) / exact;
            // 48 corners lie on the sphere, so it is a little small; a box is exact.
            assert!(ratio > 0.985 && ratio < 1.0 + 1e-12, "{shape:?}: {ratio}");
            assert!(solid.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-12));
            let outward = solid.points.iter().zip(&solid.normals).all(|(p, n)| p.dot(*n) > 0.0);
            assert!(outward, "{shape:?}");
        }
        let plane = Solid::of(Shape::Plane, 4.0);
        assert_eq!((plane.normals[0], plane.points[0].abs()), (DVec3::Y, DVec3::new(2.0, 0.0, 2.0)));
    }
}
