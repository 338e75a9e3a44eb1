//! Kernels that were compiled are not compiled again, and what is not whole is not taken.

use std::fs;
use taffeta_cuda::Cache;

fn get(cache: &Cache, source: &str, options: &[&str], version: &str, made: &[u8]) -> (Vec<u8>, bool) {
    let options: Vec<String> = options.iter().map(|option| option.to_string()).collect();
    let mut asked = false;
    let code = cache.get(source, &options, version, || {
        asked = true;
        Ok::<_, ()>(made.to_vec())
    });
    (code.unwrap(), asked)
}

#[test]
fn a_kernel_is_compiled_once_for_all_that_it_depends_on() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::in_folder(Some(folder.path().join("new")));
    assert_eq!(get(&cache, "a", &["-x"], "13.0", b"one"), (b"one".to_vec(), true));
    assert_eq!(get(&cache, "a", &["-x"], "13.0", b"two"), (b"one".to_vec(), false));
    assert_eq!(get(&cache, "b", &["-x"], "13.0", b"two"), (b"two".to_vec(), true));
    assert_eq!(get(&cache, "a", &["-y"], "13.0", b"three"), (b"three".to_vec(), true));
    assert_eq!(get(&cache, "a", &["-x"], "12.9", b"four"), (b"four".to_vec(), true));
    assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 4);
}

#[test]
fn a_file_that_is_cut_or_changed_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::in_folder(Some(folder.path().into()));
    get(&cache, "a", &[], "13.0", b"whole");
    let path = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&path).unwrap();
    for spoilt in [&bytes[..3], &bytes[1..], &[&b"W"[..], &bytes[1..]].concat()] {
        fs::write(&path, spoilt).unwrap();
        assert_eq!(get(&cache, "a", &[], "13.0", b"whole"), (b"whole".to_vec(), true));
    }
    assert_eq!(get(&cache, "a", &[], "13.0", b""), (b"whole".to_vec(), false));
}

#[test]
fn without_a_folder_nothing_is_kept_and_nothing_fails() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for cache in [Cache::default(), Cache::in_folder(Some(file.join("below a file")))] {
        for _ in 0..2 {
            assert_eq!(get(&cache, "a", &[], "13.0", b"made"), (b"made".to_vec(), true));
        }
    }
}
