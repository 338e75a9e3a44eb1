//! What a scene is made into.

mod elements;
mod import;
mod links;
mod motion;
mod rigid;
mod shapes;
mod state;
mod stuffing;
mod topology;
