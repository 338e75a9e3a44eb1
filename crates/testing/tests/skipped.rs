//! The last test program of the workspace: how many tests were skipped before it, and why.

use std::io::Write;

#[test]
fn skipped_tests_are_counted() {
    let lines = testing::skipped::take();
    let mut told = format!("{} skipped\n", lines.len());
    told.extend(lines);
    // Past the harness, which hides what tests print.
    std::io::stderr().write_all(told.as_bytes()).unwrap();
}
