#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    taffeta_fuzz::judge_pattern(taffeta_io::scene_file::read_svg(&String::from_utf8_lossy(bytes)));
});
