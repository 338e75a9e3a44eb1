//! Colours that stand for numbers.

/// sRGB, 0..1, of a number in 0..1: the map viridis of S. van der Walt and N. Smith (2015), perceptually uniform, as the
/// polynomial of degree 6 fitted by M. Zucker (shadertoy.com/view/WlfXRN, CC0). Numbers outside are clamped.
pub fn viridis(t: f32) -> [f32; 3] {
    const FIT: [[f32; 3]; 7] = [
        [0.277_727_33, 0.005_407_344_5, 0.334_099_8],
        [0.105_093_04, 1.404_613_5, 1.384_590_2],
        [-0.330_861_83, 0.214_847_56, 0.095_095_165],
        [-4.634_230_5, -5.799_101, -19.332_44],
        [6.228_27, 14.179_934, 56.690_55],
        [4.776_385, -13.745_146, -65.353_03],
        [-5.435_456, 4.645_852_6, 26.312_435],
    ];
    let t = t.clamp(0.0, 1.0);
    std::array::from_fn(|c| FIT.iter().rev().fold(0.0, |sum, row| sum * t + row[c]).clamp(0.0, 1.0))
}

/// The end of a scale that reaches up to a number: the next of 1, 2, 5, 10, 20 ... times a power of ten; 1 for nothing.
pub fn round_above(number: f64) -> f64 {
    if !(number > 0.0 && number.is_finite()) {
        return 1.0;
    }
    let power = 10_f64.powf(number.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|k| k * power).find(|k| *k >= number).unwrap_or(number)
}
