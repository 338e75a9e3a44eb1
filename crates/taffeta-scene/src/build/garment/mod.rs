//! From a pattern to pieces of cloth and the pairs of particles that seams join.

mod add;
mod panel;

use super::shapes::Blank;
use crate::Fault;
use crate::scene::Garment;
use crate::scene::outline::{Outline, Run};
pub(super) use add::{add_garment, add_link};
use panel::{PanelCut, Stations};

/// A particle of a garment: its panel, and its number there.
pub type Member = (usize, u32);

/// All panels of a garment cut out.
pub struct Tailored {
    /// Every panel at rest, and where it starts.
    pub blanks: Vec<Blank>,
    /// Pairs of particles that are sewn together, seam after seam, darts last.
    pub stitches: Vec<[Member; 2]>,
    /// The particles that each pin names, in increasing order.
    pub pinned: Vec<Vec<Member>>,
}

/// Cuts a garment that has no faults otherwise; `key` is its place in the scene.
pub fn tailor(garment: &Garment, key: &str) -> Result<Tailored, Vec<Fault>> {
    let outlines: Vec<Outline> = garment.panel.iter().map(Outline::new).collect();
    let pieces = pieces(garment, &outlines);
    let (mut cuts, mut faults): (Vec<PanelCut>, Vec<Fault>) = (Vec::new(), Vec::new());
    for (p, panel) in garment.panel.iter().enumerate() {
        match panel::cut(garment, panel, &outlines[p], &pieces[p]) {
            Ok(cut) => cuts.push(cut),
            Err(coarse) => {
                let reason = format!("panel `{}`: {coarse}", panel.name);
                let remedy = "make `edge_length` of the garment shorter";
                faults.push(Fault::new(format!("{key}.panel[{p}]"), "", reason, remedy));
            }
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let pinned = garment.pin.iter().map(|pin| pinned(garment, &cuts, &pin.edges)).collect();
    let stitches = stitches(garment, &cuts);
    Ok(Tailored { blanks: cuts.into_iter().map(|cut| cut.blank).collect(), stitches, pinned })
}

/// Pieces of every edge of every panel: as many as its length asks for, and as many on both sides of a seam.
fn pieces(garment: &Garment, outlines: &[Outline]) -> Vec<Vec<u32>> {
    let of = |outline: &Outline, edge: usize| {
        let runs = outline.runs.iter().filter(|(run, _)| *run == Run::Edge(edge)).count() as u32;
        ((outline.sewn_length(edge) / garment.edge_length).round() as u32).max(runs)
    };
    let mut pieces: Vec<Vec<u32>> = garment
        .panel
        .iter()
        .zip(outlines)
        .map(|(panel, outline)| (0..panel.edge.len()).map(|edge| of(outline, edge)).collect())
        .collect();
    // An edge may have several seams: the largest count goes on until all agree.
    loop {
        let mut agreed = true;
        for [(p, e), (q, f)] in garment.seam.iter().filter_map(|seam| edges_of(garment, &seam.join)) {
            let most = pieces[p][e].max(pieces[q][f]);
            agreed &= pieces[p][e] == most && pieces[q][f] == most;
            (pieces[p][e], pieces[q][f]) = (most, most);
        }
        if agreed {
            return pieces;
        }
    }
}

/// Panel and edge on both sides of a seam.
fn edges_of(garment: &Garment, [first, second]: &[String; 2]) -> Option<[(usize, usize); 2]> {
    Some([garment.find(first)?, garment.find(second)?])
}

fn stitches(garment: &Garment, cuts: &[PanelCut]) -> Vec<[Member; 2]> {
    let mut stitches = Vec::new();
    for seam in &garment.seam {
        let Some([(p, e), (q, f)]) = edges_of(garment, &seam.join) else { continue };
        let there: Stations = if seam.reverse {
            cuts[q].edges[f].clone()
        } else {
            cuts[q].edges[f].iter().rev().map(|[a, b]| [*b, *a]).collect()
        };
        for ([a, b], [c, d]) in cuts[p].edges[e].iter().zip(&there) {
            stitches.push([(p, *a), (q, *c)]);
            if a != b || c != d {
                stitches.push([(p, *b), (q, *d)]);
            }
        }
    }
    for (p, cut) in cuts.iter().enumerate() {
        stitches.extend(cut.darts.iter().map(|[a, b]| [(p, *a), (p, *b)]));
    }
    // Where edges of one panel meet in a corner there is nothing to sew.
    stitches.retain(|[a, b]| a != b);
    stitches
}

fn pinned(garment: &Garment, cuts: &[PanelCut], edges: &[String]) -> Vec<Member> {
    let found = edges.iter().filter_map(|name| garment.find(name));
    let mut members: Vec<Member> =
        found.flat_map(|(p, e)| cuts[p].edges[e].iter().flatten().map(move |i| (p, *i))).collect();
    members.sort_unstable();
    members.dedup();
    members
}
