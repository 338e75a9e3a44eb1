//! Changes to built-in fabrics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use taffeta::model::Fabric;

/// Changes to a built-in fabric. What is left out stays as it is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FabricChange {
    /// The built-in fabric to start from. Left out: the one of the same name, else cotton.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Mass per area [g/m²].
    #[schemars(range(min = 1.0, max = 100_000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Tensile stiffness along the warp [N/m].
    #[schemars(range(min = 0.1, max = 1e8))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp: Option<f64>,
    /// Tensile stiffness along the weft [N/m].
    #[schemars(range(min = 0.1, max = 1e8))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weft: Option<f64>,
    /// Tensile stiffness at 45° between them [N/m]; less than twice the smaller of warp and weft.
    #[schemars(range(min = 0.01, max = 1e8))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<f64>,
    /// Bending rigidity along the warp [µN·m].
    #[schemars(range(min = 0.0, max = 1e7))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bending_warp: Option<f64>,
    /// Bending rigidity along the weft [µN·m].
    #[schemars(range(min = 0.0, max = 1e7))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bending_weft: Option<f64>,
    /// Twisting rigidity, D66 of an orthotropic plate [µN·m]. Left out, triangles take half the root of the product of the two above, and springs resist no twist.
    #[schemars(range(min = 0.0, max = 1e7))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bending_twist: Option<f64>,
    /// Hysteresis of bending, KES 2HB: by how much the moment per width is larger while the cloth is bent than while it is let go [mN]. 0: none.
    #[schemars(range(min = 0.0, max = 1e6))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bending_hysteresis: Option<f64>,
    /// Hysteresis of shear, KES 2HG: the same of the force per width [N/m]. 0: none.
    #[schemars(range(min = 0.0, max = 1e6))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shear_hysteresis: Option<f64>,
    /// Tensile resilience, KES RT: the share of the work of pulling along warp or weft that comes back when the cloth is let go [%]. 100: all.
    #[schemars(range(min = 40.0, max = 100.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensile_resilience: Option<f64>,
    /// Thickness [mm].
    #[schemars(range(min = 1e-3, max = 100.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Coulomb friction of the fabric on itself [1].
    #[schemars(range(min = 0.0, max = 10.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Kelvin-Voigt time of stretch and shear [ms].
    #[schemars(range(min = 0.0, max = 1000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    /// Kelvin-Voigt time of bending [ms].
    #[schemars(range(min = 0.0, max = 1000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bending_damping: Option<f64>,
    /// Colour in pictures, `#rrggbb`.
    #[schemars(regex(pattern = "^#[0-9a-fA-F]{6}$"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
}

impl FabricChange {
    /// The fabric `base` with these changes.
    pub fn apply(&self, base: &Fabric) -> Fabric {
        Fabric {
            density: self.density.unwrap_or(base.density),
            warp: self.warp.unwrap_or(base.warp),
            weft: self.weft.unwrap_or(base.weft),
            bias: self.bias.unwrap_or(base.bias),
            bending_warp: self.bending_warp.unwrap_or(base.bending_warp),
            bending_weft: self.bending_weft.unwrap_or(base.bending_weft),
            bending_twist: self.bending_twist.or(base.bending_twist),
            bending_hysteresis: self.bending_hysteresis.unwrap_or(base.bending_hysteresis),
            shear_hysteresis: self.shear_hysteresis.unwrap_or(base.shear_hysteresis),
            tensile_resilience: self.tensile_resilience.unwrap_or(base.tensile_resilience),
            thickness: self.thickness.unwrap_or(base.thickness),
            friction: self.friction.unwrap_or(base.friction),
            damping: self.damping.unwrap_or(base.damping),
            bending_damping: self.bending_damping.unwrap_or(base.bending_damping),
            colour: self.colour.clone().unwrap_or_else(|| base.colour.clone()),
        }
    }
}
