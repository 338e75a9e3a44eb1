//! What a scene makes: garments and the mannequin.

mod garments;
mod mannequin;
