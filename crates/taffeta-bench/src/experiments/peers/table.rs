//! The tables of the peers: what every tolerance costs with each, and every run.

use super::Row;
use crate::page::{Form, Section, column, figure, text};
use crate::table::Table;
use crate::{figures, percent};
use serde_json::{Value, json};
use taffeta_render::plot::{Line, Plot, Stroke};

/// The program that all others are held against.
const OURS: &str = "Taffeta";
/// Colours that a plot can tell apart.
const COLOURS: usize = 8;

/// The runs on one sheet.
struct Sheet<'a> {
    scene: &'a str,
    grid: u32,
    rows: Vec<&'a Row>,
}

impl Sheet<'_> {
    fn title(&self) -> String {
        format!("{}, {} × {}", self.scene, self.grid, self.grid)
    }

    fn peers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.peer.as_str()) {
                names.push(&row.peer);
            }
        }
        names
    }

    fn of(&self, peer: &str) -> impl Iterator<Item = &Row> {
        self.rows.iter().copied().filter(move |row| row.peer == peer)
    }

    /// The cheapest run of a program that counts and meets a tolerance.
    fn cheapest(&self, peer: &str, tolerance: f64) -> Option<&Row> {
        let meets = self.of(peer).filter(|row| row.counts && row.max_strain <= tolerance);
        meets.min_by(|a, b| a.cpu_ms.total_cmp(&b.cpu_ms))
    }

    /// The CPU time of a program over ours at a tolerance.
    fn ratio(&self, peer: &str, tolerance: f64) -> Option<f64> {
        Some(self.cheapest(peer, tolerance)?.cpu_ms / self.cheapest(OURS, tolerance)?.cpu_ms)
    }
}

/// All tables and plots.
pub fn page(rows: &[Row], tolerances: &[f64]) -> Table {
    let mut keys: Vec<(&str, u32)> = rows.iter().map(|row| (row.scene.as_str(), row.grid)).collect();
    keys.dedup();
    let of = |(scene, grid)| {
        let rows = rows.iter().filter(|row| row.scene == scene && row.grid == grid).collect();
        Sheet { scene, grid, rows }
    };
    let sheets: Vec<Sheet> = keys.into_iter().map(of).collect();
    let mut page = vec![ratios(&sheets, tolerances)];
    page.extend(sheets.iter().map(|sheet| section(sheet, tolerances)));
    page.push(every_run(rows));
    let rows = rows.iter().map(|row| json!(row)).collect();
    Table { rows, page, title: Some("Taffeta and its peers"), ..Table::default() }
}

fn section(sheet: &Sheet, tolerances: &[f64]) -> Section {
    let drape = sheet.scene == "drape";
    let mut columns = vec![column("program", "peer", Form::Plain), column("version", "version", Form::Plain)];
    let met = |(k, tolerance): (usize, &f64)| column(&percent(*tolerance), &format!("cost.{k}"), Form::Word);
    columns.extend(tolerances.iter().enumerate().map(met));
    columns.push(column("smallest strain", "max_strain", Form::Percent));
    columns.push(figure("cloth through cloth", "cloth_cloth"));
    if drape {
        columns.push(figure("through the ball", "cloth_body"));
    } else {
        columns.push(figure("fall [s]", "fall_s"));
    }
    columns.push(column("its end", "end", Form::Plain));
    Section {
        title: sheet.title(),
        words: vec!["CPU time of a frame [ms] of the cheapest run that is whole, falls in time and meets the tolerance in every frame, and how many times ours that is. What follows is of its most exact run that counts: the largest strain of any frame, and the most intersections of any frame. Times are compared at equal strain alone: a program without self-contact has less to do.".into()],
        columns,
        rows: sheet.peers().into_iter().map(|peer| line(sheet, peer, tolerances)).collect(),
        plots: vec![plot(sheet)],
        ..Section::default()
    }
}

