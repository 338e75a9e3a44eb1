//! The viewer from outside: what pages can do, and what nobody can.

mod attack;
mod client;
mod control;
mod door;
mod patience;
