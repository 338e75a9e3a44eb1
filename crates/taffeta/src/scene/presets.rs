//! The built-in fabrics and where their numbers come from.

use super::fabric::Fabric;

/// A built-in fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    /// Its name in scene files.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Where the numbers come from: which are published, and by whom, and which are our choice.
    pub source: &'static str,
    /// The numbers.
    pub fabric: Fabric,
}

/// All built-in fabrics, in alphabetical order.
pub fn presets() -> Vec<Preset> {
    SHEETS.iter().map(Sheet::preset).collect()
}

/// The built-in fabric of that name.
pub fn preset(name: &str) -> Option<Preset> {
    SHEETS.iter().find(|sheet| sheet.name == name).map(Sheet::preset)
}

/// Kelvin-Voigt time of stretch of every built-in fabric [ms]. Our choice: no publication gives one, and an
/// explicit method pays for a larger time with a smaller step.
const DAMPING: f64 = 0.02;

/// A built-in fabric as a laboratory sheet: what [`Preset`] holds, but fit for a constant.
struct Sheet {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    /// [g/m²]
    density: f64,
    /// Warp, weft, bias [N/m]: secants at about 5 N/m, the load that hanging cloth feels.
    stretch: [f64; 3],
    /// Warp, weft [µN·m].
    bending: [f64; 2],
    /// [mm]
    thickness: f64,
    friction: f64,
    /// [ms]
    bending_damping: f64,
    colour: &'static str,
}

impl Sheet {
    fn preset(&self) -> Preset {
        let [warp, weft, bias] = self.stretch;
        let [bending_warp, bending_weft] = self.bending;
        let fabric = Fabric {
            density: self.density,
            warp,
            weft,
            bias,
            bending_warp,
            bending_weft,
            thickness: self.thickness,
            friction: self.friction,
            damping: DAMPING,
            bending_damping: self.bending_damping,
            colour: self.colour.into(),
        };
        Preset { name: self.name, about: self.about, source: self.source, fabric }
    }
}

