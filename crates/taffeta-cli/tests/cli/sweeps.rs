//! Sweeps: whole ones, and ones that meet every kind of accident. Nothing is lost, nothing is done twice, every run is accounted for.

use crate::workplace::{Ended, Workplace, bytes};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use taffeta_io::recording::Reader;

/// Six runs, of which one is refused and one has a step that cannot be taken.
const SWEEP: &str = r#"
scene = "small.toml"
[set]
frames = 4
"solver.substeps" = 2
[axis]
"solver.method" = ["impulse-strips", "verlet"]
"collider[0].sphere.radius" = [0.3, 0.2, -1.0]
[measure]
corner = { of = "height", particle = 0 }
strain = { of = "max_strain", by = "max" }
"#;

/// Twelve runs that all end well.
const GOOD: &str = r#"
scene = "small.toml"
[axis]
"collider[0].sphere.radius" = { low = 0.2, high = 0.3 }
"cloth[0].fabric" = ["silk", "wool"]
[draw]
count = 6
seed = 5
by = "latin-hypercube"
[measure]
corner = { of = "height", particle = 0 }
"#;

fn place() -> Workplace {
    let place = Workplace::new();
    place.write("sweep.toml", SWEEP);
    place.write("good.toml", GOOD);
    place
}

/// All results of a folder: the file and what it says.
fn results(folder: &Path) -> Vec<(PathBuf, Value)> {
    let inside = |path: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let mut files: Vec<PathBuf> =
        inside(&folder.join("results")).iter().flat_map(|group| inside(group)).collect();
    files.sort();
    let read = |path: PathBuf| {
        let value = serde_json::from_slice(&bytes(&path)).unwrap();
        (path, value)
    };
    files.into_iter().map(read).collect()
}

fn table(place: &Workplace, folder: &str) -> Vec<u8> {
    bytes(&place.path(&format!("{folder}/table.parquet")))
}

#[test]
fn every_run_is_accounted_for_and_has_the_bits_that_it_has_alone() {
    let place = place();
    let ended = place.taffeta(&["sweep", "sweep.toml", "--out", "one", "--threads", "1"]);
    ended.refused(1, &["refused", "sphere.radius = -1.0", "diverged", "the largest stable one"]);
    assert!(ended.out.contains("6 runs: 2 diverged, 2 done, 2 refused"), "{}", ended.out);
    place.taffeta(&["sweep", "sweep.toml", "--out", "three", "--threads", "3", "--quiet"]);
    assert_eq!(table(&place, "one"), table(&place, "three"));
    let words = ["run", "small.toml", "--quiet", "--frames", "4", "--set", "solver.substeps=2"];
    place.succeed(&[&words[..], &["--set", "collider[0].sphere.radius=0.2"]].concat());
    let alone = place.hashes("out/small").pop().unwrap();
    assert_eq!(
        results(&place.path("one"))
            .iter()
            .filter(|(_, result)| result["outcome"]["state_hash"] == *alone)
            .count(),
        1
    );
    // Failures that would be the same again are not tried again.
    let before: Vec<_> = results(&place.path("one"))
        .iter()
        .map(|(path, _)| path.metadata().unwrap().modified().unwrap())
        .collect();
    assert_eq!(place.taffeta(&["sweep", "sweep.toml", "--out", "one", "--resume", "--quiet"]).code, Some(1));
    let after: Vec<_> = results(&place.path("one"))
        .iter()
        .map(|(path, _)| path.metadata().unwrap().modified().unwrap())
        .collect();
    assert_eq!(before, after);
}

#[test]
fn shards_make_the_table_of_one_machine() {
    let place = place();
    place.succeed(&["sweep", "good.toml", "--out", "whole", "--quiet"]);
    for shard in ["1/3", "2/3", "3/3"] {
        place.succeed(&[
            "sweep",
            "good.toml",
            "--out",
            &format!("shard-{}", &shard[..1]),
            "--shard",
            shard,
            "--quiet",
        ]);
    }
    // Without the third, runs are missing, and that is told.
    let ended = place.taffeta(&["sweep", "merge", "shard-1", "shard-2", "--out", "merged"]);
    assert!(ended.code == Some(1) && ended.out.contains("4 left"), "{ended:?}");
    place.succeed(&["sweep", "merge", "shard-1", "shard-2", "shard-3", "--out", "merged"]);
    assert_eq!(table(&place, "merged"), table(&place, "whole"));
    place.taffeta(&["sweep", "sweep.toml", "--out", "other", "--quiet"]);
    place
        .taffeta(&["sweep", "merge", "shard-1", "other", "--out", "mixed"])
        .refused(2, &["other", "another sweep"]);
}

