//! The worst of many certificates, and what it says in plain words.

use taffeta::check::Certificate;
use taffeta_bench::{figures, percent};

/// The worst of what was certified, and where it was found.
#[derive(Debug, Clone)]
pub struct Worst {
    /// Largest strain [1]; infinite where one could not be measured.
    pub strain: f64,
    /// The frame or file that has it.
    pub strain_at: String,
    /// Most pairs of cloth triangles that intersect in one frame.
    pub cloth_cloth: usize,
    /// The frame or file that has them.
    pub cloth_cloth_at: String,
    /// Most cloth triangles that cut into bodies in one frame.
    pub cloth_body: usize,
    /// The frame or file that has them.
    pub cloth_body_at: String,
    /// Most intersections of both kinds in one frame.
    pub intersections: usize,
    /// Smallest distance between cloth and bodies [m]; infinite without bodies.
    pub min_gap: f64,
}

impl Default for Worst {
    fn default() -> Self {
        let at = String::new;
        Self {
            strain: 0.0,
            strain_at: at(),
            cloth_cloth: 0,
            cloth_cloth_at: at(),
            cloth_body: 0,
            cloth_body_at: at(),
            intersections: 0,
            min_gap: f64::INFINITY,
        }
    }
}

impl Worst {
    /// Takes in the certificate of a frame or file.
    pub fn take(&mut self, at: &str, one: &Certificate) {
        if one.max_strain > self.strain || self.strain_at.is_empty() {
            (self.strain, self.strain_at) = (one.max_strain, at.into());
        }
        if one.cloth_cloth > self.cloth_cloth {
            (self.cloth_cloth, self.cloth_cloth_at) = (one.cloth_cloth, at.into());
        }
        if one.cloth_body > self.cloth_body {
            (self.cloth_body, self.cloth_body_at) = (one.cloth_body, at.into());
        }
        self.intersections = self.intersections.max(one.cloth_cloth + one.cloth_body);
        self.min_gap = self.min_gap.min(one.min_gap);
    }

    /// Strain in words.
    pub fn strain_words(&self, tolerance: Option<f64>) -> String {
        let found = format!("largest strain {} in {}", percent(self.strain), self.strain_at);
        match tolerance {
            None => found,
            Some(tolerance) => {
                let kept = if self.strain <= tolerance { "held" } else { "MISSED" };
                format!("{found} (tolerance {}) - {kept}", percent(tolerance))
            }
        }
    }

    /// Cloth and bodies in words.
    pub fn body_words(&self) -> String {
        if self.min_gap == f64::INFINITY {
            return "cloth through bodies: there are none".into();
        }
        let found = match self.cloth_body {
            0 => "none in any frame".into(),
            n => format!("at most {} ({})", counted(n, "triangle"), self.cloth_body_at),
        };
        format!("cloth through bodies: {found}; smallest gap {} mm", figures(1e3 * self.min_gap))
    }

    /// Cloth and cloth in words.
    pub fn cloth_words(&self) -> String {
        match self.cloth_cloth {
            0 => "cloth through cloth: none in any frame".into(),
            n => {
                format!("cloth through cloth: at most {n} pairs of triangles ({})", self.cloth_cloth_at)
            }
        }
    }
}

/// `1 frame`, `2 frames`, `2 meshes`.
pub fn counted(count: usize, thing: &str) -> String {
    let plural = if thing.ends_with("sh") { "es" } else { "s" };
    format!("{count} {thing}{}", if count == 1 { "" } else { plural })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_is_kept_with_its_place() {
        let one = |max_strain, cloth_cloth, cloth_body, min_gap| Certificate {
            max_strain,
            mean_strain: 0.0,
            cloth_cloth,
            cloth_body,
            min_gap,
        };
        let mut worst = Worst::default();
        worst.take("frame 1", &one(0.02, 3, 0, 1e-3));
        worst.take("frame 2", &one(0.01, 0, 2, -2e-3));
        worst.take("frame 3", &one(0.02, 2, 2, 5.0));
        assert_eq!((worst.intersections, worst.min_gap), (4, -2e-3));
        assert_eq!(worst.strain_words(Some(0.02)), "largest strain 2 % in frame 1 (tolerance 2 %) - held");
        assert_eq!(
            worst.strain_words(Some(0.019)),
            "largest strain 2 % in frame 1 (tolerance 1.9 %) - MISSED"
        );
        assert_eq!(
            worst.body_words(),
            "cloth through bodies: at most 2 triangles (frame 2); smallest gap -2 mm"
        );
        assert_eq!(worst.cloth_words(), "cloth through cloth: at most 3 pairs of triangles (frame 1)");
    }
}
