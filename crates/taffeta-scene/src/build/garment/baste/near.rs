//! Points by place: who is in the cells around.

use taffeta::math::DVec3;

/// Points sorted into the cells of a grid.
pub struct Near {
    low: DVec3,
    size: [usize; 3],
    cell: f64,
    /// Where the points of each cell begin among `order`, and where the last ends.
    begins: Vec<u32>,
    order: Vec<u32>,
}

/// The most cells; there are larger ones where points are further apart.
const MOST: f64 = 4e6;

impl Near {
    /// Points are found within `reach` [m].
    pub fn new(points: &[DVec3], reach: f64) -> Self {
        let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let extent = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max) - low;
        let volume = (extent.x + reach) * (extent.y + reach) * (extent.z + reach);
        let cell = reach.max((volume / MOST).cbrt());
        let size = (extent / cell).floor().to_array().map(|n| n as usize + 1);
        let mut near = Self {
            low,
            size,
            cell,
            begins: vec![0; size.iter().product::<usize>() + 1],
            order: vec![0; points.len()],
        };
        let cells: Vec<usize> = points.iter().map(|p| near.index(near.coordinates(*p))).collect();
        cells.iter().for_each(|c| near.begins[c + 1] += 1);
        for c in 1..near.begins.len() {
            near.begins[c] += near.begins[c - 1];
        }
        let mut next = near.begins.clone();
        for (i, c) in cells.iter().enumerate() {
            near.order[next[*c] as usize] = i as u32;
            next[*c] += 1;
        }
        near
    }

    fn coordinates(&self, p: DVec3) -> [usize; 3] {
        let c = ((p - self.low) / self.cell).floor().to_array();
        std::array::from_fn(|a| (c[a].max(0.0) as usize).min(self.size[a] - 1))
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.size[1] + j) * self.size[0] + i
    }

    /// Calls `found` with all points of the cells around a place.
    pub fn around(&self, p: DVec3, mut found: impl FnMut(usize)) {
        let c = self.coordinates(p);
        for k in c[2].saturating_sub(1)..=(c[2] + 1).min(self.size[2] - 1) {
            for j in c[1].saturating_sub(1)..=(c[1] + 1).min(self.size[1] - 1) {
                let [from, to] = [c[0].saturating_sub(1), (c[0] + 1).min(self.size[0] - 1)];
                let range = self.begins[self.index([from, j, k])]..self.begins[self.index([to, j, k]) + 1];
                range.for_each(|n| found(self.order[n as usize] as usize));
            }
        }
    }
}
