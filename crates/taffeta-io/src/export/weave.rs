//! The weave of cloth as a small picture (PNG) that repeats: two threads by two, each over its neighbours and under them in turn.

/// Side of the picture, and of a thread in it [pixels].
const SIDE: usize = 16;
const THREAD: usize = 8;
/// Side of the cloth that the picture shows [m].
const PERIOD: f64 = 2e-3;
/// How often the picture repeats in a metre, which is what texture coordinates count [1].
pub(super) const REPEATS: f64 = 1.0 / PERIOD;
/// What the picture makes of linear white, in the mean [1].
const MEAN: f64 = 0.887_6;

/// A colour that the picture makes that of the fabric, as nearly as it can.
pub(super) fn brightened(colour: [f64; 3]) -> [f64; 3] {
    colour.map(|c| (c / MEAN).min(1.0))
}

/// Grey of a pixel: threads are round across and dive at both ends.
fn grey(x: usize, y: usize) -> u8 {
    let inside = |k: usize| ((k % THREAD) as f64 + 0.5) / (0.5 * THREAD as f64) - 1.0;
    let along_u = (x / THREAD + y / THREAD).is_multiple_of(2);
    let (across, along) = if along_u { (inside(y), inside(x)) } else { (inside(x), inside(y)) };
    let quartic = |x: f64| x * x * x * x;
    255 - (160.0 * (0.30 * quartic(across) + 0.16 * quartic(along))) as u8
}

/// The picture, not compressed: it has some 300 bytes.
pub(super) fn picture() -> Vec<u8> {
    // Every row begins with how it is coded: as it is.
    let rows: Vec<u8> =
        (0..SIDE).flat_map(|y| std::iter::once(0).chain((0..SIDE).map(move |x| grey(x, y)))).collect();
    let length = rows.len() as u16;
    let mut data = vec![0x78, 0x01, 1];
    data.extend(length.to_le_bytes());
    data.extend((!length).to_le_bytes());
    data.extend(&rows);
    data.extend(adler32(&rows).to_be_bytes());
    let side = (SIDE as u32).to_be_bytes();
    // Eight bits of grey.
    let head = [&side[..], &side, &[8, 0, 0, 0, 0]].concat();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in [(b"IHDR", &head), (b"IDAT", &data), (b"IEND", &Vec::new())] {
        png.extend((content.len() as u32).to_be_bytes());
        let start = png.len();
        png.extend(kind);
        png.extend(content);
        let sum = crc32fast::hash(&png[start..]);
        png.extend(sum.to_be_bytes());
    }
    png
}

/// The checksum of zlib (RFC 1950).
fn adler32(bytes: &[u8]) -> u32 {
    let add = |(a, b): (u32, u32), byte: &u8| {
        let a = (a + u32::from(*byte)) % 65521;
        (a, (b + a) % 65521)
    };
    let (a, b) = bytes.iter().fold((1, 0), add);
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_that_of_the_picture() {
        let linear = |grey: u8| ((f64::from(grey) / 255.0 + 0.055) / 1.055).powf(2.4);
        let pixels = || (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| grey(x, y)));
        let mean = pixels().map(linear).sum::<f64>() / (SIDE * SIDE) as f64;
        assert!((mean - MEAN).abs() < 1e-4, "{mean}");
        assert!(pixels().min() < Some(220) && pixels().max() == Some(255));
        // Adler-32 of `Wikipedia`, from its article.
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }
}
