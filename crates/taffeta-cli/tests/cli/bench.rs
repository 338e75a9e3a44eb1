//! Experiments run, keep their promises, and tell them as JSON.

use crate::workplace::Workplace;

#[test]
fn the_hanging_sheet_has_all_that_is_promised_of_a_row() {
    let place = Workplace::new();
    let words = ["bench", "hang", "--method", "verlet", "--grid", "6,8", "--tolerance", "0.1,0.01"];
    let ended = place.succeed(
        &[&words[..], &["--frames", "30", "--threads", "1,2", "--json", "a/rows.json", "--out", "b"]]
            .concat(),
    );
    let all = place.json("a/rows.json");
    assert_eq!(all, place.json("b/hang.json"));
    assert!(all["machine"]["cores"].is_number() && all["version"].is_string());
    let rows = all["rows"].as_array().unwrap();
    assert_eq!((rows.len(), ended.out.matches("verlet ").count()), (8, 8));
    for row in rows {
        for number in [
            "grid",
            "tolerance",
            "threads",
            "size_m",
            "slack",
            "realtime_factor",
            "iterations",
            "substeps",
            "mean_strain",
        ] {
            assert!(row[number].as_f64().unwrap() > 0.0, "{number} in {row}");
        }
        for time in ["median", "min"] {
            assert!(row["ms_per_frame"][time].as_f64().unwrap() > 0.0);
        }
        // The stiffness was chosen so that the strain stays within the tolerance, and not for nothing.
        let share = row["max_strain"].as_f64().unwrap() / row["tolerance"].as_f64().unwrap();
        assert!((0.2..1.0).contains(&share), "{row}");
        let fall = row["fall_time_s"].as_f64().unwrap();
        assert!((0.3..0.6).contains(&fall), "{row}");
        assert_eq!((&row["frames"], &row["converged_frames"]), (&30.into(), &30.into()));
    }
}

#[test]
fn the_drape_tells_where_its_time_goes() {
    let place = Workplace::new();
    let words =
        ["bench", "drape", "--method", "verlet", "--grid", "12", "--frames", "3", "--json", "rows.json"];
    let ended = place.succeed(&words);
    assert!(ended.out.contains("144 particles") && ended.out.contains("springs"), "{}", ended.out);
    let row = &place.json("rows.json")["rows"][0];
    assert_eq!(row["particles"], 144);
    assert!(row["stage_ms"]["springs"].is_number() && row["stage_ms"]["certificate"].is_number());
}

