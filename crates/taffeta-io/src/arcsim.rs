//! Material files of ARCSim as fabrics.
//!
//! A file has the mass per area [kg/m²], rows of the stiffnesses C11, C12, C22 and C33 of stretch [N/m], each measured at another strain, and three rows of the
//! rigidity across an edge [N·m] at growing curvature, for edges along u, at 45° and along v (H. Wang, R. Ramamoorthi, J. F. O'Brien, Data-Driven Elastic
//! Models for Cloth, ACM TOG 30(4), 2011). Comments after `//` are allowed. A fabric has one number for each: their median, which outliers do not move.

use serde::Deserialize;

/// A number of a fabric, and the least and the most that the rows have for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spanned {
    /// The number.
    pub value: f64,
    /// Least and most.
    pub span: [f64; 2],
}

/// The numbers of a file by the keys of a fabric, in their units; u is the warp.
pub type Numbers = Vec<(&'static str, Spanned)>;

#[derive(Deserialize)]
struct Material {
    density: f64,
    stretching: Vec<[f64; 4]>,
    bending: [Vec<f64>; 3],
}

/// The fabric of a material, or why it is none.
pub fn fabric(text: &str) -> Result<Numbers, String> {
    let Material { density, stretching, bending } = serde_json::from_str(&without_comments(text))
        .map_err(|error| format!("it is no material of ARCSim: {error}"))?;
    let column = |k: usize| median(stretching.iter().map(|row| row[k]).collect());
    let [c11, c12, c22, c33] = [column(0)?, column(1)?, column(2)?, column(3)?];
    // As long as wide, pulled along one direction and free across: C11 - C12² / C22.
    let free_across = |own: Spanned, other: Spanned| Spanned {
        value: own.value - c12.value * c12.value / other.value,
        ..own
    };
    let (warp, weft) = (free_across(c11, c22), free_across(c22, c11));
    let [across_u, across_45, across_v] = bending.map(|row| median(row).map(|b| b.times(1e6)));
    let (bending_weft, at_45, bending_warp) = (across_u?, across_45?, across_v?);
    let known = [density, warp.value, weft.value, c33.value, bending_warp.value, bending_weft.value];
    if known.iter().chain([&c11.value, &c22.value, &at_45.value]).any(|x| !(*x > 0.0 && x.is_finite())) {
        return Err("a median of its rows is not above 0, or C12² is no less than C11 C22".into());
    }
    // docs/fabrics.md has both formulas.
    let bias = 4.0 / (1.0 / warp.value + 1.0 / weft.value + 1.0 / c33.value);
    let softness = 4.0 / at_45.value - 1.0 / bending_warp.value - 1.0 / bending_weft.value;
    let alone = |value: f64| Spanned { value, span: [value; 2] };
    let mut numbers = vec![
        ("density", alone(1e3 * density)),
        ("warp", warp),
        ("weft", weft),
        ("bias", alone(bias)),
        ("bending_warp", bending_warp),
        ("bending_weft", bending_weft),
    ];
    // At 45° some are stiffer than any twist would make them: then it is left to the estimate.
    if softness > 0.0 {
        numbers.push(("bending_twist", alone(1.0 / softness)));
    }
    Ok(numbers)
}

impl Spanned {
    fn times(self, factor: f64) -> Self {
        Self { value: factor * self.value, span: self.span.map(|x| factor * x) }
    }
}

fn median(mut numbers: Vec<f64>) -> Result<Spanned, String> {
    numbers.sort_by(f64::total_cmp);
    let count = numbers.len();
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
        return Err("a row of it is empty".into());
    };
    let value = 0.5 * (numbers[(count - 1) / 2] + numbers[count / 2]);
    Ok(Spanned { value, span: [*first, *last] })
}

/// JSON without what stands after `//` outside of strings.
fn without_comments(text: &str) -> String {
    let bare = |line: &str| {
        let (mut quoted, mut escaped) = (false, false);
        let starts = |(i, c): &(usize, char)| {
            let begins = !quoted && line[*i..].starts_with("//");
            quoted ^= *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            begins
        };
        let end = line.char_indices().find(starts).map_or(line.len(), |(i, _)| i);
        format!("{}\n", &line[..end])
    };
    text.lines().map(bare).collect()
}
