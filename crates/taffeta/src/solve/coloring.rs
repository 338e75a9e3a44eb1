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

/// A colour for every particle, so that no element names two of one colour. Greedy, in the order of the particles: the same every time.
pub fn color_particles<'a>(elements: impl Iterator<Item = &'a [u32]>, particles: usize) -> Vec<u32> {
    let mut earlier: Vec<Vec<u32>> = vec![Vec::new(); particles];
    for element in elements {
        for i in element {
            earlier[*i as usize].extend(element.iter().filter(|j| *j < i));
        }
    }
    let mut colors: Vec<u32> = Vec::with_capacity(particles);
    for earlier in &earlier {
        let taken = |color: &u32| earlier.iter().any(|j| colors[*j as usize] == *color);
        colors.extend((0..).find(|color| !taken(color)));
    }
    colors
}

/// For every particle the first one of the piece that elements join it to.
pub fn connect<'a>(elements: impl Iterator<Item = &'a [u32]>, particles: usize) -> Vec<u32> {
    let mut before: Vec<u32> = (0..particles as u32).collect();
    let first = |before: &mut [u32], mut i: u32| {
        while before[i as usize] != i {
            before[i as usize] = before[before[i as usize] as usize];
            i = before[i as usize];
        }
        i
    };
    for element in elements {
        for ends in element.windows(2) {
            let [a, b] = [ends[0], ends[1]].map(|i| first(&mut before, i));
            before[a.max(b) as usize] = a.min(b);
        }
    }
    (0..particles as u32).map(|i| first(&mut before, i)).collect()
}

/// A list sorted by colours, keeping the order within each; and where each colour ends.
pub fn by_color<T>(list: Vec<T>, colors: &[u32]) -> (Vec<T>, Vec<usize>) {
    let mut numbered: Vec<(u32, T)> = colors.iter().copied().zip(list).collect();
    numbered.sort_by_key(|(color, _)| *color);
    let count = numbered.last().map_or(0, |(color, _)| color + 1);
    let ends = (0..count).map(|c| numbered.partition_point(|(color, _)| *color <= c)).collect();
    (numbered.into_iter().map(|(_, item)| item).collect(), ends)
}
