//! Garments that cannot be cut or sewn: outlines, darts, seams and names that make no sense.

use crate::Fabric;
use crate::rules::fabrics::unknown_fabric;
use crate::rules::motions::check_times;
use crate::rules::pins::check_seat;
use crate::rules::sense::{MOST_PARTICLES, check_folds, check_names};
use crate::rules::{Faults, Rule, short, suggestion, written};
use crate::scene::garment::{Belt, Garment, Panel, PanelPlace};
use crate::scene::outline::{Outline, Run, edges, mouth};
use crate::scene::place::Place;
use crate::scene::{ClothModel, Collider, Scene};
use std::f64::consts::TAU;
use taffeta::math::DVec2;

/// Cells along an edge that an elastic can gather.
const LEAST_GATHERED: f64 = 4.0;
/// Notches that are sewn further apart than this are told [m].
const NOTCHES_APART: f64 = 0.005;

impl Scene {
    pub(super) fn check_garments(&self, faults: &mut Faults) {
        let garments = Place::Root.key("garment");
        let mut particles: f64 = 0.0;
        for (index, garment) in self.garment.iter().enumerate() {
            if faults.is_full() {
                return;
            }
            let place = garments.item(index);
            self.check_fabrics(garment, place, faults);
            if garment.model != ClothModel::Springs && !self.solver.method.is_implicit() {
                let detail = format!(": `{}`", self.solver.method.name());
                let remedy = "choose `backward-euler` or `bdf2`, or leave this out";
                faults.report(Rule::NotForMethod, place.key("model"), "", &detail, remedy);
            }
            match &garment.belt {
                Some(belt) => check_belt(garment, belt, place, faults),
                None if garment.panel.is_empty() => {
                    let remedy = "name a `pattern`, or draw a `[[garment.panel]]`";
                    faults.report(Rule::NoPanel, place, "", "", remedy);
                }
                None => {}
            }
            check_panels(garment, place, faults);
            check_places(garment, place, faults);
            particles +=
                garment.panel.iter().map(|panel| panel.particle_estimate(garment.edge_length)).sum::<f64>();
            particles +=
                garment.belt.as_ref().map_or(0.0, |belt| belt.panel().particle_estimate(garment.edge_length));
            if particles > MOST_PARTICLES as f64 {
                let detail = format!(": {particles:.0} up to here, where {MOST_PARTICLES} is the most");
                let remedy = "make `edge_length` larger";
                return faults.report(Rule::TooManyParticles, place, "", &detail, remedy);
            }
            check_seams(garment, place, faults);
            check_pins(garment, &self.collider, place, faults);
        }
        check_names(self.garment.iter().map(|garment| &garment.name), garments, faults);
    }

    fn check_fabrics(&self, garment: &Garment, place: Place, faults: &mut Faults) {
        let mut known = |name: &str, place: Place| {
            if self.fabric(name).is_none() && !self.fabrics.contains_key(name) {
                let own = self.fabrics.keys().map(String::as_str);
                unknown_fabric(Rule::UnknownFabric, place, name, own, faults);
            }
        };
        known(&garment.fabric, place.key("fabric"));
        let panels = place.key("panel");
        for (index, panel) in garment.panel.iter().enumerate() {
            if let Some(name) = &panel.fabric {
                known(name, panels.item(index).key("fabric"));
            }
        }
    }

    /// The fabric of a panel, with its interfacing.
    pub fn panel_fabric(&self, garment: &Garment, panel: &Panel) -> Option<Fabric> {
        let fabric = self.fabric(panel.fabric.as_ref().unwrap_or(&garment.fabric))?;
        Some(match &panel.interfacing {
            Some(fused) => Fabric {
                density: fabric.density + fused.density,
                warp: fabric.warp * fused.stiffness,
                weft: fabric.weft * fused.stiffness,
                bias: fabric.bias * fused.stiffness,
                bending_warp: fabric.bending_warp * fused.stiffness,
                bending_weft: fabric.bending_weft * fused.stiffness,
                ..fabric
            },
            None => fabric,
        })
    }
}

