//! The order of triangles along a curve that fills space (Morton 1966): what is near on the curve is near in space.

use super::pairs::at;
use super::tree::Face;
use crate::math::DVec3;

/// Cells of the curve along each axis.
const CELLS: f64 = 1024.0;
/// Bits of a place that are sorted at a time: three times this many are those of all cells.
const DIGIT: u32 = 10;

/// The faces by their centres along the curve, and where these are in one cell as they come.
pub(super) fn along_curve(points: &[DVec3], faces: Vec<Face>) -> Vec<Face> {
    let (low, high) = faces.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), face| {
        at(points, face.corners).into_iter().fold((low, high), |(low, high), x| (low.min(x), high.max(x)))
    });
    // Shared out before they are added, lest sums of the largest coordinates overflow.
    let scale = CELLS / (high - low);
    let cell = |x: f64| x.min(CELLS - 1.0) as u32;
    let place = |face: &Face| {
        let [a, b, c] = at(points, face.corners).map(|x| (x - low) * scale / 3.0);
        let x = a + b + c;
        spread(cell(x.x)) << 2 | spread(cell(x.y)) << 1 | spread(cell(x.z))
    };
    let mut order: Vec<[u32; 2]> = (0..).zip(&faces).map(|(k, face)| [place(face), k]).collect();
    let mut sorted = vec![[0; 2]; order.len()];
    for digit in 0..3 {
        let of = |key: &[u32; 2]| (key[0] >> (digit * DIGIT)) as usize % (1 << DIGIT);
        let mut next = [0_u32; 1 << DIGIT];
        order.iter().for_each(|key| next[of(key)] += 1);
        let mut from = 0;
        next.iter_mut().for_each(|count| from += std::mem::replace(count, from));
        for key in &order {
            sorted[next[of(key)] as usize] = *key;
            next[of(key)] += 1;
        }
        std::mem::swap(&mut order, &mut sorted);
    }
    order.iter().map(|[_, k]| faces[*k as usize]).collect()
}

/// Ten bits with two between every two of them.
fn spread(bits: u32) -> u32 {
    [(16, 0x30000ff), (8, 0x300f00f), (4, 0x30c30c3), (2, 0x9249249)]
        .iter()
        .fold(bits, |x, (shift, mask)| (x | x << shift) & mask)
}
