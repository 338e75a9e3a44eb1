//! Graph colouring: what has one colour shares nothing, so that it can be worked on at once and in any order.

/// A colour for every element, so that no two of one colour name the same particle. Greedy, in the order of the elements: the same every time.
pub fn color_elements<'a>(elements: impl Iterator<Item = &'a [u32]>, particles: usize) -> Vec<u32> {
    let mut taken: Vec<Vec<u64>> = vec![Vec::new(); particles];
    let mut first_free = |element: &[u32]| {
        let mut color = 0;
        for word in 0.. {
            let used = element.iter().fold(0, |used, i| used | taken[*i as usize].get(word).unwrap_or(&0));
            color += used.trailing_ones();
            if used != u64::MAX {
                break;
            }
        }
        for i in element {
            let (own, word) = (&mut taken[*i as usize], color as usize / 64);
            own.resize(own.len().max(word + 1), 0);
            own[word] |= 1 << (color % 64);
        }
        color
    };
    elements.map(&mut first_free).collect()
}

/// A list sorted by colours, keeping the order within each; and where each colour ends.
pub fn by_color<T>(list: Vec<T>, colors: &[u32]) -> (Vec<T>, Vec<usize>) {
    let mut numbered: Vec<(u32, T)> = colors.iter().copied().zip(list).collect();
    numbered.sort_by_key(|(color, _)| *color);
    let count = numbered.last().map_or(0, |(color, _)| color + 1);
    let ends = (0..count).map(|c| numbered.partition_point(|(color, _)| *color <= c)).collect();
    (numbered.into_iter().map(|(_, item)| item).collect(), ends)
}
