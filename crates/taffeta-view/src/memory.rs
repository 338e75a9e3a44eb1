//! What a scene will take, told before it is built. Meshes are as large as their files are.

use std::fs;
use taffeta_scene::{Cloth, Garment, Panel, Scene};

/// Bytes that a particle takes with its edges, triangles and copies of its state, and bytes for every pair of things that may touch. Fitted to runs of
/// `drape` with 100 × 100 and 300 × 300 particles and of `flag` with 500 to 2000 columns, whose pairs take most of it.
const OF_PARTICLE: f64 = 2200.0;
const OF_PAIR: f64 = 200.0;

/// How many particles there will be.
pub fn particles(scene: &Scene) -> u64 {
    let cloth: u64 = scene.cloth.iter().filter_map(Cloth::particle_count).sum();
    cloth.saturating_add(scene.garment.iter().map(of_garment).sum::<f64>() as u64)
}

/// About how many bytes a simulation of it will take.
pub fn needed(scene: &Scene) -> u64 {
    let of_cloth = |cloth: &Cloth| {
        cloth.particle_count().map_or(0.0, |count| count as f64 * (OF_PARTICLE + OF_PAIR * pairs(cloth)))
    };
    let square = OF_PARTICLE + OF_PAIR * SQUARE;
    let garments = scene.garment.iter().map(of_garment).sum::<f64>() * square;
    (scene.cloth.iter().map(of_cloth).sum::<f64>() + garments) as u64
}

/// Half of what the machine has [bytes]; nothing where it does not tell.
pub fn allowed() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(512 * total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

/// Pairs of a particle where cells are square.
const SQUARE: f64 = 4.0;

/// Pairs of a particle: contacts are looked for as far as the longer side of a cell, which reaches over many cells that are narrow.
fn pairs(cloth: &Cloth) -> f64 {
    let Some(sheet) = &cloth.sheet else { return SQUARE };
    let spacing = |length: f64, count: u32| length / f64::from(count.max(2) - 1);
    let (across, along) = (spacing(sheet.width, sheet.columns), spacing(sheet.height, sheet.rows));
    let reach = across.max(along);
    (1.0 + reach / across) * (1.0 + reach / along)
}

fn of_garment(garment: &Garment) -> f64 {
    garment.panel.iter().map(area).sum::<f64>() / garment.edge_length.powi(2)
}

/// Area within the corners of a panel [m²].
fn area(panel: &Panel) -> f64 {
    let starts = std::iter::once(panel.start).chain(panel.edge.iter().map(|edge| edge.to));
    let doubled = |([a, b], edge): ([f64; 2], [f64; 2])| a * edge[1] - b * edge[0];
    0.5 * starts.zip(panel.edge.iter().map(|edge| edge.to)).map(doubled).sum::<f64>().abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use taffeta_io::catalogue;
    use taffeta_io::scene_file::from_text;

    fn with(name: &str, changes: &[(&str, &str)]) -> Scene {
        let scene = catalogue::scenes().iter().find(|scene| scene.name == name).unwrap();
        let changes: Vec<String> = changes.iter().map(|(key, value)| format!("{key}={value}")).collect();
        from_text(name, scene.text, &changes).unwrap()
    }

    #[test]
    fn estimates_are_what_runs_have_taken() {
        let mega = |scene: &Scene| needed(scene) as f64 / 1e6;
        for (columns, taken) in [("500", 75.0), ("1000", 300.0), ("2000", 1100.0), ("10000", 23_000.0)] {
            let told = mega(&with("flag", &[("cloth[0].sheet.columns", columns)]));
            assert!(told > 0.8 * taken && told < 1.8 * taken, "{columns}: {told} MB, {taken} MB measured");
        }
        let told = mega(&with("drape", &[("cloth[0].sheet.columns", "300"), ("cloth[0].sheet.rows", "300")]));
        assert!(told > 216.0 && told < 486.0, "{told} MB, 270 MB measured");
    }

    #[test]
    fn garments_count_by_the_area_of_their_panels() {
        let count = |length| particles(&with("shirt", &[("garment[0].edge_length", length)]));
        let (coarse, fine) = (count("0.02"), count("0.002"));
        assert!(coarse > 1000 && coarse < 10_000, "{coarse}");
        assert!(fine.abs_diff(100 * coarse) < 200, "{fine}");
    }
}
