//! From a pattern to pieces of cloth and the pairs of particles that seams join.

mod add;
mod baste;
mod belt;
mod clear;
mod hems;
mod panel;
mod try_on;
mod under;
mod weld;

use super::shapes::Blank;
use crate::Fault;
use crate::scene::outline::{Outline, Run};
use crate::scene::{Garment, Panel, Seam};
pub(super) use add::{add_garment, add_link};
use panel::{PanelCut, Stations};

/// Edges shorter than this many cells are corners: cloth of such edges would be all the work of a step.
const NO_EDGE: f64 = 0.25;
/// A panel none of whose edges has so many cells gets shorter ones, but none shorter than this share of the others: a cuff of six cells in all would be a hexagon
/// around its wrist, and had to be longer than that by a tenth.
const CELLS: f64 = 6.0;
const SHORTER: f64 = 0.5;
/// An edge that is longer by more than this share of the other has to fold to be sewn to it.
const GATHERED: f64 = 0.005;

/// A particle of a garment: its panel, and its number there.
pub type Member = (usize, u32);

/// All panels of a garment cut out.
#[derive(Clone)]
pub struct Tailored {
    /// Every panel at rest, and where it starts.
    pub blanks: Vec<Blank>,
    /// Pairs of particles that are sewn together, seam after seam, darts last.
    pub stitches: Vec<[Member; 2]>,
    /// Those of zips and buttons, and when each is closed and undone [s].
    pub closures: Vec<([Member; 2], [f64; 2])>,
    /// Elastics, from particle to particle: their length at rest [m] and their stiffness [N/m].
    pub elastics: Vec<([Member; 2], [f64; 2])>,
    /// Particles of gathered edges between two stitches, which have to fold.
    pub gathered: Vec<Member>,
    /// The particles that each pin names, in increasing order.
    pub pinned: Vec<Vec<Member>>,
    /// Those of edges that are held up, panel after panel.
    pub held_up: Vec<Vec<u32>>,
}

impl Tailored {
    /// The number of every panel's first particle, if all are numbered through.
    fn firsts(&self) -> Vec<u32> {
        let counts = self.blanks.iter().map(|blank| blank.start.len() as u32);
        counts.scan(0, |next, count| Some(std::mem::replace(next, *next + count))).collect()
    }

    /// How many particles all panels have.
    fn particle_count(&self) -> u32 {
        self.blanks.iter().map(|blank| blank.start.len() as u32).sum()
    }
}

