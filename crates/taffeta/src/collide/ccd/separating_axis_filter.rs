//! Which of many pairs need a closer look: those that one direction does not keep apart.

use super::separating_axis::apart;
use crate::collide::broad_phase::candidates::Pair;
use crate::math::Vec4;
use crate::math::lanes::InstructionSet;

/// Room for pairs that are looked at together.
#[derive(Debug, Default)]
pub struct SeparatingAxisFilter {
    points: Vec<[u32; 4]>,
    separations: Vec<f64>,
    apart: Vec<bool>,
    places: Vec<u32>,
}

impl SeparatingAxisFilter {
    /// The places of pairs that one direction does not keep further apart than `separation(place, pair)` [m] on the way between two sets of
    /// points; those without a separation are passed over. Pairs of a kind must stand together.
    pub fn undecided(
        &mut self,
        set: InstructionSet,
        pairs: &[Pair],
        points: [&[Vec4]; 2],
        mut separation: impl FnMut(usize, &Pair) -> Option<f64>,
    ) -> &[u32] {
        self.places.clear();
        let mut first = 0;
        for run in pairs.chunk_by(|a, b| a.kind == b.kind) {
            let asked_from = self.places.len();
            self.points.clear();
            self.separations.clear();
            for (place, pair) in (first..).zip(run) {
                if let Some(separation) = separation(place, pair) {
                    self.places.push(place as u32);
                    self.points.push(pair.points);
                    self.separations.push(separation);
                }
            }
            self.apart.clear();
            self.apart.resize(self.points.len(), false);
            apart(set, run[0].kind, &self.points, &self.separations, points, &mut self.apart);
            let mut left = asked_from;
            for (k, _) in self.apart.iter().enumerate().filter(|(_, apart)| !**apart) {
                self.places[left] = self.places[asked_from + k];
                left += 1;
            }
            self.places.truncate(left);
            first += run.len();
        }
        &self.places
    }
}