/// A belt is all that its garment is, and larger than its cells.
fn check_belt(garment: &Garment, belt: &Belt, place: Place, faults: &mut Faults) {
    let own = place.key("belt");
    if !garment.panel.is_empty() || garment.baste {
        let what = if garment.baste { ": it is not basted" } else { ": it has panels" };
        let remedy = "make the belt a garment of its own, without `baste`, behind those that it goes around";
        return faults.report(Rule::BeltAlone, own, "", what, remedy);
    }
    if garment.edge_length > belt.width {
        let detail =
            format!(": it is {} m wide, `edge_length` {}", short(belt.width), short(garment.edge_length));
        let remedy = "make `edge_length` of the garment shorter, or the belt wider";
        faults.report(Rule::SmallerThanACell, own.key("width"), short(belt.width), &detail, remedy);
    }
}

fn check_panels(garment: &Garment, place: Place, faults: &mut Faults) {
    let panels = place.key("panel");
    for (index, panel) in garment.panel.iter().enumerate() {
        let place = panels.item(index);
        check_folds(&panel.fold, garment.model, false, place, faults);
        let names = panel.edge.iter().map(|edge| &edge.name);
        check_names(names, place.key("edge"), faults);
        if check_outline(panel, place, faults) && check_darts(panel, place, faults) {
            check_size(panel, garment.edge_length, place, faults);
            check_details(panel, garment.edge_length, place, faults);
        }
    }
    check_names(garment.panel.iter().map(|panel| &panel.name), panels, faults);
}

fn check_places(garment: &Garment, place: Place, faults: &mut Faults) {
    let list = place.key("place");
    for (index, PanelPlace { panel: name, .. }) in garment.place.iter().enumerate() {
        let (item, value) = (list.item(index), written(&name.as_str().into()));
        if !garment.panel.iter().any(|panel| panel.name == *name) {
            let remedy = suggestion(name, &panel_names(garment), "the panels are");
            faults.report(Rule::NoSuchPanel, item.key("panel"), value, "", remedy);
        } else if garment.place[..index].iter().any(|place| place.panel == *name) {
            faults.report(Rule::PlacedTwice, item.key("panel"), value, "", "leave one of them out");
        }
    }
}

fn panel_names(garment: &Garment) -> Vec<&str> {
    garment.panel.iter().map(|panel| panel.name.as_str()).collect()
}

/// Whether the outline without darts encloses an area against the clock and comes back to its start.
fn check_outline(panel: &Panel, place: Place, faults: &mut Faults) -> bool {
    let edge_list = place.key("edge");
    let of = format!(": panel `{}`", panel.name);
    let before = faults.list.len();
    for (index, curve) in edges(panel).iter().enumerate() {
        // What the schema refuses makes no length.
        if curve.length() <= 0.0 {
            let remedy = "take it out, or let it end elsewhere than it starts";
            faults.report(Rule::NoLength, edge_list.item(index), "", &of, remedy);
        }
    }
    for (index, edge) in panel.edge.iter().enumerate() {
        let ways = [edge.bulge.is_some(), !edge.via.is_empty(), !edge.through.is_empty()];
        if ways.iter().filter(|way| **way).count() > 1 {
            let remedy = "keep one of `bulge`, `via` and `through`";
            faults.report(Rule::CurvedTwice, edge_list.item(index), "", &of, remedy);
        }
    }
    if let Some(last) = panel.edge.last().filter(|last| last.to != panel.start) {
        let item = edge_list.item(panel.edge.len() - 1);
        let [x, y] = panel.start.map(short);
        let value = format!("[{}, {}]", short(last.to[0]), short(last.to[1]));
        let remedy = format!("let the last edge end at [{x}, {y}]");
        faults.report(Rule::OpenOutline, item.key("to"), value, &of, remedy);
    }
    if faults.list.len() > before {
        return false;
    }
    let plain = Panel { dart: Vec::new(), ..panel.clone() };
    let outline = Outline::new(&plain);
    if let Some([first, second]) = outline.crossing() {
        let detail = format!("{of}, {} and {}", named(panel, first), named(panel, second));
        faults.report(Rule::CrossesItself, edge_list, "", &detail, "move a corner or a control point");
    } else if outline.doubled_area().abs() <= 1e-9 * outline.size().length_squared() {
        faults.report(Rule::NoArea, edge_list, "", &of, "draw an outline that goes around something");
    } else if outline.doubled_area() < 0.0 {
        let remedy = "list the edges the other way around";
        faults.report(Rule::Clockwise, edge_list, "", &of, remedy);
    }
    faults.list.len() == before
}

