//! What a scene may say, and what it makes: garments and the mannequin.

mod mannequin;
mod outline;
mod particles;
mod place;
mod presets;
mod rules;
mod sense;
mod sense_fabrics;
