//! What a scene is made into.

mod links;
mod motion;
mod rigid;
mod state;
mod topology;
