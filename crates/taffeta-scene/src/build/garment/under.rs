//! What is worn below: a garment that is basted over others is basted on bodies that these are part of.

use taffeta::check::Surface;
use taffeta::math::DVec3;
use taffeta::model::body_mesh::{BodyMesh, Moments, Pace};
use taffeta::model::{Collider, Form};

/// Cloth further from the skin than this does not make the body stouter there [m].
const REACH: f64 = 0.12;
/// How far beyond what is worn below the stouter body reaches [m]: cloth between its points is a little outside of it.
const ROOM: f64 = 6e-3;
/// Rounds in which what is stouter is spread, and then evened out.
const SPREAD: u32 = 2;
const EVENED: u32 = 3;

/// Bodies as they are at the start, each so much stouter that the cloth that they wear is within them.
pub fn dressed(colliders: &[Collider], worn: Surface) -> Vec<Collider> {
    let grown = |collider: &Collider| {
        let Form::Mesh(mesh) = &collider.form else { return collider.clone() };
        let pose = collider.pose(0.0);
        let points = grown(&mesh.points(0.0, &pose), mesh.triangles(), worn);
        let points = points.iter().map(|p| pose.to_local(*p)).collect();
        let stouter = BodyMesh::new(
            mesh.triangles().to_vec(),
            Moments::Points(vec![points]),
            Pace::default(),
            mesh.thickness(),
        );
        let form = stouter.map_or_else(|_| collider.form.clone(), Form::Mesh);
        Collider { form, ..collider.clone() }
    };
    colliders.iter().map(grown).collect()
}

/// Points of a surface, moved out along its normals until cloth is inside.
fn grown(points: &[DVec3], triangles: &[[u32; 3]], worn: Surface) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; points.len()];
    for t in triangles {
        let [a, b, c] = t.map(|i| points[i as usize]);
        t.iter().for_each(|i| normals[*i as usize] += (b - a).cross(c - a));
    }
    normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
    let mut further = vec![0.0_f64; points.len()];
    let middles =
        worn.triangles.iter().map(|t| t.map(|i| worn.positions[i as usize]).iter().sum::<DVec3>() / 3.0);
    let corners = worn.triangles.as_flattened().iter().map(|i| worn.positions[*i as usize]);
    for p in corners.chain(middles) {
        let near = |t: &&[u32; 3]| {
            let [a, b, c] = t.map(|i| points[i as usize]);
            let beyond = (a.min(b).min(c) - p).max(p - a.max(b).max(c));
            beyond.max_element() < REACH && (b - a).cross(c - a).dot(p - a) > 0.0
        };
        let far = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| points[i as usize]);
            ((a + b + c) / 3.0).distance_squared(p)
        };
        let nearest = triangles.iter().filter(near).min_by(|s, t| far(s).total_cmp(&far(t)));
        for i in nearest.into_iter().flatten().map(|i| *i as usize) {
            let out = (p - points[i]).dot(normals[i]);
            if out < REACH {
                further[i] = further[i].max(out + ROOM);
            }
        }
    }
    for round in 0..SPREAD + EVENED {
        let mut sums = vec![(0.0, 0.0_f64); points.len()];
        let mut most = further.clone();
        for [a, b, c] in triangles {
            for (i, j) in [(*a, *b), (*b, *c), (*c, *a)] {
                for (i, j) in [(i as usize, j as usize), (j as usize, i as usize)] {
                    most[i] = most[i].max(further[j]);
                    sums[i] = (sums[i].0 + further[j], sums[i].1 + 1.0);
                }
            }
        }
        // Nothing that has been reached is given up again.
        let even = |(own, (sum, count)): (&f64, &(f64, f64))| own.max(sum / count.max(1.0));
        further = if round < SPREAD { most } else { further.iter().zip(&sums).map(even).collect() };
    }
    points.iter().zip(&normals).zip(&further).map(|((p, n), out)| *p + *out * *n).collect()
}
