//! Continuous collision detection: the straight motion of every pair of features over a window of time is shown to be free, or is changed until it is.

pub(crate) mod candidate_cache;
pub(crate) mod check;
pub mod distance;
pub(crate) mod impact_zones;
pub(crate) mod push;
pub mod separating_axis;
pub mod separating_axis_filter;
pub(crate) mod tangles;
pub mod time_of_impact;
pub(crate) mod window;
pub mod zones;
