//! What methods remember from step to step, each in a type of its own.

use crate::math::DVec3;

/// What a method remembers from step to step. Who remembers nothing has nothing to go on from but positions and velocities.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Memory {
    /// Nothing.
    #[default]
    Nothing,
    /// Of the impulse methods.
    Impulse(ImpulseMemory),
    /// Of backward Euler and BDF2.
    Implicit(ImplicitMemory),
    /// Of P3's variant of BDF2 without a matrix.
    Secant(SecantMemory),
}

/// What the impulse methods remember: Lagrange multipliers to start from, and how the last step was cut.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ImpulseMemory {
    /// Sub-steps that the next step is to take, 0 before the first.
    pub substeps: f64,
    /// Whether the last step missed its tolerance.
    pub missed: bool,
    /// Tension per length of every structural edge [N/m].
    pub tension: Vec<f64>,
    /// The same of every diagonal [N/m].
    pub shear: Vec<f64>,
    /// Of every particle the share of h² f / m by which forces displaced it [1]; 1 where it touched.
    pub share: Vec<f64>,
}

/// What implicit methods remember.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ImplicitMemory {
    /// Of every particle the contact that pressed most; empty where there are no bodies.
    pub contacts: Vec<HeldContact>,
    /// How long the last sub-step was, 0 before the first [s].
    pub last: f64,
    /// How long the next is to be [s].
    pub next: f64,
    /// Positions [m] and velocities [m/s] one sub-step ago, in the order in which the method has particles; empty for backward Euler.
    pub past: [Vec<DVec3>; 2],
}

/// A contact of a particle with a solid, as it was at the end of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HeldContact {
    /// Force of friction on the particle [N].
    pub friction: DVec3,
    /// Pressure [N]; 0 where nothing touches.
    pub pressure: f64,
    /// The solid among those with a closed form, counted from 1; 0 is none.
    pub solid: u32,
}

/// What the secant method remembers.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SecantMemory {
    /// How long the last sub-step was, 0 before the first [s].
    pub last: f64,
    /// Of every particle whether an impact has cut it off from its past.
    pub fresh: Vec<bool>,
    /// Positions [m] and velocities [m/s] one sub-step ago.
    pub past: [Vec<DVec3>; 2],
}

impl Memory {
    /// Whose it is, in words.
    pub fn owner(&self) -> &'static str {
        OWNERS[self.tag() as usize]
    }

    /// A number for each kind.
    pub(super) fn tag(&self) -> u64 {
        match self {
            Memory::Nothing => 0,
            Memory::Impulse(_) => 1,
            Memory::Implicit(_) => 2,
            Memory::Secant(_) => 3,
        }
    }

    /// How many numbers it holds.
    pub fn len(&self) -> usize {
        let mut count = 0;
        self.each(|_| count += 1);
        count
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `other` is of the same kind and length.
    pub fn is_like(&self, other: &Memory) -> bool {
        self.tag() == other.tag() && self.len() == other.len()
    }

    /// Becomes equal to `other`, in the room it has.
    pub fn copy_from(&mut self, other: &Memory) {
        match (self, other) {
            (Memory::Impulse(own), Memory::Impulse(other)) => {
                (own.substeps, own.missed) = (other.substeps, other.missed);
                own.tension.clone_from(&other.tension);
                own.shear.clone_from(&other.shear);
                own.share.clone_from(&other.share);
            }
            (Memory::Implicit(own), Memory::Implicit(other)) => {
                (own.last, own.next) = (other.last, other.next);
                own.contacts.clone_from(&other.contacts);
                own.past.iter_mut().zip(&other.past).for_each(|(own, other)| own.clone_from(other));
            }
            (Memory::Secant(own), Memory::Secant(other)) => {
                own.last = other.last;
                own.fresh.clone_from(&other.fresh);
                own.past.iter_mut().zip(&other.past).for_each(|(own, other)| own.clone_from(other));
            }
            (own, other) => *own = other.clone(),
        }
    }

    /// All numbers in their order.
    pub(super) fn each(&self, mut take: impl FnMut(f64)) {
        let flag = |set: bool| f64::from(u8::from(set));
        match self {
            Memory::Nothing => {}
            Memory::Impulse(own) => {
                [own.substeps, flag(own.missed)].into_iter().for_each(&mut take);
                own.tension.iter().chain(&own.shear).chain(&own.share).for_each(|n| take(*n));
            }
            Memory::Implicit(own) => {
                for contact in &own.contacts {
                    vectors(std::slice::from_ref(&contact.friction), &mut take);
                    [contact.pressure, f64::from(contact.solid)].into_iter().for_each(&mut take);
                }
                [own.last, own.next].into_iter().for_each(&mut take);
                own.past.iter().for_each(|list| vectors(list, &mut take));
            }
            Memory::Secant(own) => {
                take(own.last);
                own.fresh.iter().for_each(|fresh| take(flag(*fresh)));
                own.past.iter().for_each(|list| vectors(list, &mut take));
            }
        }
    }

    /// Takes as many numbers as it holds, in the order of [`Memory::each`].
    pub(super) fn fill(&mut self, mut next: impl FnMut() -> f64) {
        let fill = |list: &mut [DVec3], next: &mut dyn FnMut() -> f64| {
            list.iter_mut().for_each(|v| *v = DVec3::new(next(), next(), next()));
        };
        match self {
            Memory::Nothing => {}
            Memory::Impulse(own) => {
                (own.substeps, own.missed) = (next(), next() != 0.0);
                let lists = own.tension.iter_mut().chain(&mut own.shear).chain(&mut own.share);
                lists.for_each(|number| *number = next());
            }
            Memory::Implicit(own) => {
                for contact in &mut own.contacts {
                    fill(std::slice::from_mut(&mut contact.friction), &mut next);
                    (contact.pressure, contact.solid) = (next(), next() as u32);
                }
                (own.last, own.next) = (next(), next());
                own.past.iter_mut().for_each(|list| fill(list, &mut next));
            }
            Memory::Secant(own) => {
                own.last = next();
                own.fresh.iter_mut().for_each(|fresh| *fresh = next() != 0.0);
                own.past.iter_mut().for_each(|list| fill(list, &mut next));
            }
        }
    }
}

/// Whose memory a tag is of.
pub(super) const OWNERS: [&str; 4] =
    ["a method that remembers nothing", "the impulse methods", "the implicit methods", "`bdf2-secant`"];

fn vectors(list: &[DVec3], take: &mut impl FnMut(f64)) {
    list.iter().for_each(|v| v.to_array().into_iter().for_each(&mut *take));
}
