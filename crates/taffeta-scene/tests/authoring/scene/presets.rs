//! Built-in fabrics: their numbers, sources and document.

use std::collections::BTreeSet;
use taffeta_scene::{Fabric, Preset, preset, presets};

const GRAVITY: f64 = 9.80665;

/// Shear stiffness [N/m] of an orthotropic sheet without Poisson coupling, from strips cut in three directions.
fn shear(fabric: &Fabric) -> f64 {
    1.0 / (4.0 / fabric.bias - 1.0 / fabric.warp - 1.0 / fabric.weft)
}

/// Bending length [mm]: rigidity [µN·m] against weight [g/m²].
fn bending_length(rigidity: f64, density: f64) -> f64 {
    libm::cbrt(rigidity * 1e-6 / (density * 1e-3 * GRAVITY)) * 1e3
}

/// Tensile stiffness at 4.9 N/m [N/m] from the extension at 490 N/m and the linearity of a KES sheet: the curve
/// is taken as a power of the strain, whose exponent the linearity fixes.
fn small_load_stiffness(extension: f64, linearity: f64) -> f64 {
    let exponent = 2.0 / linearity - 1.0;
    490.0 / extension * libm::pow(0.01, 1.0 - 1.0 / exponent)
}

/// The table of docs/fabrics.md as it must stand there.
fn table() -> String {
    let mut text = String::from(
        "| Fabric | What it is | Density g/m² | Warp N/m | Weft N/m | Bias N/m | Shear N/m | Bending warp µN·m \
         | Bending weft µN·m | Bending twist µN·m | Bending length warp mm | Bending length weft mm | Thickness mm | Friction \
         | Damping ms | Bending damping ms |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for Preset { name, about, fabric: f, .. } in presets() {
        let [warp, weft] = [f.bending_warp, f.bending_weft].map(|b| bending_length(b, f.density));
        text += &format!(
            "| {name} | {about} | {} | {} | {} | {} | {:.0} | {} | {} | {:.1} | {warp:.1} | {weft:.1} | {} | {} | {} | {} |\n",
            f.density,
            f.warp,
            f.weft,
            f.bias,
            shear(&f),
            f.bending_warp,
            f.bending_weft,
            f.twist(),
            f.thickness,
            f.friction,
            f.damping,
            f.bending_damping,
        );
    }
    text
}

#[test]
fn the_promised_fabrics_are_there_in_alphabetical_order() {
    let names: Vec<_> = presets().iter().map(|preset| preset.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for name in ["silk", "cotton", "linen", "wool", "denim", "jersey", "leather", "canvas"] {
        assert_eq!(preset(name).map(|preset| preset.name), Some(name));
    }
    assert!(names.len() >= 10);
    assert_eq!(preset("chainmail"), None);
}

#[test]
fn every_fabric_is_legal() {
    for Preset { name, fabric: f, .. } in presets() {
        assert!((1.0..=1e5).contains(&f.density), "{name}: density");
        assert!(f.warp >= 0.1 && f.weft >= 0.1, "{name}: warp, weft");
        assert!(f.bending_warp >= 0.0 && f.bending_weft >= 0.0, "{name}: bending");
        assert!((1e-3..=100.0).contains(&f.thickness), "{name}: thickness");
        assert!((0.0..=10.0).contains(&f.friction), "{name}: friction");
        assert!(f.damping >= 0.0 && f.bending_damping >= 0.0, "{name}: damping");
        let shear = shear(&f);
        assert!(shear > 0.0 && shear < f.warp.min(f.weft), "{name}: shear stiffness {shear} N/m");
    }
}

#[test]
fn every_bending_length_is_that_of_a_cloth() {
    for Preset { name, fabric: f, .. } in presets() {
        for rigidity in [f.bending_warp, f.bending_weft] {
            let length = bending_length(rigidity, f.density);
            assert!((5.0..=120.0).contains(&length), "{name}: {length} mm");
        }
    }
}

#[test]
fn colours_are_well_formed_and_distinct() {
    let colours: BTreeSet<_> = presets().into_iter().map(|preset| preset.fabric.colour).collect();
    assert_eq!(colours.len(), presets().len());
    for colour in colours {
        let digits = colour.strip_prefix('#').unwrap_or_default();
        assert!(digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit()), "{colour}");
    }
}

/// The worked example of docs/fabrics.md, and the sheets named in the sources of cotton and denim.
#[test]
fn laboratory_sheets_give_the_stiffnesses_of_the_presets() {
    let near = |computed: f64, stored: f64, name: &str| {
        assert!((computed / stored - 1.0).abs() < 0.01, "{name}: {computed}, not {stored}");
    };
    let wool = preset("wool").unwrap().fabric;
    near(small_load_stiffness(0.047, 0.6), wool.warp, "warp");
    near(small_load_stiffness(0.075, 0.6), wool.weft, "weft");
    near(0.6 * 0.1 * GRAVITY * 1f64.to_radians().recip(), shear(&wool), "shear");
    near(0.067 * 10.0 * GRAVITY, wool.bending_warp, "bending");
    near(16.29 * 10.0, wool.density, "density");
    near(small_load_stiffness(0.0229, 0.7), preset("cotton").unwrap().fabric.warp, "cotton");
    near(small_load_stiffness(0.05515, 0.712), 1130.0, "denim");
}

#[test]
fn the_document_tells_the_same_numbers_and_sources() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fabrics.md");
    let document = std::fs::read_to_string(path).unwrap();
    assert!(document.contains(&table()), "docs/fabrics.md must hold this table:\n{}", table());
    for Preset { name, source, .. } in presets() {
        let line = format!("- **{name}** - {source}\n");
        assert!(document.contains(&line), "docs/fabrics.md must hold this line:\n{line}");
    }
}
