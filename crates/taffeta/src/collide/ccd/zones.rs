//! Zones of points that move together: what to do where pushes do not part features.
//!
//! A zone takes part of its motion from a common one and scales the rest. At the share 0 all its points move alike and keep their
//! distances, so that nothing in it can meet; it grows by what it still meets outside. The common motion is that of the body or
//! pin in the zone, and otherwise the mean of its points, which keeps momentum.

/// Every round halves the share of a failing zone; below the least it becomes 0.
const HALF: f64 = 0.5;
const LEAST: f64 = 0.1;

/// Which nodes move together, and how much of their own motion is left to them.
#[derive(Debug, Clone, Default)]
pub struct Zones {
    /// A node of the same zone with a smaller or equal number; after [`Zones::close_round`] the smallest.
    parent: Vec<u32>,
    /// By smallest node: the share of its own motion that a zone keeps [1].
    share: Vec<f64>,
    /// By smallest node: the round in which the share was last lowered.
    lowered: Vec<u32>,
    round: u32,
}

impl Zones {
    /// Every one of `nodes` on its own.
    pub fn new(nodes: usize) -> Self {
        let mut zones =
            Self { parent: vec![0; nodes], share: vec![0.0; nodes], lowered: vec![0; nodes], round: 0 };
        zones.clear();
        zones
    }

    /// Every node on its own again.
    pub fn clear(&mut self) {
        self.parent.iter_mut().enumerate().for_each(|(i, parent)| *parent = i as u32);
        self.share.fill(1.0);
        self.lowered.fill(0);
        self.round = 1;
    }

    /// Joins the nodes of features that meet and lowers the share of their zone, once in a round. False if they already move as one: then nothing keeps them apart.
    pub fn slow(&mut self, nodes: [usize; 4]) -> bool {
        let roots = nodes.map(|node| self.root(node));
        let joined = roots.into_iter().min().unwrap_or(0);
        let is_one = roots.iter().all(|root| *root == joined);
        if is_one && self.share[joined] == 0.0 && self.lowered[joined] < self.round {
            return false;
        }
        let least = roots.iter().map(|root| self.share[*root]).fold(1.0, f64::min);
        let lowered = roots.iter().any(|root| self.lowered[*root] == self.round);
        for root in roots {
            self.parent[root] = joined as u32;
        }
        let share = if lowered { least } else { HALF * least };
        self.share[joined] = if share < LEAST { 0.0 } else { share };
        self.lowered[joined] = self.round;
        true
    }

    /// Ends a round: from here [`Zones::of`] answers at once.
    pub fn close_round(&mut self) {
        for i in 0..self.parent.len() {
            self.parent[i] = self.parent[self.parent[i] as usize];
        }
        self.round += 1;
    }

    /// The smallest node of the zone of a node and the share of the zone; 1 if it is free.
    pub fn of(&self, node: usize) -> (usize, f64) {
        let root = self.parent[node] as usize;
        (root, self.share[root])
    }

    fn root(&self, node: usize) -> usize {
        let mut root = node;
        while self.parent[root] as usize != root {
            root = self.parent[root] as usize;
        }
        root
    }
}
