//! Fabrics from measurements: a known one comes back, and what cannot be known is told.

use crate::workplace::Workplace;
use std::collections::BTreeMap;

/// The sheet of a fabric, with these readings in place of numbers.
fn sheet(fit: &[&str], known: &str, readings: &[(&str, f64)]) -> String {
    let mut text = format!(
        "name = \"it\"\nbase = \"cotton\"\nfit = {fit:?}\nseed = 1\n[known]\ndensity = 120.0\n{known}\n"
    );
    for (tester, value) in readings {
        text += &format!(
            "[[reading]]\ntester = {tester:?}\nvalues = [{value}]\nspread = {}\noverhang = 36.0\n",
            0.01 * value
        );
    }
    text
}

/// What the testers read of a fabric.
fn simulated(place: &Workplace, known: &str, testers: &[&str]) -> Vec<f64> {
    let dummies: Vec<(&str, f64)> = testers.iter().map(|tester| (*tester, 1.0)).collect();
    place.write("known.toml", &sheet(&["warp"], known, &dummies));
    let ended = place.succeed(&["fit", "known.toml", "--simulate"]);
    ended.out.lines().map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap()).collect()
}

/// The numbers of the fabric that was written.
fn fabric(place: &Workplace) -> BTreeMap<String, f64> {
    let text = std::fs::read_to_string(place.path("out/fabric.toml")).unwrap();
    let number = |line: &str| {
        let (name, rest) = line.split_once(" = ")?;
        Some((name.to_string(), rest.split(" #").next()?.parse().ok()?))
    };
    text.lines().filter_map(number).collect()
}

fn round_trip(known: &[(&str, f64)], testers: &[&str], allowed: f64) {
    let place = Workplace::new();
    let lines: Vec<String> = known.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
    let values = simulated(&place, &lines.join("\n"), testers);
    let readings: Vec<(&str, f64)> = testers.iter().copied().zip(values).collect();
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    place.write("sheet.toml", &sheet(&names, "", &readings));
    place.succeed(&["fit", "sheet.toml", "--out", "out", "--quiet"]);
    let found = fabric(&place);
    for (name, value) in known {
        assert!((found[*name] / value - 1.0).abs() < allowed, "{name}: {} for {value}", found[*name]);
    }
    assert!(place.path("out/residuals.svg").is_file());
}

#[test]
fn a_known_stiffness_comes_back() {
    round_trip(&[("bending_warp", 15.0)], &["cantilever-warp"], 0.02);
}

/// Peirce's formula of 1930 for the height of a heart loop [mm]: the bending length is 0.1337 L (cos θ / tan θ)^(1/3), with θ = 32.85° times what the loop is
/// longer than without weight, over 0.1337 L.
fn peirce(strip: f64, rigidity: f64, density: f64) -> f64 {
    let length = 1e3 * (1e-6 * rigidity / (1e-3 * density * 9.81)).cbrt();
    let weightless = 0.1337 * strip;
    let ratio = (length / weightless).powi(3);
    // cos²θ = ratio sin θ.
    let sine = 0.5 * ((ratio * ratio + 4.0).sqrt() - ratio);
    weightless * (1.0 + sine.asin().to_degrees() / 32.85)
}

#[test]
fn heart_loops_hang_as_low_as_the_textbook_says() {
    let place = Workplace::new();
    for rigidity in [8.0, 25.0] {
        let known = format!("bending_warp = {rigidity:?}\nbending_weft = {rigidity:?}");
        let read = simulated(&place, &known, &["heart-loop-warp", "heart-loop-weft"]);
        let expected = peirce(200.0, rigidity, 120.0);
        for height in &read {
            assert!((height / expected - 1.0).abs() < 0.02, "{height} mm, {expected} by the formula");
        }
        assert!((read[0] / read[1] - 1.0).abs() < 1e-3, "{read:?}: both ways are the same way");
    }
}

#[test]
fn a_stiffness_comes_back_from_its_heart_loop() {
    round_trip(&[("bending_weft", 9.0)], &["heart-loop-weft"], 0.02);
}

#[test]
fn a_known_fabric_comes_back() {
    if !testing::long() {
        return;
    }
    let known = [
        ("warp", 1800.0),
        ("weft", 1200.0),
        ("bias", 150.0),
        ("bending_warp", 15.0),
        ("bending_weft", 8.0),
        ("friction", 0.35),
    ];
    let testers =
        ["tensile-warp", "tensile-weft", "tensile-bias", "cantilever-warp", "cantilever-weft", "slope"];
    round_trip(&known, &testers, 0.02);
}

#[test]
fn what_readings_do_not_tell_is_told() {
    let place = Workplace::new();
    place.write(
        "sheet.toml",
        &sheet(&["bending_warp"], "", &[("cantilever-warp", 20.0), ("cantilever-warp", 24.0)]),
    );
    let ended = place.taffeta(&["fit", "sheet.toml", "--out", "out", "--quiet"]);
    ended.refused(1, &["warning: cantilever-warp contradicts"]);
    place.write("sheet.toml", &sheet(&["friction"], "", &[("cantilever-warp", 20.0)]));
    let ended = place.taffeta(&["fit", "sheet.toml", "--out", "out", "--quiet"]);
    ended.refused(1, &["no reading determines friction"]);
}

#[test]
fn a_wrong_sheet_is_refused_with_its_line() {
    let place = Workplace::new();
    let good = sheet(&["warp"], "", &[("tensile-warp", 20.0)]);
    for (from, to, words) in [
        ("tensile-warp", "tensile-wrap", &["sheet.toml:9", "tensile-wrap"][..]),
        ("spread = 0.2", "", &["sheet.toml:8", "no spread"]),
        ("values = [20]", "values = []", &["sheet.toml:8", "no values"]),
        ("values = [20]", "values = [-3.0]", &["not above 0"]),
        ("\"warp\"", "\"wrap\"", &["sheet.toml:3", "bending_warp"]),
        ("\"cotton\"", "\"coton\"", &["coton", "taffeta fabrics"]),
    ] {
        assert!(good.contains(from), "{good}");
        place.write("sheet.toml", &good.replace(from, to));
        place.taffeta(&["fit", "sheet.toml", "--out", "out"]).refused(2, words);
    }
}
