//! Candidates, proofs, contact.

mod allocation;
mod barrier;
mod blocks;
mod candidates;
mod contact;
mod free;
mod friction;
mod heaps;
mod lanes;
mod motions;
mod nearest;
mod passage;
mod pipeline;
mod surface;
mod trees;
mod windows;
mod zones;
