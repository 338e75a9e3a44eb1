#![no_main]

use taffeta_io::mesh::{read_gltf, read_gltf_animated};

// A file that the document names holds the document itself: it has all kinds of bytes.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    taffeta_fuzz::judge(read_gltf(bytes, &|_| Ok(bytes.to_vec())));
    taffeta_fuzz::judge(read_gltf_animated(bytes, &|_| Ok(bytes.to_vec())));
});