/// The fabrics by name. docs/fabrics.md holds the same numbers, the works cited and the conversions.
const SHEETS: [Sheet; 12] = [
    Sheet {
        name: "canvas",
        about: "heavy cotton duck, 14 oz/yd²",
        source: "Density and bending: the row of 0.4871 kg/m² of the 618 fabrics of Drape Tester 2022, which are \
                 unnamed; 14 oz/yd² is a usual weight of heavy canvas. Stretch, bias, thickness: typical of \
                 heavy cotton, no measurement found. Friction and damping: our choice.",
        density: 487.0,
        stretch: [4000.0, 3500.0, 450.0],
        bending: [116.0, 49.0],
        thickness: 0.9,
        friction: 0.5,
        bending_damping: 20.0,
        colour: "#b8a888",
    },
    Sheet {
        name: "cotton",
        about: "plain-woven cotton broadcloth",
        source: "Density, bending (mean of both ways), thickness: fabric A, cotton broad, of Matsudaira et al. \
                 2015. Warp and weft: another cotton, of 158 g/m², extending by 2.29 % at 490 N/m (Tadesse et \
                 al. 2018, quoted at second hand), with linearity 0.7 assumed. Bias: shear of 1.4 gf/(cm·deg), \
                 within the 0.5-3 of cottons of Kawabata 1980, quoted at second hand. Friction and damping: \
                 our choice.",
        density: 124.0,
        stretch: [2550.0, 2550.0, 300.0],
        bending: [11.6, 11.6],
        thickness: 0.5,
        friction: 0.45,
        bending_damping: 10.0,
        colour: "#e8e4d8",
    },
    Sheet {
        name: "denim",
        about: "jeans twill, cotton with 1 % elastane",
        source: "Density, stretch, shear, bending: rounded from the 11 oz black denim of Wang et al. 2011; its \
                 stiffer direction is taken as the warp. Warp agrees with denim A of Journal of Textiles 2016, \
                 4614168, table 5 (5.5 % at 490 N/m, linearity 0.71: 1130 N/m); the thickness is that of its \
                 denim C. Friction and damping: our choice.",
        density: 324.0,
        stretch: [1050.0, 225.0, 203.0],
        bending: [110.0, 62.0],
        thickness: 0.8,
        friction: 0.5,
        bending_damping: 20.0,
        colour: "#31435f",
    },
    Sheet {
        name: "felt",
        about: "pressed wool felt, 3/64 in, SAE F-50",
        source: "Density, thickness, friction: the SAE chart of Sutherland Felt (15.6 lb/yd² per inch; friction \
                 0.37). Bending: typical of 360-400 g/m² among the 618 unnamed fabrics of Drape Tester 2022, \
                 no measurement of felt found. Stretch: no measurement found; the same in all directions, as \
                 felt has no grain. Damping: our choice.",
        density: 397.0,
        stretch: [2000.0, 2000.0, 2000.0],
        bending: [60.0, 60.0],
        thickness: 1.2,
        friction: 0.37,
        bending_damping: 20.0,
        colour: "#7a3b3f",
    },
    Sheet {
        name: "jersey",
        about: "T-shirt knit, cotton and polyester interlock",
        source: "Density, stretch, shear, bending: rounded means of the gray interlock of Wang et al. 2011; its \
                 stiffer direction is taken as the wale and stands under warp. Thickness: typical of T-shirt \
                 knits, no measurement found. Friction and damping: our choice.",
        density: 187.0,
        stretch: [280.0, 85.0, 82.0],
        bending: [16.0, 31.0],
        thickness: 0.7,
        friction: 0.5,
        bending_damping: 10.0,
        colour: "#8f9aa3",
    },
    Sheet {
        name: "leather",
        about: "sheep nappa for garments",
        source: "Bending and thickness: within the 9.2-22 and 0.64-0.96 of Memon et al. 2021; the abstract \
                 gives no units, read as µN·m and mm, which suits its drape coefficients of 47-70 %. Density: \
                 typical of nappa of this thickness, no measurement found. Stretch: no measurement at small \
                 loads found; the same in all directions. Friction and damping: our choice.",
        density: 500.0,
        stretch: [3000.0, 3000.0, 3000.0],
        bending: [20.0, 20.0],
        thickness: 0.8,
        friction: 0.6,
        bending_damping: 20.0,
        colour: "#4a2f22",
    },
    Sheet {
        name: "linen",
        about: "plain-woven flax for suits and tables",
        source: "Density and bending: the row of 0.1815 kg/m² of the 618 fabrics of Drape Tester 2022, which \
                 are unnamed. Stretch, bias, thickness: typical of a fibre that extends less than cotton, no \
                 measurement found. Friction and damping: our choice.",
        density: 181.5,
        stretch: [3500.0, 3000.0, 230.0],
        bending: [28.7, 17.8],
        thickness: 0.4,
        friction: 0.4,
        bending_damping: 15.0,
        colour: "#c9b98f",
    },
    Sheet {
        name: "nylon",
        about: "ripstop for flags, kites, spinnakers, parachutes",
        source: "Density and thickness: parachute cloth MIL-C-7020H type I (1.10 oz/yd², 0.003 in) as listed by \
                 Nakka. Bending: the row of 0.0338 kg/m² of the 618 unnamed fabrics of Drape Tester 2022. \
                 Stretch and bias: no measurement at small loads found. Friction and damping: our choice.",
        density: 37.3,
        stretch: [3000.0, 3000.0, 375.0],
        bending: [1.2, 0.8],
        thickness: 0.076,
        friction: 0.25,
        bending_damping: 5.0,
        colour: "#d2422f",
    },
    Sheet {
        name: "polyester",
        about: "soft polyester faille for blouses and linings",
        source: "Density, bending (mean of both ways), thickness: fabric F, polyester faille, of Matsudaira et \
                 al. 2015. Stretch and bias: typical of light filament weaves, no measurement of this one \
                 found. Friction and damping: our choice.",
        density: 104.0,
        stretch: [2000.0, 2000.0, 116.0],
        bending: [1.9, 1.9],
        thickness: 0.23,
        friction: 0.3,
        bending_damping: 5.0,
        colour: "#5f8f8a",
    },
    Sheet {
        name: "silk",
        about: "crêpe de Chine, 15½ momme",
        source: "Density and bending: the row of 0.0673 kg/m² of the 618 fabrics of Drape Tester 2022, which \
                 are unnamed; crêpe de Chine weighs 12 to 16 momme of 4.34 g/m². Stretch, bias, thickness: \
                 typical of light silks, no measurement found. Friction and damping: our choice.",
        density: 67.3,
        stretch: [1500.0, 1000.0, 77.0],
        bending: [1.8, 3.1],
        thickness: 0.15,
        friction: 0.25,
        bending_damping: 5.0,
        colour: "#a8324e",
    },
    Sheet {
        name: "tablecloth",
        about: "crisp woven polyester",
        source: "Density, stretch, shear, bending: rounded from white dots on black, a polyester tablecloth, of \
                 Wang et al. 2011. Thickness: typical of this weight, no measurement found. Friction and \
                 damping: our choice.",
        density: 128.0,
        stretch: [2100.0, 2100.0, 135.0],
        bending: [52.0, 28.0],
        thickness: 0.25,
        friction: 0.35,
        bending_damping: 10.0,
        colour: "#f4f1ea",
    },
    Sheet {
        name: "wool",
        about: "tropical suiting, plain-woven worsted",
        source: "Density, bending (mean of both ways), thickness: fabric B, wool tropical, of Matsudaira et al. \
                 2015. Stretch and bias: suitings of good handle in Fan, Yu and Hunter 2004, table 1.12, \
                 quoted at second hand: 4.7 % and 7.5 % at 490 N/m, linearity 0.6, shear 0.6 gf/(cm·deg). \
                 Friction and damping: our choice.",
        density: 163.0,
        stretch: [750.0, 470.0, 121.0],
        bending: [6.6, 6.6],
        thickness: 0.41,
        friction: 0.45,
        bending_damping: 10.0,
        colour: "#55606b",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

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
             | Bending weft µN·m | Bending length warp mm | Bending length weft mm | Thickness mm | Friction \
             | Damping ms | Bending damping ms |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for Preset { name, about, fabric: f, .. } in presets() {
            let [warp, weft] = [f.bending_warp, f.bending_weft].map(|b| bending_length(b, f.density));
            text += &format!(
                "| {name} | {about} | {} | {} | {} | {} | {:.0} | {} | {} | {warp:.1} | {weft:.1} | {} | {} | {} | {} |\n",
                f.density,
                f.warp,
                f.weft,
                f.bias,
                shear(&f),
                f.bending_warp,
                f.bending_weft,
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
}