#[test]
fn trees_are_compared_and_drawn() {
    let place = Workplace::new();
    let words =
        ["bench", "tree", "--triangles", "200,800", "--steps", "2", "--plot", "tree.svg", "--out", "."];
    place.succeed(&words);
    let all = place.json("tree.json");
    let rows = all["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 10);
    for same in rows.chunks(5) {
        // Every tree finds the same pairs, and only those without an order of their own differ in depth.
        assert!(
            same.iter().all(|row| row["pairs"] == same[0]["pairs"] && row["query_ns"].as_f64() > Some(0.0))
        );
        assert_eq!(same[0]["depth"], same[1]["depth"]);
    }
    let drawing = std::fs::read_to_string(place.path("tree.svg")).unwrap();
    assert!(drawing.contains("reinsert, update"));
}

#[test]
fn detection_is_told_for_every_speed() {
    let place = Workplace::new();
    let words = ["bench", "detect", "--triangles", "500", "--speed", "0,1", "--steps", "4", "--threads", "2"];
    place.succeed(&[&words[..], &["--json", "rows.json"]].concat());
    let all = place.json("rows.json");
    let rows = all["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["wall_ns"].as_f64() > Some(0.0) && row["threads"] == 2));
}

#[test]
fn scaling_is_told_for_every_number_of_threads_with_the_same_bits() {
    let place = Workplace::new();
    let words = ["bench", "scale", "--grid", "12", "--frames", "2", "--threads", "1,2", "--out", "."];
    place.succeed(&words);
    let all = place.json("scale.json");
    let rows = all["rows"].as_array().unwrap();
    let told = |row: &serde_json::Value| {
        (row["scaling"].as_str().unwrap().to_string(), row["grid"].as_u64().unwrap())
    };
    let expected = [("strong", 12), ("strong", 12), ("weak", 12), ("weak", 17)];
    assert_eq!(
        rows.iter().map(told).collect::<Vec<_>>(),
        expected.map(|(kind, grid)| (kind.to_string(), grid))
    );
    assert_eq!(rows[0]["hash"], rows[1]["hash"]);
    assert_ne!(rows[0]["hash"], rows[3]["hash"]);
    assert_eq!((rows[0]["speed_up"].as_f64(), rows[0]["efficiency"].as_f64()), (Some(1.0), Some(1.0)));
    let page = std::fs::read_to_string(place.path("scale.md")).unwrap();
    assert!(page.contains("find contacts") && page.contains("times as fast"), "{page}");
}

#[test]
fn physics_tells_every_row_and_whether_it_passes() {
    let place = Workplace::new();
    let only =
        ["bench", "physics", "--quick", "--only", "pendulum,inclined-plane,terminal-speed", "--method"];
    let ended =
        place.succeed(&[&only[..], &["verlet,impulse-strips", "--threads", "2", "--out", "."]].concat());
    assert!(ended.out.contains("8 of 8 rows pass"), "{}", ended.out);
    let all = place.json("physics.json");
    for row in all["rows"].as_array().unwrap() {
        assert!(row["found"].is_number() && row["reference"][0].is_number(), "{row}");
        assert_eq!(row["pass"], row["error"].as_f64() <= row["allowed"].as_f64());
    }
    let text = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    assert!(text("physics.html").contains("inclined plane") && text("physics.csv").lines().count() == 9);
    place.taffeta(&["bench", "physics", "--only", "magic"]).refused(2, &["magic", "pendulum"]);
}

#[test]
fn a_row_of_physics_that_misses_ends_with_one() {
    let place = Workplace::new();
    // Edge by edge a belt around a drum slides too early.
    let words = ["bench", "physics", "--quick", "--only", "capstan", "--method", "impulse-iterative"];
    let ended = place.taffeta(&words);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("MISSED") && ended.out.contains("0 of 1 rows pass"), "{}", ended.out);
}

#[test]
fn more_sub_steps_bring_methods_nearer_to_the_reference() {
    let place = Workplace::new();
    let scene = ["--set", "cloth[0].sheet.columns=6", "--set", "cloth[0].sheet.rows=6", "--frames", "6"];
    let words = ["bench", "compare", "hang", "--methods", "bdf2,verlet", "--doublings", "3", "--out", "."];
    place.succeed(&[&words[..], &scene].concat());
    let all = place.json("compare.json");
    let rows = all["rows"].as_array().unwrap();
    let errors = |method: &str| -> Vec<f64> {
        let given = rows.iter().filter(|row| row["method"] == method && row["chosen_by"] == "us");
        given.map(|row| row["error"].as_f64().unwrap()).collect()
    };
    let bdf2 = errors("bdf2");
    assert!(bdf2.len() == 4 && bdf2.windows(2).all(|pair| pair[1] < pair[0]), "{bdf2:?}");
    assert!(errors("verlet").last() < bdf2.last());
    let page = std::fs::read_to_string(place.path("compare.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("the reference's own error"));
}

#[cfg(unix)]
#[test]
fn peers_are_judged_from_their_frames() {
    let place = Workplace::new();
    // A sheet of 4 x 4 that does not move at all has no strain, and must not count for it.
    let point = |i: u32| [f64::from(i % 4) / 3.0, 0.0, f64::from(i / 4) / 3.0];
    let still: Vec<u8> = (0..16).flat_map(point).flat_map(f64::to_le_bytes).collect();
    std::fs::write(place.path("frames.f64"), still.repeat(21)).unwrap();
    place.write(
        "peer.json",
        &format!(r#"{{"version": "7", "cpu_ms": [{0}], "wall_ms": [{0}]}}"#, ["1"; 20].join(",")),
    );
    place.write("driver.sh", "cp frames.f64 peer.json \"$1\"");
    let folder = place.path("").display().to_string();
    let peer = |name: &str, command: &str| {
        format!(
            r#"{{"name": "{name}", "command": [{command}], "folder": "{folder}", "ladder": [{{"substeps": 1}}]}}"#
        )
    };
    place.write(
        "list.json",
        &format!("[{}, {}]", peer("still", r#""sh", "driver.sh""#), peer("gone", r#""no-such-program""#)),
    );
    let words =
        ["bench", "peers", "list.json", "--grid", "4", "--frames", "20", "--tolerance", "0.01", "--out", "."];
    let ended = place.succeed(&words);
    assert!(ended.out.contains("no-such-program"), "{}", ended.out);
    let all = place.json("peers.json");
    let rows = all["rows"].as_array().unwrap();
    let still = rows.iter().find(|row| row["peer"] == "still").unwrap();
    assert!(
        still["max_strain"].as_f64() < Some(1e-12) && still["version"] == "7" && still["counts"] == false
    );
    let gone = rows.iter().find(|row| row["peer"] == "gone").unwrap();
    assert!(
        gone["counts"] == false
            && gone["failure"].as_str().is_some_and(|why| why.contains("no-such-program"))
    );
    let page = std::fs::read_to_string(place.path("peers.md")).unwrap();
    assert!(page.contains("| still | 7 | not met |") && page.contains("at its finest setting"), "{page}");
    let ours: Vec<_> = rows.iter().filter(|row| row["peer"] == "Taffeta").collect();
    assert!(
        ours.len() == 2
            && ours.iter().all(|row| row["counts"] == true && row["max_strain"].as_f64() <= Some(0.01))
    );
    place.taffeta(&["bench", "peers", "nothing.json"]).refused(2, &["nothing.json", "setup.sh"]);
}

#[test]
fn numbers_that_make_no_sheet_are_refused() {
    let place = Workplace::new();
    place.taffeta(&["bench", "hang", "--quick", "--slack", "2"]).refused(2, &["slack"]);
    place.taffeta(&["bench", "hang", "--quick", "--tolerance", "0"]).refused(2, &["solver.tolerance"]);
}
