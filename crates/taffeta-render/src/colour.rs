//! Colours: from text, from numbers, from groups, and to the bytes of a picture.

use glam::Vec3;
pub use taffeta_scene::colour::viridis;

/// Linear RGB of a colour written `#rrggbb`.
pub fn from_hex(text: &str) -> Option<[f32; 3]> {
    let digits =
        text.strip_prefix('#').filter(|d| d.len() == 6 && d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    Some([16, 8, 0].map(|shift| to_linear(((number >> shift) & 255) as f32 / 255.0)))
}

/// Linear light of an sRGB number in 0..1 (IEC 61966-2-1).
pub(crate) fn to_linear(c: f32) -> f32 {
    if c <= 0.04045 { c / 12.92 } else { libm::powf((c + 0.055) / 1.055, 2.4) }
}

/// sRGB number of linear light in 0..1.
pub(crate) fn to_srgb(c: f32) -> f32 {
    if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * libm::powf(c, 1.0 / 2.4) - 0.055 }
}

/// sRGB, 0..1, of a group: hues a golden angle apart at three lightnesses, so that near numbers look far apart.
pub fn category(group: u32) -> [f32; 3] {
    let turns = f64::from(group) * 0.381_966_011_250_105;
    let angle = std::f64::consts::TAU * (turns - turns.floor() + 0.07);
    let (sin, cos) = (libm::sin(angle) as f32, libm::cos(angle) as f32);
    let lightness = [0.68, 0.56, 0.78][group as usize % 3];
    oklab(lightness, 0.13 * cos, 0.13 * sin)
}

/// sRGB of a colour in Oklab (B. Ottosson 2020), where equal distances look equal.
fn oklab(l: f32, a: f32, b: f32) -> [f32; 3] {
    let cube = |x: f32| x * x * x;
    let long = cube(l + 0.396_337_78 * a + 0.215_803_76 * b);
    let middle = cube(l - 0.105_561_346 * a - 0.063_854_17 * b);
    let short = cube(l - 0.089_484_18 * a - 1.291_485_5 * b);
    [
        4.076_741_7 * long - 3.307_711_6 * middle + 0.230_969_93 * short,
        -1.268_438 * long + 2.609_757_4 * middle - 0.341_319_4 * short,
        -0.004_196_086_3 * long - 0.703_418_6 * middle + 1.707_614_7 * short,
    ]
    .map(|c| to_srgb(c.clamp(0.0, 1.0)))
}

/// The same colour in linear light.
pub(crate) fn linear(srgb: [f32; 3]) -> Vec3 {
    Vec3::from_array(srgb.map(to_linear))
}

/// Bytes of linear light: a filmic shoulder above 0.76, colours below it untouched, then sRGB.
///
/// The curve is the Khronos PBR Neutral tone mapper (2024), made to show goods in the colours they are sold in, without its
/// toe, which takes away gloss that nothing here has.
/// `dither` in 0..1 decides how fractions round; spread over neighbours it hides the steps of smooth gradients.
pub(crate) fn develop(light: Vec3, table: &SrgbTable, dither: f32) -> [u8; 3] {
    const SHOULDER: f32 = 0.76;
    const DESATURATION: f32 = 0.15;
    let mut colour = light.max(Vec3::ZERO);
    let peak = colour.max_element();
    if peak > SHOULDER {
        let d = 1.0 - SHOULDER;
        let new_peak = 1.0 - d * d / (peak + d - SHOULDER);
        colour *= new_peak / peak;
        let white = 1.0 - 1.0 / (DESATURATION * (peak - new_peak) + 1.0);
        colour = colour.lerp(Vec3::splat(new_peak), white);
    }
    colour.to_array().map(|c| (table.at(c) + dither) as u8)
}

/// sRGB of linear light from a table: the power itself is too slow for every pixel.
pub(crate) struct SrgbTable(Vec<f32>);

impl SrgbTable {
    const SIZE: usize = 4096;

    pub(crate) fn new() -> Self {
        // Spaced by square roots, so that darkness, where the curve is steep, has as many entries as light.
        let entry =
            |i: usize| 255.0 * to_srgb((i as f32 / Self::SIZE as f32) * (i as f32 / Self::SIZE as f32));
        Self((0..=Self::SIZE).map(entry).collect())
    }

    /// 0..255, fractions and all.
    fn at(&self, linear: f32) -> f32 {
        let place = linear.clamp(0.0, 1.0).sqrt() * Self::SIZE as f32;
        let entry = |i: usize| self.0.get(i).copied().unwrap_or(255.0);
        let (low, high) = (entry(place as usize), entry(place as usize + 1));
        low + (place - place.floor()) * (high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_text_is_read_and_nonsense_refused() {
        assert_eq!(from_hex("#ff0000"), Some([1.0, 0.0, 0.0]));
        assert!((from_hex("#808080").unwrap()[0] - 0.2159).abs() < 1e-3);
        for bad in ["", "ff0000", "#ff00", "#gg0000", "#+f0000", "#ff00000", "#ffé00"] {
            assert_eq!(from_hex(bad), None, "{bad}");
        }
    }

    #[test]
    fn viridis_passes_through_its_published_colours_and_only_brightens() {
        let near = |t: f32, hex: u32| {
            for (got, shift) in viridis(t).into_iter().zip([16, 8, 0]) {
                let want = ((hex >> shift) & 255) as f32 / 255.0;
                assert!((got - want).abs() < 0.02, "{t}: {got}, not {want}");
            }
        };
        near(0.0, 0x44_0154);
        near(0.5, 0x21_918c);
        near(1.0, 0xfd_e725);
        let grey = |t: f32| linear(viridis(t)).dot(Vec3::new(0.2126, 0.7152, 0.0722));
        assert!((0..100).all(|i| grey(i as f32 / 100.0) < grey((i + 1) as f32 / 100.0)));
        assert_eq!(viridis(f32::INFINITY), viridis(1.0));
    }

    #[test]
    fn groups_near_each_other_look_different() {
        for a in 0..40_u32 {
            for b in a + 1..a + 8 {
                let apart: f32 = category(a).iter().zip(category(b)).map(|(x, y)| (x - y).abs()).sum();
                assert!(apart > 0.15, "groups {a} and {b} differ by {apart}");
            }
        }
    }

    #[test]
    fn development_keeps_colours_below_the_shoulder_and_the_table_agrees_with_the_power() {
        let table = SrgbTable::new();
        for i in 0..=1000 {
            let c = i as f32 / 1000.0;
            assert!((table.at(c) - 255.0 * to_srgb(c)).abs() < 0.01, "{c}");
        }
        let [r, g, b] = develop(Vec3::new(0.5, 0.3, 0.2), &table, 0.5);
        assert_eq!([r, g, b], [0.5, 0.3, 0.2].map(|c| (255.0 * to_srgb(c)).round() as u8));
        assert_eq!(develop(Vec3::splat(1e9), &table, 0.5), [255; 3]);
        assert_eq!(develop(Vec3::ZERO, &table, 0.5), [0; 3]);
    }
}
