//! Recordings of cloth that tears: which triangles have which particles, from frame to frame.
//!
//! Tearing gives triangles spare particles in place of their own and changes no count, so that frames stay as they are. The report of a frame lists
//! under `torn` all particles that are split by then. A spare lies on its twin until it is used: so the triangles of the last frame draw every frame.

use super::{Frame, Header};
use serde_json::Value;
use taffeta::model::Split;

/// The particles that are split in a frame with this report; an error where the header knows no such particles or triangles.
pub fn splits(report: &Value, header: &Header) -> Result<Vec<Split>, String> {
    if report["torn"].is_null() {
        return Ok(Vec::new());
    }
    let splits: Vec<Split> = serde_json::from_value(report["torn"].clone())
        .map_err(|error| format!("what is torn cannot be read: {error}"))?;
    let (particles, triangles) = (header.rest_positions.len(), header.triangles.len());
    let inside = |split: &Split| {
        split.twin.max(split.spare) < particles as u32
            && split.triangles.iter().all(|t| (*t as usize) < triangles)
    };
    match splits.iter().find(|split| !inside(split)) {
        Some(wrong) => {
            Err(format!("particle {} cannot have been split: there is no such triangle", wrong.twin))
        }
        None => Ok(splits),
    }
}

impl Header {
    /// The header of a frame in which particles are split, as [`splits`] gives them.
    pub fn torn(&self, splits: &[Split]) -> Header {
        let mut torn = self.clone();
        for Split { twin, spare, triangles } in splits {
            let (from, to) = (*twin as usize, *spare as usize);
            torn.rest_positions[to] = torn.rest_positions[from];
            if let Some(place) = torn.material.get(from).copied() {
                torn.material[to] = place;
            }
            for triangle in triangles {
                torn.triangles[*triangle as usize]
                    .iter_mut()
                    .filter(|i| **i == *twin)
                    .for_each(|i| *i = *spare);
            }
        }
        (torn.edges, torn.rest_lengths) = self.edges_of(&torn.triangles);
        torn
    }

    /// The edges whose triangles have these corners now, and their rest lengths [m]: one that is torn open counts on both sides.
    fn edges_of(&self, triangles: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<f64>) {
        let sorted = |a: u32, b: u32| [a.min(b), a.max(b)];
        let sides = self.triangles.iter().zip(triangles).flat_map(|(was, is)| {
            [(0, 1), (1, 2), (2, 0)].map(|(i, j)| (sorted(was[i], was[j]), sorted(is[i], is[j])))
        });
        let mut sides: Vec<([u32; 2], [u32; 2])> = sides.collect();
        sides.sort_unstable();
        sides.dedup();
        let (mut edges, mut lengths) = (Vec::new(), Vec::new());
        for (edge, length) in self.edges.iter().zip(&self.rest_lengths) {
            let first = sides.partition_point(|(was, _)| *was < sorted(edge[0], edge[1]));
            let now = sides[first..].iter().take_while(|(was, _)| *was == sorted(edge[0], edge[1]));
            edges.extend(now.map(|(_, is)| *is));
            lengths.resize(edges.len(), *length);
        }
        (edges, lengths)
    }
}

/// Puts spares that a frame does not use yet on their twins.
pub(super) fn gather(frame: &mut Frame, all: &[Split], used: &[Split]) {
    for Split { twin, spare, .. } in all {
        if !used.iter().any(|split| split.spare == *spare)
            && let Some(place) = frame.positions.get(*twin as usize).copied()
            && let Some(position) = frame.positions.get_mut(*spare as usize)
        {
            *position = place;
        }
    }
}
