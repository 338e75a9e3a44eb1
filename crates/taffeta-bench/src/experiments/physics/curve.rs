//! References that are curves, and what was found as marks on them.

use super::Row;
use taffeta_render::plot::{Line, Plot, Stroke};

/// A reference over something that cases differ by.
#[derive(Clone, Copy)]
pub(super) struct Curve {
    /// What is across and what is up.
    pub x: &'static str,
    pub y: &'static str,
    /// Whether both are shown by their logarithms.
    pub log: bool,
    pub range: [f64; 2],
    pub reference: fn(f64) -> f64,
}

impl Curve {
    /// The reference, and what was found by every method as marks.
    pub(super) fn plot(&self, title: &str, rows: &[Row]) -> Plot {
        const STEPS: u32 = 60;
        let [first, last] = self.range;
        let along = |share: f64| {
            if self.log { first * libm::pow(last / first, share) } else { first + share * (last - first) }
        };
        let reference = (0..=STEPS).map(|k| along(f64::from(k) / f64::from(STEPS)));
        let reference = reference.map(|x| [x, (self.reference)(x)]).collect();
        let mut lines = vec![Line { name: "reference".into(), points: reference, ..Line::default() }];
        for row in rows {
            let point = row.finding.as_ref().and_then(|f| Some([f.at?, f.found]));
            let known = lines.iter_mut().skip(1).find(|line| line.name == row.method);
            match (known, point) {
                (_, None) => (),
                (Some(line), Some(point)) => line.points.push(point),
                (None, Some(point)) => {
                    let (name, colour) = (row.method.clone(), lines.len());
                    lines.push(Line { name, points: vec![point], colour, stroke: Stroke::Marks });
                }
            }
        }
        Plot {
            title: title.into(),
            x_label: self.x.into(),
            y_label: self.y.into(),
            log_x: self.log,
            log_y: self.log,
            lines,
            ..Plot::default()
        }
    }
}
