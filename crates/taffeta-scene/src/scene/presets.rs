//! The built-in fabrics and where their numbers come from.

use super::Fabric;

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
    SHEETS.iter().map(DataSheet::preset).collect()
}

/// The built-in fabric of that name.
pub fn preset(name: &str) -> Option<Preset> {
    SHEETS.iter().find(|sheet| sheet.name == name).map(DataSheet::preset)
}

/// Kelvin-Voigt time of stretch of every built-in fabric [ms]. Our choice: no publication gives one, and an
/// explicit method pays for a larger time with a smaller step.
const DAMPING: f64 = 0.02;

/// A built-in fabric as a laboratory sheet: what [`Preset`] holds, but fit for a constant.
struct DataSheet {
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

impl DataSheet {
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
            bending_twist: None,
            bending_hysteresis: 0.0,
            shear_hysteresis: 0.0,
            tensile_resilience: 100.0,
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
const SHEETS: [DataSheet; 12] = [
    DataSheet {
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
    DataSheet {
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
    DataSheet {
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
    DataSheet {
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
    DataSheet {
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
    DataSheet {
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
    DataSheet {
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
    DataSheet {
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
    DataSheet {
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
    DataSheet {
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
    DataSheet {
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
    DataSheet {
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
