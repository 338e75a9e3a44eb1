//! The tables of the peers: what a tolerance costs with each, and every run.

use super::super::Table;
use super::super::page::{Form, Section, column, figure, text};
use super::Row;
use crate::Failure;
use crate::certificate::{figures, percent};
use serde_json::{Value, json};
use taffeta_render::plot::{Line, Plot, Stroke};

/// The program that all others are held against.
const OURS: &str = "Taffeta";

/// The cheapest run of a program that counts and meets a tolerance.
fn cheapest<'a>(rows: &[&'a Row], peer: &str, tolerance: f64) -> Option<&'a Row> {
    let meets = rows.iter().filter(|row| row.peer == peer && row.counts && row.max_strain <= tolerance);
    meets.copied().min_by(|a, b| a.cpu_ms.total_cmp(&b.cpu_ms))
}

/// All tables and plots.
pub fn page(rows: Vec<Row>, tolerances: &[f64]) -> Result<Table, Failure> {
    let mut table = Table { title: Some("Taffeta and its peers"), ..Table::default() };
    let mut scenes: Vec<(&str, u32)> = rows.iter().map(|row| (row.scene.as_str(), row.grid)).collect();
    scenes.dedup();
    for (scene, grid) in scenes {
        let here: Vec<&Row> = rows.iter().filter(|row| row.scene == scene && row.grid == grid).collect();
        table.page.push(section(scene, grid, &here, tolerances));
    }
    table.page.insert(0, ratios(&table.page));
    table.page.push(every_run(&rows));
    table.rows = rows.iter().map(|row| json!(row)).collect();
    Ok(table)
}

fn names(rows: &[&Row]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    rows.iter().for_each(|row| {
        if !names.contains(&row.peer) {
            names.push(row.peer.clone());
        }
    });
    names
}

fn section(scene: &str, grid: u32, rows: &[&Row], tolerances: &[f64]) -> Section {
    let mut shown = Vec::new();
    for &tolerance in tolerances {
        let ours = cheapest(rows, OURS, tolerance);
        for peer in names(rows) {
            let best = cheapest(rows, &peer, tolerance);
            let nearest = rows
                .iter()
                .filter(|row| row.peer == peer)
                .map(|row| row.max_strain)
                .fold(f64::INFINITY, f64::min);
            let reason = format!("not met in its time; smallest strain {}", percent(nearest));
            shown.push(json!({
                "tolerance": percent(tolerance),
                "peer": peer,
                "settings": best.map_or(reason, |row| row.settings.clone()),
                "cpu_ms": best.map(|row| row.cpu_ms),
                "max_strain": best.map(|row| row.max_strain),
                "cloth_cloth": best.map(|row| row.cloth_cloth),
                "cloth_body": best.map(|row| row.cloth_body),
                "fall_s": best.and_then(|row| row.fall_s),
                "ratio": best.zip(ours).filter(|_| peer != OURS).map(|(best, ours)| best.cpu_ms / ours.cpu_ms),
            }));
        }
    }
    Section {
        title: format!("{scene}, {grid} × {grid}"),
        words: vec!["The cheapest run of each program that is whole, falls in time and meets the tolerance in every frame. The last column is its CPU time over ours.".into()],
        columns: vec![
            text("tolerance", "tolerance"),
            column("program", "peer", Form::Plain),
            column("settings", "settings", Form::Plain),
            figure("CPU ms a frame", "cpu_ms"),
            column("largest strain", "max_strain", Form::Percent),
            figure("cloth through cloth", "cloth_cloth"),
            figure("through the ball", "cloth_body"),
            figure("fall [s]", "fall_s"),
            figure("times ours", "ratio"),
        ],
        rows: shown,
        plots: vec![plot(scene, grid, rows)],
        ..Section::default()
    }
}

/// Every run: what strain it achieved at what cost.
fn plot(scene: &str, grid: u32, rows: &[&Row]) -> Plot {
    let line = |(colour, peer): (usize, &String)| {
        let own = rows.iter().filter(|row| row.peer == *peer && row.counts);
        let mut points: Vec<[f64; 2]> = own.map(|row| [row.cpu_ms, row.max_strain]).collect();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        Line { name: peer.clone(), points, colour, stroke: Stroke::Marked }
    };
    Plot {
        title: format!("Strain against time: {scene}, {grid} × {grid}"),
        x_label: "CPU time of a frame [ms]".into(),
        y_label: "largest strain of any frame".into(),
        log_x: true,
        log_y: true,
        lines: names(rows).iter().enumerate().map(line).collect(),
        levels: Vec::new(),
    }
}

/// The best and the worst of our ratios to each program.
fn ratios(sections: &[Section]) -> Section {
    let all: Vec<(&str, f64, String)> = sections
        .iter()
        .flat_map(|section| section.rows.iter().map(move |row| (section, row)))
        .filter_map(|(section, row)| {
            let place = format!("{} at {}", section.title, row["tolerance"].as_str()?);
            Some((row["peer"].as_str()?, row["ratio"].as_f64()?, place))
        })
        .collect();
    let mut peers: Vec<&str> = all.iter().map(|(peer, ..)| *peer).collect();
    peers.sort_unstable();
    peers.dedup();
    let line = |peer: &&str| -> Option<Value> {
        let own = || all.iter().filter(|(name, ..)| name == peer);
        let (_, least, least_at) = own().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let (_, most, most_at) = own().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let told = |ratio: f64, at: &str| format!("{} ({at})", figures(ratio));
        Some(
            json!({ "peer": peer, "least": told(*least, least_at), "most": told(*most, most_at), "cases": own().count() }),
        )
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
        rows: peers.iter().filter_map(line).collect(),
        ..Section::default()
    }
}

fn every_run(rows: &[Row]) -> Section {
    Section {
        title: "Every run".into(),
        words: vec![format!(
            "A run that was cut short, was torn apart or whose sheet fell later than {} s does not count.",
            super::LATEST_FALL
        )],
        columns: vec![
            text("scene", "scene"),
            figure("grid", "grid"),
            column("program", "peer", Form::Plain),
            column("version", "version", Form::Plain),
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