/// A run in words.
fn named(panel: &Panel, run: Run) -> String {
    match run {
        Run::Edge(edge) if !panel.edge[edge].name.is_empty() => format!("edge `{}`", panel.edge[edge].name),
        Run::Edge(edge) => format!("edge {edge}"),
        Run::In(dart) | Run::Out(dart) => format!("dart {dart}"),
    }
}

/// Whether all darts lie within their edges and their panel.
fn check_darts(panel: &Panel, place: Place, faults: &mut Faults) -> bool {
    let (before, list, curves) = (faults.list.len(), place.key("dart"), edges(panel));
    for (index, dart) in panel.dart.iter().enumerate() {
        let place = list.item(index);
        let Some(edge) = panel.edge(&dart.edge) else {
            unknown_edge(panel, &dart.edge, place.key("edge"), faults);
            continue;
        };
        let [from, to] = mouth(dart, &curves[edge]);
        if from <= 0.0 || to >= curves[edge].length() {
            let detail = format!(
                ": it reaches from {from:.4} to {to:.4} m on edge `{}` of {:.4} m",
                dart.edge,
                curves[edge].length()
            );
            faults.report(Rule::DartOutside, place, "", &detail, "move its middle, or make it narrower");
        }
    }
    if faults.list.len() == before
        && !panel.dart.is_empty()
        && let Some([first, second]) = Outline::new(panel).crossing()
    {
        let detail =
            format!(": panel `{}`, {} meets {}", panel.name, named(panel, first), named(panel, second));
        faults.report(Rule::DartOutside, list, "", &detail, "make it shorter or narrower, or move it");
    }
    faults.list.len() == before
}

/// A hem has to fit into its panel, and an elastic needs cells to fold.
fn check_details(panel: &Panel, edge_length: f64, place: Place, faults: &mut Faults) {
    let (outline, list) = (Outline::new(panel), place.key("edge"));
    for (index, edge) in panel.edge.iter().enumerate() {
        let place = list.item(index);
        let least = outline.size().min_element();
        if edge.hem > least {
            let detail = format!(": panel `{}` is {least:.4} m wide", panel.name);
            faults.report(Rule::HemTooWide, place.key("hem"), short(edge.hem), &detail, "make it narrower");
        }
        let length = outline.sewn_length(index);
        if edge.elastic.is_some() && length < LEAST_GATHERED * edge_length {
            let detail =
                format!(": edge `{}` is {length:.4} m long, {LEAST_GATHERED} cells are the least", edge.name);
            let remedy = "make `edge_length` of the garment shorter, or leave the elastic out";
            faults.report(Rule::TooShortToGather, place.key("elastic"), "", &detail, remedy);
        }
    }
}

