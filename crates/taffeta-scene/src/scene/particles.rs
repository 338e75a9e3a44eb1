//! How many particles a cloth made by numbers has, and which of them a pin names.

use super::Scene;
use super::cloth::{Cloth, Corner, Pin, Side, Strip};
use super::garment::Panel;
use super::mesh::Mesh;
use super::outline::Outline;
use std::collections::BTreeMap;

impl Scene {
    /// About how many particles its cloths and garments have, before anything is built.
    pub fn particle_estimate(&self, meshes: &BTreeMap<String, Mesh>) -> u64 {
        let points = |file: &str| meshes.get(file).map_or(0, |mesh| mesh.positions.len() as u64);
        let of_file = |cloth: &Cloth| cloth.mesh.as_ref().map_or(0, |mesh| points(&mesh.file));
        let cloths = self.cloth.iter().map(|cloth| {
            let own = cloth.particle_count().unwrap_or_else(|| of_file(cloth));
            // Cloth that tears has spare particles, half as many again.
            if cloth.tear.is_some() { own.saturating_add(own / 2) } else { own }
        });
        let panels = self.garment.iter().flat_map(|garment| {
            let own = garment.panel.iter().map(|panel| panel.particle_estimate(garment.edge_length) as u64);
            let belt =
                garment.belt.iter().map(|belt| belt.panel().particle_estimate(garment.edge_length) as u64);
            own.chain(belt)
        });
        cloths.chain(panels).fold(0, u64::saturating_add)
    }
}

impl Panel {
    /// About how many particles it has with edges of this length [m]: two of the triangles about a particle are its own.
    pub fn particle_estimate(&self, edge_length: f64) -> f64 {
        0.5 * Outline::new(self).doubled_area().abs() / (edge_length * edge_length)
    }
}

impl Strip {
    /// Cells across: as many as keep the cells nearest to square, at least one.
    pub fn cells_across(&self) -> u64 {
        // The cast saturates, so a strip too fine to build is still counted.
        ((self.width / self.length * f64::from(self.segments)).round() as u64).max(1)
    }
}

impl Cloth {
    /// Its number of particles; nothing where a file says it, or where no shape or several are given.
    pub fn particle_count(&self) -> Option<u64> {
        let grid = self.grid().map(|(columns, rows)| columns.saturating_mul(rows));
        // A centre and rings of 6, 12, 18 ...
        let disc = self.disc.as_ref().map(|disc| {
            let rings = u64::from(disc.rings);
            (3 * rings).saturating_mul(rings + 1).saturating_add(1)
        });
        // Two poles and rings of 4, 8, 12 ... and back.
        let ball = self.ball.as_ref().map(|ball| {
            let rings = u64::from(ball.rings);
            (4 * rings).saturating_mul(rings).saturating_add(2)
        });
        let points = |cells: u32| u64::from(cells) + 1;
        let lattice = self.lattice.as_ref().map(|lattice| {
            lattice.cells.iter().fold(1_u64, |product, cells| product.saturating_mul(points(*cells)))
        });
        let mut counts = [grid, disc, ball, lattice].into_iter().flatten();
        match (counts.next(), counts.next()) {
            (Some(only), None) if self.mesh.is_none() && self.solid.is_none() => Some(only),
            _ => None,
        }
    }

    /// Particles along u and along v of a sheet or strip, around and along y of a tube.
    fn grid(&self) -> Option<(u64, u64)> {
        match (&self.sheet, &self.strip, &self.tube, &self.mesh) {
            (Some(sheet), None, None, None) => Some((sheet.columns.into(), sheet.rows.into())),
            (None, Some(strip), None, None) => {
                Some((u64::from(strip.segments) + 1, strip.cells_across().saturating_add(1)))
            }
            (None, None, Some(tube), None) => Some((tube.segments.into(), tube.rows.into())),
            _ => None,
        }
    }

    /// Whether it has corners and a left and a right side.
    pub fn has_corners(&self) -> bool {
        self.sheet.is_some() || self.strip.is_some()
    }

    /// Whether it has that side.
    pub fn has_side(&self, side: Side) -> bool {
        match side {
            Side::Rim => true,
            Side::Upper | Side::Lower => self.has_corners() || self.tube.is_some(),
            Side::Left | Side::Right => self.has_corners(),
        }
    }

    /// The particles that a pin names, each once, in increasing order: those that exist. For a mesh only its vertices
    /// are known here, not its rim. The shape must keep below the limit of particles, or the list grows huge.
    pub fn pinned(&self, pin: &Pin) -> Vec<u32> {
        let mut named = pin.vertices.clone();
        if let (Some((columns, rows)), None) = (self.grid(), &self.disc) {
            let index = |column: u64, row: u64| (column + columns * row) as u32;
            let (right, top) = (columns.saturating_sub(1), rows.saturating_sub(1));
            for corner in pin.corners.iter().filter(|_| self.has_corners()) {
                named.push(match corner {
                    Corner::LowerLeft => index(0, 0),
                    Corner::LowerRight => index(right, 0),
                    Corner::UpperLeft => index(0, top),
                    Corner::UpperRight => index(right, top),
                });
            }
            for side in pin.sides.iter().filter(|side| self.has_side(**side)) {
                let is = |wanted: Side| *side == wanted || (*side == Side::Rim && self.has_side(wanted));
                let (left_side, right_side) = (is(Side::Left), is(Side::Right));
                let (upper_side, lower_side) = (is(Side::Upper), is(Side::Lower));
                named.extend((0..columns).filter(|_| lower_side).map(|column| index(column, 0)));
                named.extend((0..columns).filter(|_| upper_side).map(|column| index(column, top)));
                named.extend((0..rows).filter(|_| left_side).map(|row| index(0, row)));
                named.extend((0..rows).filter(|_| right_side).map(|row| index(right, row)));
            }
        } else if let (Some(count), Some(disc), true) =
            (self.particle_count(), &self.disc, pin.sides.contains(&Side::Rim))
        {
            named.extend((count.saturating_sub(6 * u64::from(disc.rings))..count).map(|p| p as u32));
        }
        named.sort_unstable();
        named.dedup();
        if let Some(count) = self.particle_count() {
            named.retain(|particle| u64::from(*particle) < count);
        }
        named
    }
}
