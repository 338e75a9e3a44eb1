//! Colours and pieces of particles.

use taffeta::math::random::Random;
use taffeta::solve::coloring::{color_particles, connect};

/// Springs and bends of lines of five particles each, shuffled.
fn lines(count: u32) -> Vec<Vec<u32>> {
    let of = |line: u32| {
        (2..=3).flat_map(move |n| (0..=5 - n).map(move |k| (0..n).map(|i| 5 * line + k + i).collect()))
    };
    let mut elements: Vec<Vec<u32>> = (0..count).flat_map(of).collect();
    let mut random = Random::new(7);
    (1..elements.len()).for_each(|k| elements.swap(k, random.below(k + 1)));
    elements
}

#[test]
fn no_element_has_two_particles_of_one_color() {
    let elements = lines(4);
    let colors = color_particles(elements.iter().map(Vec::as_slice), 21);
    for element in &elements {
        for (k, i) in element.iter().enumerate() {
            assert!(element[..k].iter().all(|j| colors[*j as usize] != colors[*i as usize]), "{element:?}");
        }
    }
    assert_eq!(colors.iter().max(), Some(&2), "as many as a bend has particles");
    assert_eq!(colors[20], 0, "nothing is in its way");
}

#[test]
fn what_elements_join_is_one_piece() {
    let elements = lines(4);
    let first = connect(elements.iter().map(Vec::as_slice), 21);
    assert!((0..21).all(|i| first[i] == i as u32 / 5 * 5), "{first:?}");
}
