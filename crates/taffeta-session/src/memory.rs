//! How much memory a page may ask for.

use std::fs;

/// What a WebAssembly module can address [bytes].
const OF_A_MODULE: u64 = 4 << 30;

/// Half of what there is [bytes]; nothing where the machine does not tell.
pub fn allowed() -> Option<u64> {
    if cfg!(target_family = "wasm") {
        return Some(OF_A_MODULE / 2);
    }
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(512 * total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use taffeta_io::catalogue;
    use taffeta_io::scene_file::from_text;
    use taffeta_scene::Scene;

    fn with(name: &str, changes: &[(&str, &str)]) -> Scene {
        let scene = catalogue::scenes().iter().find(|scene| scene.name == name).unwrap();
        let changes: Vec<String> = changes.iter().map(|(key, value)| format!("{key}={value}")).collect();
        from_text(name, scene.text, &changes).unwrap()
    }

    #[test]
    fn estimates_are_what_runs_have_taken() {
        let mega = |scene: &Scene| scene.memory_estimate(&BTreeMap::new()) as f64 / 1e6;
        for (columns, taken) in [("500", 75.0), ("1000", 300.0), ("2000", 1100.0), ("10000", 23_000.0)] {
            let told = mega(&with("flag", &[("cloth[0].sheet.columns", columns)]));
            assert!(told > 0.8 * taken && told < 1.8 * taken, "{columns}: {told} MB, {taken} MB measured");
        }
        let told = mega(&with("drape", &[("cloth[0].sheet.columns", "300"), ("cloth[0].sheet.rows", "300")]));
        assert!(told > 216.0 && told < 486.0, "{told} MB, 270 MB measured");
    }

    #[test]
    fn garments_count_by_the_area_of_their_panels() {
        let count =
            |length| with("shirt", &[("garment[0].edge_length", length)]).particle_estimate(&BTreeMap::new());
        let (coarse, fine) = (count("0.02"), count("0.002"));
        assert!(coarse > 1000 && coarse < 10_000, "{coarse}");
        // Each of four panels is rounded down.
        assert!(fine.abs_diff(100 * coarse) < 400, "{coarse} and {fine}");
    }
}
