//! Poses and random numbers.

mod pose;
mod random;
