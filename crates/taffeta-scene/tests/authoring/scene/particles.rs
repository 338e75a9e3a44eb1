//! Which particles a cloth has, and which of them its pins name.

use taffeta_scene::{Cloth, Corner, Disc, Pin, Sheet, Side, Strip, Tube};

fn sheet(columns: u32, rows: u32) -> Cloth {
    Cloth { sheet: Some(Sheet { width: 1.0, height: 1.0, columns, rows, slack: 1.0 }), ..Cloth::default() }
}

fn sides(sides: &[Side]) -> Pin {
    Pin { sides: sides.to_vec(), ..Pin::default() }
}

#[test]
fn shapes_are_counted() {
    assert_eq!(sheet(4, 3).particle_count(), Some(12));
    let strip = Strip { length: 1.0, width: 0.21, segments: 10 };
    assert_eq!(strip.cells_across(), 2);
    assert_eq!(Cloth { strip: Some(strip), ..Cloth::default() }.particle_count(), Some(33));
    let fine = Strip { length: 1e-3, width: 1e4, segments: 100_000 };
    assert_eq!(fine.cells_across(), 1_000_000_000_000);
    let disc = Some(Disc { radius: 1.0, rings: 2 });
    assert_eq!(Cloth { disc, ..Cloth::default() }.particle_count(), Some(19));
    assert_eq!(Cloth { disc: Some(Disc { radius: 1.0, rings: 2 }), ..sheet(2, 2) }.particle_count(), None);
    assert_eq!(Cloth::default().particle_count(), None);
}

#[test]
fn pins_name_particles() {
    let corners = vec![Corner::LowerLeft, Corner::LowerRight, Corner::UpperLeft, Corner::UpperRight];
    let pin = Pin { corners, vertices: vec![5, 0, 99], ..Pin::default() };
    assert_eq!(sheet(4, 3).pinned(&pin), [0, 3, 5, 8, 11]);
    assert_eq!(sheet(4, 3).pinned(&sides(&[Side::Left, Side::Upper])), [0, 4, 8, 9, 10, 11]);
    assert_eq!(sheet(4, 3).pinned(&sides(&[Side::Rim])), [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]);
    let tube = Tube { radius: 1.0, length: 1.0, segments: 3, rows: 3 };
    let tube = Cloth { tube: Some(tube), ..Cloth::default() };
    assert_eq!(tube.pinned(&sides(&[Side::Upper])), [6, 7, 8]);
    assert_eq!(tube.pinned(&sides(&[Side::Rim])), [0, 1, 2, 6, 7, 8]);
    let disc = Cloth { disc: Some(Disc { radius: 1.0, rings: 2 }), ..Cloth::default() };
    assert_eq!(disc.pinned(&sides(&[Side::Rim])), (7..19).collect::<Vec<_>>());
}