/// A panel has to be larger than its cells, and to fit around its cylinder.
fn check_size(panel: &Panel, edge_length: f64, place: Place, faults: &mut Faults) {
    let DVec2 { x: width, y: height } = Outline::new(panel).size();
    if edge_length > width.max(height) {
        let detail =
            format!(": panel `{}` is {width:.4} m by {height:.4} m, `edge_length` {edge_length}", panel.name);
        let remedy = "make `edge_length` of the garment shorter, or the panel larger";
        faults.report(Rule::SmallerThanACell, place, "", &detail, remedy);
    }
    if let Some(wrap) = &panel.wrap
        && width >= TAU * wrap.radius
    {
        let detail =
            format!(": panel `{}` is {width:.4} m wide, {:.4} m go around", panel.name, TAU * wrap.radius);
        let remedy = format!("make it larger than {:.4} m", width / TAU);
        faults.report(Rule::WrapsOver, place.key("wrap").key("radius"), short(wrap.radius), &detail, remedy);
    }
}

fn check_seams(garment: &Garment, place: Place, faults: &mut Faults) {
    let (list, outlines) = (place.key("seam"), garment.panel.iter().map(Outline::new).collect::<Vec<_>>());
    for (index, seam) in garment.seam.iter().enumerate() {
        let place = list.item(index);
        let join = place.key("join");
        let ends: Vec<Option<(usize, usize)>> = seam
            .join
            .iter()
            .enumerate()
            .map(|(k, name)| find_edge(garment, name, join.item(k), faults))
            .collect();
        let [Some(first), Some(second)] = ends[..] else { continue };
        if first == second {
            let remedy = "name two edges; a fold needs no seam";
            faults.report(Rule::SewnToItself, join, "", "", remedy);
            continue;
        }
        let begin = seam.start.unwrap_or(garment.sewing_start);
        if let Some(open) = seam.open.filter(|open| *open <= begin) {
            let detail = format!(": at {open} s, where it is closed from {begin} s on");
            faults.report(Rule::OpensUnsewn, place.key("open"), short(open), &detail, "let it open later");
        }
        let [a, b] = [first, second].map(|(panel, edge)| outlines[panel].sewn_length(edge));
        // A dart may leave nothing of an edge; that is told elsewhere.
        if !seam.gather && a.min(b) > 0.0 && (a - b).abs() > garment.ease * a.max(b) {
            let detail = format!(
                ": `{}` has {a:.4} m and `{}` {b:.4} m, {:.1} % apart where `ease` allows {:.1} %",
                seam.join[0],
                seam.join[1],
                100.0 * (a - b).abs() / a.max(b),
                100.0 * garment.ease
            );
            let remedy = "draw them alike, or allow more `ease`";
            faults.report(Rule::SeamLengths, place, "", &detail, remedy);
        }
    }
}

fn check_pins(garment: &Garment, colliders: &[Collider], place: Place, faults: &mut Faults) {
    let list = place.key("pin");
    let mut held: Vec<((usize, usize), usize)> = Vec::new();
    for (index, pin) in garment.pin.iter().enumerate() {
        let place = list.item(index);
        if pin.edges.is_empty() {
            faults.report(Rule::PinsNothing, place, "", "", "name `edges`, or take the pin out");
        }
        let edges = place.key("edges");
        for (k, name) in pin.edges.iter().enumerate() {
            held.extend(find_edge(garment, name, edges.item(k), faults).map(|edge| (edge, index)));
        }
        check_times(&pin.keyframe, place, faults);
        check_seat(&pin.led(), colliders, place, faults);
    }
    held.sort_unstable();
    let moves = |pin: usize| garment.pin[pin].led().moves();
    for pair in held.windows(2) {
        let [(edge, first), (same, second)] = pair else { continue };
        if edge == same && first != second && (moves(*first) || moves(*second)) {
            let (panel, edge) = (&garment.panel[edge.0], &garment.panel[edge.0].edge[edge.1]);
            let detail = format!(": edge `{}.{}` of `pin[{first}]`", panel.name, edge.name);
            let remedy = "leave it to one of them, or give neither keyframes";
            faults.report(Rule::PinnedTwice, list.item(*second), "", &detail, remedy);
        }
    }
}

