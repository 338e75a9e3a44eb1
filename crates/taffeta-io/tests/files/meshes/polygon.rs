//! Faces of more than four corners become triangles that tile them.

use taffeta::math::trig::{cos, sin};

use super::*;

/// Asserts that the triangles of the only face of `points` tile it: right count, no fold, all of its area.
fn assert_tiled(points: &[DVec3], normal: DVec3, area: f64) {
    let mut text: String = points.iter().map(|p| format!("v {:?} {:?} {:?}\n", p.x, p.y, p.z)).collect();
    text.push('f');
    (1..=points.len()).for_each(|k| text.push_str(&format!(" {k}")));
    let file = obj(&text);
    assert_eq!(file.notes, ["faces of more than four corners, split into triangles: 1"], "{text}");
    assert_eq!(file.mesh.triangles.len(), points.len() - 2);
    let mut sum = 0.0;
    for t in &file.mesh.triangles {
        let [a, b, c] = t.map(|i| points[i as usize]);
        let part = 0.5 * (b - a).cross(c - a).dot(normal);
        assert!(part > 0.0, "triangle {t:?} has area {part}: {text}");
        sum += part;
    }
    // A fold would add area to the sum, a gap would take some from it.
    assert!((sum - area).abs() < 1e-9 * area, "{sum} instead of {area}: {text}");
}

#[test]
fn concave_faces_are_tiled_by_their_triangles() {
    let flat = |corners: &[[f64; 2]]| -> Vec<DVec3> {
        corners.iter().map(|[x, y]| DVec3::new(*x, *y, 0.0)).collect()
    };
    let l_shape = flat(&[[0., 0.], [2., 0.], [2., 1.], [1., 1.], [1., 2.], [0., 2.]]);
    assert_tiled(&l_shape, DVec3::Z, 3.0);
    let comb = flat(&[[0., 0.], [5., 0.], [5., 3.], [4., 1.], [3., 3.], [2., 1.], [1., 3.], [0., 1.]]);
    assert_tiled(&comb, DVec3::Z, 10.0);
    // Corners on straight sides make no triangle without area.
    let straight =
        flat(&[[0., 0.], [1., 0.], [2., 0.], [3., 0.], [3., 3.], [2., 3.], [1., 3.], [0., 3.], [0., 1.]]);
    assert_tiled(&straight, DVec3::Z, 9.0);
    // The first corner is the tip of the whole triangle: to cut it would leave the straight side alone.
    let tip = flat(&[[0., 3.], [0., 0.], [1., 0.], [2., 0.], [3., 0.]]);
    assert_tiled(&tip, DVec3::Z, 4.5);
    // A square hole joined to the outline by a bridge that is walked twice.
    let hole =
        [[0., 0.], [4., 0.], [4., 4.], [0., 4.], [0., 0.], [1., 1.], [1., 3.], [3., 3.], [3., 1.], [1., 1.]];
    assert_tiled(&flat(&hole), DVec3::Z, 12.0);
    let mut random = Random::new(3);
    for _ in 0..500 {
        // A star around the origin never crosses itself; a plane of any direction must do.
        let n = 5 + random.below(60);
        let radii: Vec<f64> = (0..n).map(|_| random.between(0.05, 1.0)).collect();
        let angle = |k: usize| std::f64::consts::TAU * k as f64 / n as f64;
        let axis = DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0))).normalize();
        let (u, v) = axis.any_orthonormal_pair();
        let star: Vec<DVec3> = (0..n).map(|k| (u * cos(angle(k)) + v * sin(angle(k))) * radii[k]).collect();
        let area: f64 = (0..n).map(|k| 0.5 * radii[k] * radii[(k + 1) % n] * sin(angle(1))).sum();
        assert_tiled(&star, axis, area);
    }
}

#[test]
fn faces_without_a_right_answer_are_noted_or_refused() {
    let crossing = obj("v 0 0 0\nv 2 2 0\nv 2 0 0\nv 0 2 0\nv -1 1 0\nf 1 2 3 4 5");
    assert_eq!(crossing.mesh.triangles.len(), 3);
    assert!(crossing.notes[0].contains("overlap: 1"), "{:?}", crossing.notes);
    assert_eq!(obj("v 1 1 1\nf 1 1 1 1 1 1").mesh.triangles.len(), 4);
    assert_eq!(
        obj("v 1e308 0 0\nv 0 1e308 0\nv -1e308 0 0\nv 0 -1e308 0\nv 1 0 1e308\nf 1 2 3 4 5")
            .mesh
            .triangles
            .len(),
        3
    );
    // A saw of many teeth: as many as allowed take milliseconds, more are refused by name.
    let saw = |teeth: usize| {
        let points: String =
            (0..teeth).map(|k| format!("v {k} {} 0\nv {k}.5 {} 0\n", 1 + k % 7, 100 + k % 5)).collect();
        let corners: String = (1..=2 * teeth).rev().map(|k| format!(" {k}")).collect();
        format!("{points}v 0 -1 0\nv {teeth} -1 0\nf{corners} {} {}", 2 * teeth + 1, 2 * teeth + 2)
    };
    let text = saw(700);
    let file = bounded(text.len(), "saw", || obj(&text));
    assert_eq!((file.mesh.triangles.len(), file.notes[0].contains("cross")), (1400, false));
    let fault = fault(read_obj, saw(5000).as_bytes());
    assert!(fault.reason.contains("intricate") && fault.line == Some(10003), "{fault}");
    let ring = format!("v 0 0 0\nv 1 0 0\nv 1 1 0\nf{}", " 1 2 3".repeat(100_000));
    assert!(bounded(ring.len(), "ring", || read_obj(ring.as_bytes())).is_err());
    // The worst that a file of intricate faces can cost; a long run has as many of them as fit a large file.
    let faces = if testing::long() { 300 } else { 20 };
    let face = saw(700).lines().last().unwrap().to_string();
    let text = format!("{}{}", saw(700).replace(&face, ""), format!("{face}\n").repeat(faces));
    let file = bounded(text.len(), "saws", || obj(&text));
    assert_eq!(file.mesh.triangles.len(), faces * 1400);
}
