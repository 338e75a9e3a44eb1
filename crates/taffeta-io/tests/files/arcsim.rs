//! Materials of ARCSim, from files of our own.

use taffeta_io::arcsim::{Spanned, fabric};

/// A material of these rows of stretch and bending.
fn material(stretching: &str, bending: &str) -> String {
    format!(
        "// made up\n{{ \"density\": 0.2, // \"kg\"\n\"stretching\": [{stretching}], \"bending\": [{bending}] }}"
    )
}

#[test]
fn a_material_is_the_median_of_its_rows() {
    let text = material(
        "[100, 0, 400, 20], [110, 50, 500, 30], [9000, 100, 600, -500]",
        "[2e-5, 4e-5, 1e-3], [2.4e-5, 2.4e-5, 2.4e-5], [1e-5, 3e-5, 2e-5]",
    );
    let numbers = fabric(&text).unwrap();
    let of = |key: &str| numbers.iter().find(|(own, _)| *own == key).unwrap().1;
    let near =
        |key: &str, want: f64| assert!((of(key).value / want - 1.0).abs() < 1e-12, "{key} {:?}", of(key));
    near("density", 200.0);
    near("warp", 110.0 - 50.0 * 50.0 / 500.0);
    near("weft", 500.0 - 50.0 * 50.0 / 110.0);
    assert_eq!(of("warp").span, [100.0, 9000.0]);
    // Edges along u are bent by what is curved along v.
    near("bending_weft", 40.0);
    near("bending_warp", 20.0);
    // A sheet of these numbers has the shear and the rigidity at 45° that were measured.
    let shear = 4.0 / of("bias").value - 1.0 / of("warp").value - 1.0 / of("weft").value;
    assert!((shear * 20.0 - 1.0).abs() < 1e-12);
    let at_45 = 1.0 / 40.0 + 1.0 / 20.0 + 1.0 / of("bending_twist").value;
    assert!((4.0 / at_45 / 24.0 - 1.0).abs() < 1e-9);
}

#[test]
fn what_is_no_fabric_is_refused() {
    let refused = |text: &str, why: &str| {
        let error = fabric(text).unwrap_err();
        assert!(error.contains(why), "{error}");
    };
    let bending = "[1e-5], [1e-5], [1e-5]";
    refused("{}", "no material of ARCSim");
    refused(&material("", bending), "empty");
    refused(&material("[100, 0, 100, -1]", bending), "not above 0");
    refused(&material("[100, 200, 100, 10]", bending), "C12²");
    refused(&material("[0, 0, 100, 10]", bending), "not above 0");
    // Much stiffer at 45° than along both: no twist tells that, so it is left out.
    let stiff = fabric(&material("[100, 0, 100, 10]", "[1e-5], [9e-5], [1e-5]")).unwrap();
    assert!(!stiff.iter().any(|(key, _)| *key == "bending_twist"));
    assert_eq!(stiff[0].1, Spanned { value: 200.0, span: [200.0; 2] });
}