/// The edge that `panel.edge` names; a fault where there is none.
fn find_edge(garment: &Garment, name: &str, place: Place, faults: &mut Faults) -> Option<(usize, usize)> {
    let found = garment.find(name);
    if found.is_none() {
        let (panel, edge) = name.rsplit_once('.').unwrap_or((name, ""));
        match garment.panel.iter().find(|p| p.name == panel) {
            Some(panel) => unknown_edge(panel, edge, place, faults),
            None => {
                let remedy = suggestion(panel, &panel_names(garment), "write `panel.edge`; the panels are");
                faults.report(Rule::UnknownPanel, place, written(&name.into()), "", remedy);
            }
        }
    }
    found
}

fn unknown_edge(panel: &Panel, name: &str, place: Place, faults: &mut Faults) {
    let known: Vec<&str> =
        panel.edge.iter().map(|edge| edge.name.as_str()).filter(|n| !n.is_empty()).collect();
    let remedy = suggestion(name, &known, "its edges are");
    faults.report(Rule::UnknownEdge, place, written(&name.into()), &format!(" `{}`", panel.name), remedy);
}

impl Garment {
    /// What is eased in, one sentence for each seam whose edges differ by more than a hundredth.
    pub fn easings(&self) -> Vec<String> {
        let outlines: Vec<Outline> = self.panel.iter().map(Outline::new).collect();
        let eased = |seam: &crate::scene::Seam| {
            let length = |name: &str| self.find(name).map(|(panel, edge)| outlines[panel].sewn_length(edge));
            let (a, b) = (length(&seam.join[0])?, length(&seam.join[1])?);
            ((a - b).abs() > 0.01 * a.max(b)).then(|| {
                let [first, second] = &seam.join;
                let sewn = if seam.gather { "gathered" } else { "eased" };
                let [(longer, long), (shorter, short)] =
                    if a > b { [(first, a), (second, b)] } else { [(second, b), (first, a)] };
                format!("`{longer}` ({long:.3} m) is {sewn} into `{shorter}` ({short:.3} m)")
            })
        };
        self.seam.iter().filter_map(eased).collect()
    }

    /// Notches of sewn edges that do not meet, one sentence for each seam: more than `NOTCHES_APART` from one another, or more of them on one side.
    pub fn notches_apart(&self) -> Vec<String> {
        let outlines: Vec<Outline> = self.panel.iter().map(Outline::new).collect();
        let apart = |seam: &crate::scene::Seam| {
            let found = [self.find(&seam.join[0])?, self.find(&seam.join[1])?];
            let notches = found.map(|(panel, edge)| &self.panel[panel].edge[edge].notch);
            let [first, second] = &seam.join;
            if notches.iter().any(|notches| notches.is_empty()) {
                return None;
            }
            if notches[0].len() != notches[1].len() {
                let [a, b] = notches.map(Vec::len);
                return Some(format!("`{first}` has {a} notches where `{second}`, sewn to it, has {b}"));
            }
            let sorted = |notches: &[f64], turned: bool| {
                let mut shares: Vec<f64> =
                    notches.iter().map(|at| if turned { 1.0 - at } else { *at }).collect();
                shares.sort_by(f64::total_cmp);
                shares
            };
            // Both edges are spread over the seam: what is between two notches then is a share of the mean length.
            let length =
                0.5 * found.map(|(panel, edge)| outlines[panel].sewn_length(edge)).iter().sum::<f64>();
            let pairs = sorted(notches[0], false).into_iter().zip(sorted(notches[1], !seam.reverse));
            let far = pairs.map(|(a, b)| length * (a - b).abs()).fold(0.0, f64::max);
            (far > NOTCHES_APART)
                .then(|| format!("notches of `{first}` and `{second}` are sewn {:.1} mm apart", 1e3 * far))
        };
        self.seam.iter().filter_map(apart).collect()
    }
}