#[test]
fn a_truncated_result_is_computed_again_and_the_others_are_not() {
    let place = place();
    place.succeed(&["sweep", "good.toml", "--out", "whole", "--quiet"]);
    let expected = table(&place, "whole");
    let files = results(&place.path("whole"));
    assert_eq!(files.len(), 12);
    let stamps =
        || -> Vec<_> { files.iter().map(|(path, _)| path.metadata().unwrap().modified().unwrap()).collect() };
    let before = stamps();
    let half = &bytes(&files[3].0)[..100];
    std::fs::write(&files[3].0, half).unwrap();
    place.succeed(&["sweep", "good.toml", "--out", "whole", "--quiet", "--resume"]);
    let changed: Vec<usize> =
        before.iter().zip(stamps()).enumerate().filter(|(_, (a, b))| *a != b).map(|(k, _)| k).collect();
    assert_eq!(changed, [3]);
    assert_eq!(table(&place, "whole"), expected);
}

#[test]
fn a_folder_has_one_sweep() {
    let place = place();
    place.succeed(&["sweep", "good.toml", "--out", "whole", "--quiet"]);
    place.taffeta(&["sweep", "good.toml", "--out", "whole"]).refused(2, &["whole", "begun here", "--resume"]);
    place
        .taffeta(&["sweep", "sweep.toml", "--out", "whole", "--resume"])
        .refused(2, &["whole", "another sweep lies"]);
    let lock = std::fs::File::open(place.path("whole/.lock")).unwrap();
    lock.lock().unwrap();
    place
        .taffeta(&["sweep", "good.toml", "--out", "whole", "--resume"])
        .refused(2, &["another sweep is writing"]);
}

#[test]
fn a_wrong_sweep_file_is_refused_with_its_line() {
    let place = place();
    for (text, words) in [
        ("scene = \"small.toml\"\n[axis]\n\"air.drag\" = []\n", &["wrong.toml:3", "air.drag", "empty"][..]),
        (
            "scene = \"small.toml\"\n[axis]\n\"air.drag\" = { from = 1, to = 2 }\n",
            &["wrong.toml:3", "docs/sweeps.md"],
        ),
        (
            "scene = \"small.toml\"\n[axis]\n\"air.drag\" = { low = 2.0, high = 1.0 }\n",
            &["wrong.toml:3", "low"],
        ),
        ("scene = \"small.toml\"\n[axis]\n\"air.drag\" = { low = 1.0, high = 2.0 }\n", &["[draw]", "seed"]),
        ("scene = \"small.toml\"\nspeed = 3\n", &["wrong.toml:2", "speed"]),
        ("scene = \"nothing\"\n", &["nothing", "built-in"]),
        ("scene = \"small.toml\"\n[axis]\n\"air.dragg\" = [1.0]\n", &["air.dragg", "not a key"]),
        ("scene = \"small.toml\"\n[measure]\nh = { of = \"height\" }\n", &["wrong.toml:3", "particle"]),
        (
            "scene = \"small.toml\"\n[measure]\nh = { of = \"fold-number\" }\n",
            &["wrong.toml:3", "fold-count"],
        ),
        ("scene = \"small.toml\"\nrows = \"rows.csv\"\n", &["wrong.toml:2", "rows.csv"]),
    ] {
        place.write("wrong.toml", text);
        place.taffeta(&["sweep", "wrong.toml", "--out", "out"]).refused(2, words);
    }
    place.write("rows.csv", "air.drag,cloth[0].fabric\n1.0,silk\n2.0\n");
    place.taffeta(&["sweep", "wrong.toml", "--out", "out"]).refused(2, &["rows.csv:3", "1 cells"]);
    place.write("rows.csv", "air.drag,cloth[0].fabric\n1.0,silk\n2.0,\"wool\"\n");
    assert!(
        place.succeed(&["sweep", "plan", "wrong.toml"]).out.contains("air.drag=1.0 cloth[0].fabric=\"silk\"")
    );
}

#[test]
fn a_measure_is_drawn_over_two_axes() {
    let place = place();
    place.taffeta(&["sweep", "sweep.toml", "--out", "out", "--quiet"]);
    let words = [
        "sweep",
        "plot",
        "out",
        "--measure",
        "corner",
        "--over",
        "collider[0].sphere.radius",
        "--out",
        "it.svg",
    ];
    place.succeed(&[&words[..], &["--each", "solver.method"]].concat());
    let svg = String::from_utf8(bytes(&place.path("it.svg"))).unwrap();
    assert!(svg.contains("method = impulse-strips") && svg.contains("corner of small"), "{svg}");
    place
        .taffeta(&[&words[..6], &["air.drag", "--out", "it.svg"]].concat())
        .refused(2, &["no axis", "solver.method"]);
}