/// Cuts a garment that has no faults otherwise; `key` is its place in the scene.
pub fn tailor(garment: &Garment, key: &str) -> Result<Tailored, Vec<Fault>> {
    let outlines: Vec<Outline> = garment.panel.iter().map(Outline::new).collect();
    let pieces = pieces(garment, &outlines);
    let (mut cuts, mut faults): (Vec<PanelCut>, Vec<Fault>) = (Vec::new(), Vec::new());
    for (p, panel) in garment.panel.iter().enumerate() {
        match panel::cut(garment, panel, &outlines[p], &pieces[p], cell(garment, panel, &outlines[p])) {
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
    let stitches = stitches(garment, &outlines, &cuts);
    let closures = closures(garment, &outlines, &cuts);
    let elastics = elastics(garment, &cuts);
    let gathered = gathered(garment, &outlines, &cuts);
    let held_up = garment.panel.iter().zip(&cuts).map(|(panel, cut)| held_up(panel, cut)).collect();
    let blanks = cuts.into_iter().map(|cut| cut.blank).collect();
    Ok(Tailored { blanks, stitches, closures, elastics, gathered, pinned, held_up })
}

/// Length of the cells of a panel [m].
fn cell(garment: &Garment, panel: &Panel, outline: &Outline) -> f64 {
    let longest = (0..panel.edge.len()).map(|edge| outline.sewn_length(edge)).fold(0.0, f64::max);
    (longest / CELLS).clamp(SHORTER * garment.edge_length, garment.edge_length)
}

/// Pieces of every edge of every panel: as many as its length asks for, and as many on both sides of a seam.
fn pieces(garment: &Garment, outlines: &[Outline]) -> Vec<Vec<u32>> {
    let of = |panel: &Panel, outline: &Outline, edge: usize| {
        let runs = outline.runs.iter().filter(|(run, _)| *run == Run::Edge(edge)).count() as u32;
        let cells = outline.sewn_length(edge) / cell(garment, panel, outline);
        if runs == 1 && cells < NO_EDGE { 0 } else { (cells.round() as u32).max(runs) }
    };
    let mut pieces: Vec<Vec<u32>> = garment
        .panel
        .iter()
        .zip(outlines)
        .map(|(panel, outline)| (0..panel.edge.len()).map(|edge| of(panel, outline, edge)).collect())
        .collect();
    // An edge may have several seams: the largest count goes on until all agree. It passes every seam but once unless seams contradict one another.
    for _ in 0..=garment.seam.len() {
        let mut agreed = true;
        for seam in &garment.seam {
            let Some([(p, e), (q, f)]) = edges_of(garment, &seam.join) else { continue };
            let [a, b] = folds(seam, [outlines[p].sewn_length(e), outlines[q].sewn_length(f)]);
            let most = pieces[p][e].div_ceil(a).max(pieces[q][f].div_ceil(b));
            agreed &= pieces[p][e] == most * a && pieces[q][f] == most * b;
            (pieces[p][e], pieces[q][f]) = (most * a, most * b);
        }
        if agreed {
            break;
        }
    }
    pieces
}

/// Pieces from one stitch to the next on both sides of a seam whose edges have these lengths [m]: more than one where an edge is gathered, so that it can
/// fold in between.
fn folds(seam: &Seam, [a, b]: [f64; 2]) -> [u32; 2] {
    let more =
        |ratio: f64| if seam.gather && ratio > 1.0 + GATHERED { (ratio.round() as u32).max(2) } else { 1 };
    [more(a / b), more(b / a)]
}

/// Panel and edge on both sides of a seam.
fn edges_of(garment: &Garment, [first, second]: &[String; 2]) -> Option<[(usize, usize); 2]> {
    Some([garment.find(first)?, garment.find(second)?])
}

fn stitches(garment: &Garment, outlines: &[Outline], cuts: &[PanelCut]) -> Vec<[Member; 2]> {
    let sewn = garment.seam.iter().filter(|seam| !seam.is_closure());
    let mut stitches: Vec<[Member; 2]> =
        sewn.flat_map(|seam| stitches_of(seam, garment, outlines, cuts)).collect();
    for (p, cut) in cuts.iter().enumerate() {
        stitches.extend(cut.darts.iter().map(|[a, b]| [(p, *a), (p, *b)]));
    }
    // Where edges of one panel meet in a corner there is nothing to sew.
    stitches.retain(|[a, b]| a != b);
    stitches
}

/// The stitches of one seam, from the start of its first edge on.
fn stitches_of(seam: &Seam, garment: &Garment, outlines: &[Outline], cuts: &[PanelCut]) -> Vec<[Member; 2]> {
    let Some([(p, e), (q, f)]) = edges_of(garment, &seam.join) else { return Vec::new() };
    let there: Stations = if seam.reverse {
        cuts[q].edges[f].clone()
    } else {
        cuts[q].edges[f].iter().rev().map(|[a, b]| [*b, *a]).collect()
    };
    let [here_by, there_by] =
        folds(seam, [outlines[p].sewn_length(e), outlines[q].sewn_length(f)]).map(|by| by as usize);
    let mut stitches = Vec::new();
    for ([a, b], [c, d]) in cuts[p].edges[e].iter().step_by(here_by).zip(there.iter().step_by(there_by)) {
        stitches.push([(p, *a), (q, *c)]);
        if a != b || c != d {
            stitches.push([(p, *b), (q, *d)]);
        }
    }
    stitches
}

/// What zips and buttons join, each with the times when it is closed and undone [s].
fn closures(garment: &Garment, outlines: &[Outline], cuts: &[PanelCut]) -> Vec<([Member; 2], [f64; 2])> {
    let mut closures = Vec::new();
    for seam in garment.seam.iter().filter(|seam| seam.is_closure()) {
        let times = [seam.start.unwrap_or(garment.sewing_start), seam.open.unwrap_or(f64::INFINITY)];
        let stitches = stitches_of(seam, garment, outlines, cuts);
        let Some(last) = stitches.len().checked_sub(1) else { continue };
        // From end to end; a single one in the middle.
        let buttons = seam.buttons.map_or(stitches.len(), |count| (count as usize).min(stitches.len()));
        let place = |k: usize| match buttons {
            1 => last / 2,
            count => (k * last + (count - 1) / 2) / (count - 1),
        };
        closures.extend((0..buttons).map(|k| (stitches[place(k)], times)));
    }
    closures.retain(|([a, b], _)| a != b);
    closures
}

/// Elastics as springs from every second particle of an edge to the next, so that cloth can fold in between: an edge itself keeps its length.
///
/// Of a rest length `l` and a force F at twice that, a spring has the stiffness F / l.
fn elastics(garment: &Garment, cuts: &[PanelCut]) -> Vec<([Member; 2], [f64; 2])> {
    let mut elastics = Vec::new();
    for (p, (panel, cut)) in garment.panel.iter().zip(cuts).enumerate() {
        for (edge, stations) in panel.edge.iter().zip(&cut.edges) {
            let Some(elastic) = &edge.elastic else { continue };
            let at = |i: u32| cut.blank.rest.positions[i as usize];
            for pair in stations.windows(3).step_by(2) {
                let [[_, a], [b, c], [d, _]] = [pair[0], pair[1], pair[2]];
                let rest = elastic.length * (at(a).distance(at(b)) + at(c).distance(at(d)));
                elastics.push(([(p, a), (p, d)], [rest, elastic.force / rest]));
            }
        }
    }
    elastics
}

fn gathered(garment: &Garment, outlines: &[Outline], cuts: &[PanelCut]) -> Vec<Member> {
    let mut gathered = Vec::new();
    for seam in &garment.seam {
        let Some(edges) = edges_of(garment, &seam.join) else { continue };
        let by = folds(seam, edges.map(|(p, e)| outlines[p].sewn_length(e)));
        for ((p, e), by) in edges.into_iter().zip(by) {
            let between = cuts[p].edges[e].iter().enumerate().filter(|(k, _)| k % by as usize != 0);
            gathered.extend(between.map(|(_, [i, _])| (p, *i)));
        }
    }
    gathered
}

fn held_up(panel: &Panel, cut: &PanelCut) -> Vec<u32> {
    let held = panel.edge.iter().zip(&cut.edges).filter(|(edge, _)| edge.held_up);
    let mut held: Vec<u32> = held.flat_map(|(_, stations)| stations.iter().flatten().copied()).collect();
    held.sort_unstable();
    held.dedup();
    held
}

fn pinned(garment: &Garment, cuts: &[PanelCut], edges: &[String]) -> Vec<Member> {
    let found = edges.iter().filter_map(|name| garment.find(name));
    let mut members: Vec<Member> =
        found.flat_map(|(p, e)| cuts[p].edges[e].iter().flatten().map(move |i| (p, *i))).collect();
    members.sort_unstable();
    members.dedup();
    members
}
