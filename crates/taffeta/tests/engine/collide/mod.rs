//! Candidates, proofs, contact.

mod allocation;
mod candidates;
mod coherence;
mod contact;
mod friction;
mod motions;
mod passage;
mod trees;
