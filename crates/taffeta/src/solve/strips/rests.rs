//! Bends along strips that do not rest straight, and edges that pull at nothing when they are longer than at rest: where they stand, and what moves them there.

use super::blocks::{EdgePlace, Strips};
use crate::math::DVec3;
use crate::math::lanes::{LANES, Lanes};

/// Where a bend stands: its block among those of its group, its row and its lane.
#[derive(Debug, Clone, Copy)]
pub struct BendPlace {
    group: usize,
    block: usize,
    row: usize,
    lane: usize,
}

impl Strips {
    /// All bends by their three particles, in the order along their strip.
    pub fn bend_places(&self) -> impl Iterator<Item = ([u32; 3], BendPlace)> {
        let blocks = self.groups.iter().enumerate().flat_map(|(g, blocks)| {
            blocks.iter().enumerate().map(move |(b, block)| ((g, b), block))
        });
        blocks.flat_map(|((group, at), block)| {
            let places = (0..block.turns().len()).flat_map(|row| (0..LANES).map(move |lane| (row, lane)));
            let bent = places.filter(|(row, lane)| block.is_bent(*row, *lane));
            bent.map(move |(row, lane)| {
                let points = [0, 1, 2].map(|k| block.particles()[row + k][lane]);
                (points, BendPlace { group, block: at, row, lane })
            })
        })
    }

    /// Sets the moment that pulls a bend away from straight, over the rest length of its second edge [N].
    pub fn set_pull(&mut self, place: BendPlace, pull: DVec3) {
        let BendPlace { group, block, row, lane } = place;
        let block = &mut self.groups[group][block];
        let rows = block.turns().len();
        block.pulls.resize(rows, [Lanes::ZERO; 3]);
        let lanes = block.pulls[row].iter_mut();
        lanes.zip(pull.to_array()).for_each(|(lanes, number)| lanes.0[lane] = number);
    }

    /// Lets edges that stretch pull at nothing at other lengths ([`Strips::set_offset`]).
    pub fn make_offsets(&mut self) {
        self.places = self.slots.iter().map(|slot| self.place(*slot as usize)).collect();
        for block in self.groups.iter_mut().flatten() {
            block.offsets = vec![Lanes::ZERO; block.rows()];
        }
    }

    /// Sets C of an edge where it pulls at nothing [m²].
    pub fn set_offset(&mut self, edge: usize, offset: f64) {
        let EdgePlace { group, block, row, lane } = self.places[edge];
        self.groups[group][block].offsets[row].0[lane] = offset;
    }
}
