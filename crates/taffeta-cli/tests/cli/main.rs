//! The program as its users meet it: arguments, files, exit codes, words.

mod bench;
mod checks;
mod datasets;
mod exports;
mod faults;
mod fits;
mod lists;
mod pictures;
mod resuming;
mod runs;
mod sweeps;
mod view;
mod workplace;