/// What one program has reached on one sheet.
fn line(sheet: &Sheet, peer: &str, tolerances: &[f64]) -> Value {
    let counted = sheet.of(peer).filter(|row| row.counts);
    let best = counted.min_by(|a, b| a.max_strain.total_cmp(&b.max_strain));
    let spent: f64 = sheet.of(peer).map(|row| row.spent_s).sum();
    let last = sheet.of(peer).last();
    let tightest = tolerances.iter().copied().fold(f64::INFINITY, f64::min);
    let end = if sheet.cheapest(peer, tightest).is_some() {
        "all met".into()
    } else if let Some(failure) = last.and_then(|row| row.failure.as_ref()) {
        failure.clone()
    } else if last.is_some_and(|row| row.gave_up) {
        format!("gave up after {spent:.0} s")
    } else {
        "at its finest setting".into()
    };
    let cost = |tolerance: &f64| {
        let Some(cheapest) = sheet.cheapest(peer, *tolerance) else { return "not met".into() };
        let ratio = sheet.ratio(peer, *tolerance).filter(|_| peer != OURS);
        let times = ratio.map_or(String::new(), |ratio| format!(" ({} ×)", figures(ratio)));
        format!("{}{times}", figures(cheapest.cpu_ms))
    };
    json!({
        "peer": peer,
        "version": sheet.of(peer).map(|row| row.version.as_str()).find(|version| !version.is_empty()),
        "cost": tolerances.iter().map(cost).collect::<Vec<String>>(),
        "max_strain": best.map(|row| row.max_strain),
        "cloth_cloth": best.map(|row| row.cloth_cloth),
        "cloth_body": best.map(|row| row.cloth_body),
        "fall_s": best.and_then(|row| row.fall_s),
        "end": end,
    })
}

/// What strain was achieved at what cost, by the runs that no cheaper one of the same program beats.
fn plot(sheet: &Sheet) -> Plot {
    let line = |(colour, peer): (usize, &str)| {
        let own = sheet.of(peer).filter(|row| row.counts);
        let mut points: Vec<[f64; 2]> = own.map(|row| [row.cpu_ms, row.max_strain]).collect();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let mut least = f64::INFINITY;
        points.retain(|point| {
            let better = point[1] < least;
            least = least.min(point[1]);
            better
        });
        // There are more programs than colours.
        let stroke = if colour < COLOURS { Stroke::Marked } else { Stroke::Dashed };
        Line { name: peer.into(), points, colour, stroke }
    };
    Plot {
        title: format!("Strain against time: {}", sheet.title()),
        x_label: "CPU time of a frame [ms]".into(),
        y_label: "largest strain of any frame".into(),
        log_x: true,
        log_y: true,
        lines: sheet.peers().into_iter().enumerate().map(line).collect(),
        levels: Vec::new(),
    }
}

/// The best and the worst of our ratios to each program.
fn ratios(sheets: &[Sheet], tolerances: &[f64]) -> Section {
    let mut peers: Vec<&str> = sheets.iter().flat_map(Sheet::peers).filter(|peer| *peer != OURS).collect();
    peers.sort_unstable();
    peers.dedup();
    let line = |peer: &&str| {
        let cases = sheets.iter().flat_map(|sheet| tolerances.iter().map(move |t| (sheet, *t)));
        let ratio = |(sheet, t): (&Sheet, f64)| {
            Some((sheet.ratio(peer, t)?, format!("{} at {}", sheet.title(), percent(t))))
        };
        let mut all: Vec<(f64, String)> = cases.filter_map(ratio).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let told = |case: Option<&(f64, String)>| {
            case.map_or("–".into(), |(ratio, at)| format!("{} ({at})", figures(*ratio)))
        };
        json!({ "peer": peer, "least": told(all.first()), "most": told(all.last()), "cases": all.len() })
    };
    Section {
        title: "CPU time over ours at equal tolerance".into(),
        words: vec!["Above 1 we are faster, below 1 the other program is. Cases that a program did not meet in its time have no ratio.".into()],
        columns: vec![
            text("program", "peer"),
            figure("cases met", "cases"),
            column("least", "least", Form::Plain),
            column("most", "most", Form::Plain),
        ],
        rows: peers.iter().map(line).collect(),
        ..Section::default()
    }
}

fn every_run(rows: &[Row]) -> Section {
    Section {
        title: "Every run".into(),
        words: vec![format!(
            "A run that was cut short, was torn apart (a strain above 1000 %) whose sheet fell later than {} s, or never came near the ball, does not count.",
            super::LATEST_FALL
        )],
        columns: vec![
            text("scene", "scene"),
            figure("grid", "grid"),
            column("program", "peer", Form::Plain),
            column("settings", "settings", Form::Plain),
            figure("frames", "frames"),
            figure("CPU ms a frame", "cpu_ms"),
            figure("wall ms a frame", "wall_ms"),
            column("largest strain", "max_strain", Form::Percent),
            figure("cloth through cloth", "cloth_cloth"),
            figure("through the ball", "cloth_body"),
            figure("smallest gap [mm]", "min_gap_mm"),
            figure("fall [s]", "fall_s"),
            column("counts", "counts", Form::Verdict),
        ],
        rows: rows.iter().map(|row| json!(row)).collect(),
        ..Section::default()
    }
}
