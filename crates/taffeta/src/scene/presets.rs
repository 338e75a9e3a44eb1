//! The built-in fabrics and where their numbers come from.

use super::fabric::Fabric;

/// A built-in fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    /// Its name in scene files.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Where the numbers come from.
    pub source: &'static str,
    /// The numbers.
    pub fabric: Fabric,
}

/// All built-in fabrics, in alphabetical order.
pub fn presets() -> Vec<Preset> {
    vec![Preset {
        name: "cotton",
        about: "plain-woven shirting",
        source: "",
        fabric: Fabric {
            density: 150.0,
            warp: 2000.0,
            weft: 2000.0,
            bias: 120.0,
            bending_warp: 10.0,
            bending_weft: 10.0,
            thickness: 0.3,
            friction: 0.3,
            damping: 0.02,
            bending_damping: 10.0,
            colour: "#d9d4c5".into(),
        },
    }]
}

/// The built-in fabric of that name.
pub fn preset(name: &str) -> Option<Preset> {
    presets().into_iter().find(|preset| preset.name == name)
}
