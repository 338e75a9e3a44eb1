//! What a cloth is made of, as a textile laboratory would put it.

/// A fabric in laboratory units. `model` turns these into masses and element coefficients, in one place.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Fabric {
    /// Mass per area [g/m²].
    pub density: f64,
    /// Tensile stiffness of a strip cut along the warp: force per width and strain [N/m].
    pub warp: f64,
    /// The same along the weft [N/m].
    pub weft: f64,
    /// The same at 45° between them [N/m]; it is what shear stiffness is found from.
    pub bias: f64,
    /// Bending rigidity along the warp: moment per width and curvature [µN·m].
    pub bending_warp: f64,
    /// The same along the weft [µN·m].
    pub bending_weft: f64,
    /// Twisting rigidity, if it is given: half the moment per width and twist, D66 of an orthotropic plate [µN·m].
    pub bending_twist: Option<f64>,
    /// Hysteresis of bending, KES 2HB: by how much the moment per width is larger while it is bent than while it is let go [mN, that is mN·m per m]. 0 is none.
    pub bending_hysteresis: f64,
    /// Hysteresis of shear, KES 2HG: the same of the force per width [N/m]. 0 is none.
    pub shear_hysteresis: f64,
    /// Tensile resilience, KES RT: the share of the work of pulling along warp or weft that comes back when it is let go [%]. 100 is all.
    pub tensile_resilience: f64,
    /// Thickness [mm].
    pub thickness: f64,
    /// Coulomb friction of the fabric on itself [1].
    pub friction: f64,
    /// Kelvin-Voigt time of stretch and shear [ms]: damper = time × stiffness; a vibration of angular frequency ω has
    /// the damping ratio ω × time / 2.
    pub damping: f64,
    /// The same for bending [ms].
    pub bending_damping: f64,
    /// Colour in pictures, `#rrggbb`.
    pub colour: String,
}

impl Fabric {
    /// The twisting rigidity that is given, or else an estimate [µN·m]: Huber's rule for orthotropic plates, 2 D66 + D12 = √(D11 D22), without Poisson's
    /// effect (Timoshenko and Woinowsky-Krieger, Theory of Plates and Shells, sec. 86).
    pub fn twist(&self) -> f64 {
        self.bending_twist.unwrap_or_else(|| 0.5 * (self.bending_warp * self.bending_weft).sqrt())
    }
}
