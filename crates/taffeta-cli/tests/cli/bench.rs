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
fn numbers_that_make_no_sheet_are_refused() {
    let place = Workplace::new();
    place.taffeta(&["bench", "hang", "--quick", "--slack", "2"]).refused(2, &["slack"]);
    place.taffeta(&["bench", "hang", "--quick", "--tolerance", "0"]).refused(2, &["solver.tolerance"]);
}
