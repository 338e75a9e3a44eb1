//! Tests of the device: what is planned and told everywhere, kernels where there is a compiler, steps where there is a card.

mod batch;
mod batch_plan;
mod cache;
mod contact;
mod contact_plan;
mod kernels;
mod names;
mod plan;
mod refusals;
mod seams;
mod steps;