/// A limit on the size of files is what a full disk looks like to a program.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_runs_that_are_told_and_done_later() {
    let place = place();
    place.write("recorded.toml", &format!("record = true\n{GOOD}"));
    place.succeed(&["sweep", "recorded.toml", "--out", "whole", "--quiet"]);
    let program = env!("CARGO_BIN_EXE_taffeta");
    let line = format!("trap '' XFSZ; ulimit -f 16; {program} sweep recorded.toml --out out");
    let output =
        std::process::Command::new("bash").args(["-c", &line]).current_dir(place.path("")).output().unwrap();
    let ended = Ended::from(output);
    ended.refused(1, &["lost", "writing at byte"]);
    assert!(ended.out.contains("12 runs: 12 lost"), "{}", ended.out);
    place.succeed(&["sweep", "recorded.toml", "--out", "out", "--quiet", "--resume"]);
    assert_eq!(table(&place, "out"), table(&place, "whole"));
    let recordings: Vec<_> =
        std::fs::read_dir(place.path("out/recordings")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(recordings.len() == 12 && recordings.iter().all(|path| Reader::open(path).unwrap().complete()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_too_large_is_told_and_the_others_are_done() {
    let place = place();
    let axis = "[axis]\n\"cloth[0].sheet.columns\" = [10, 12, 10000]\n";
    let set = "[set]\nframes = 1\n\"cloth[0].sheet.rows\" = 400\n";
    place.write("large.toml", &format!("scene = \"small.toml\"\n{set}{axis}"));
    let ended = place.taffeta(&["sweep", "large.toml", "--out", "out", "--threads", "2", "--memory", "600M"]);
    ended.refused(1, &["too-large", "4000000 particles", "the limit of --memory", "make it coarser"]);
    assert!(ended.out.contains("3 runs: 2 done, 1 too-large"), "{}", ended.out);
}

#[cfg(target_os = "linux")]
mod signals {
    use super::*;
    use crate::workplace::signal;
    use std::process::{Child, Command};
    use std::time::Duration;

    /// Starts a sweep of a second or so and waits until it has some results.
    fn start(place: &Workplace, out: &str) -> Child {
        let mut command = place.command(&["sweep", "long.toml", "--out", out, "--threads", "2"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let folder = place.path(out).join("results");
        while std::fs::read_dir(&folder).map_or(0, Iterator::count) < 2 && child.try_wait().unwrap().is_none()
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        child
    }

    fn workers(child: &Child) -> Vec<String> {
        let id = child.id();
        let threads = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        let text = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
        text.collect::<String>().split_whitespace().map(String::from).collect()
    }

    fn long(place: &Workplace) {
        place.write("long.toml", &GOOD.replace("count = 6", "count = 10"));
        place.succeed(&["sweep", "long.toml", "--out", "whole", "--quiet"]);
    }

    #[test]
    fn workers_that_are_killed_cost_no_run() {
        let place = place();
        long(&place);
        let mut child = start(&place, "out");
        let mut killed = 0;
        while child.try_wait().unwrap().is_none() {
            for worker in workers(&child) {
                killed += usize::from(Command::new("kill").args(["-9", &worker]).status().unwrap().success());
            }
            std::thread::sleep(Duration::from_millis(60));
        }
        let ended = Ended::from(child.wait_with_output().unwrap());
        assert!(killed > 0 && (ended.code == Some(0) || ended.code == Some(1)), "{killed} {ended:?}");
        let told = results(&place.path("out"));
        assert_eq!(told.len(), 20, "every run has a result, lost or done");
        for (_, result) in told.iter().filter(|(_, result)| result["outcome"]["status"] != "done") {
            assert!(result["outcome"]["reason"].as_str().unwrap().contains("signal 9"), "{result}");
        }
        place.succeed(&["sweep", "long.toml", "--out", "out", "--quiet", "--resume"]);
        assert_eq!(table(&place, "out"), table(&place, "whole"));
    }

    #[test]
    fn an_interrupt_ends_all_processes_and_the_sweep_goes_on_later() {
        let place = place();
        long(&place);
        for (out, name, code) in [("soft", "INT", Some(3)), ("hard", "KILL", None)] {
            let child = start(&place, out);
            let running = workers(&child);
            signal(&child, name);
            let ended = Ended::from(child.wait_with_output().unwrap());
            assert_eq!(ended.code, code, "{ended:?}");
            // Workers of a sweep that was killed end when they find that nobody listens.
            while running.iter().any(|id| Path::new(&format!("/proc/{id}/exe")).exists()) {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert!(results(&place.path(out)).len() < 20, "{out}");
            place.succeed(&["sweep", "long.toml", "--out", out, "--quiet", "--resume"]);
            assert_eq!(table(&place, out), table(&place, "whole"), "{out}");
        }
    }
}
