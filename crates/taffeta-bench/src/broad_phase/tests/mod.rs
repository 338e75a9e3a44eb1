//! They give what the engine's own and brute force give.

#[path = "../../../../taffeta/tests/engine/collide/motions.rs"]
mod motions;
mod trees;
