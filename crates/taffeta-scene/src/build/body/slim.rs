//! A body that starts slim and grows to its size, so that garments are sewn around it without being caught on it.

use taffeta::math::DVec3;

/// As many points as others are measured against: more change nothing that cloth would notice.
const MEASURED: usize = 4000;
/// Rounds of smoothing; without them what is noisy in the surface crosses itself as it goes in.
const ROUNDS: u32 = 30;

/// Where every point goes so that the body has only `left` of its girth everywhere [m].
///
/// A point goes inwards by a share of the largest ball that touches the surface there from inside: arms and legs become thinner, none gets shorter.
pub fn slim(points: &[DVec3], triangles: &[[u32; 3]], left: f64) -> Vec<DVec3> {
    let normals = normals(points, triangles);
    let stride = points.len().div_ceil(MEASURED);
    let across: Vec<(DVec3, DVec3)> =
        (0..points.len()).step_by(stride).map(|k| (points[k], normals[k])).collect();
    let inwards = |(p, normal): (&DVec3, &DVec3)| {
        let ball = |(q, other): &(DVec3, DVec3)| {
            let way = *q - *p;
            let deep = -way.dot(*normal);
            // What looks the same way is the surface around the point itself.
            if deep > 0.0 && other.dot(*normal) < 0.0 {
                0.5 * way.length_squared() / deep
            } else {
                f64::INFINITY
            }
        };
        let radius = across.iter().map(ball).fold(f64::INFINITY, f64::min);
        if radius.is_finite() { (left - 1.0) * radius * *normal } else { DVec3::ZERO }
    };
    let mut ways: Vec<DVec3> = points.iter().zip(&normals).map(inwards).collect();
    for _ in 0..ROUNDS {
        smooth(&mut ways, triangles);
    }
    points.iter().zip(&ways).map(|(p, way)| *p + *way).collect()
}

/// Unit normals at points, outwards where triangles run against the clock as seen from outside.
fn normals(points: &[DVec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; points.len()];
    for corners in triangles {
        let [a, b, c] = corners.map(|i| points[i as usize]);
        corners.iter().for_each(|i| normals[*i as usize] += (b - a).cross(c - a));
    }
    normals.iter().map(|normal| normal.normalize_or_zero()).collect()
}

/// Every value becomes the mean of those around it and its own.
fn smooth(values: &mut [DVec3], triangles: &[[u32; 3]]) {
    let mut sums: Vec<(DVec3, f64)> = values.iter().map(|value| (*value, 1.0)).collect();
    for &[a, b, c] in triangles {
        let sum = [a, b, c].iter().map(|i| values[*i as usize]).sum::<DVec3>();
        for i in [a, b, c] {
            sums[i as usize].0 += sum;
            sums[i as usize].1 += 3.0;
        }
    }
    values.iter_mut().zip(sums).for_each(|(value, (sum, count))| *value = sum / count);
}
