#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| taffeta_fuzz::judge(taffeta_io::mesh::read_stl(bytes)));
