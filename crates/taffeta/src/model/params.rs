//! The tuned numbers of the methods, each with what it does. `taffeta bench params` measures what happens at half and at twice of each; docs/params.md has the
//! tables, and which experiment fixed a number.
//!
//! Most have no unit. One that has is as it was tuned, for frames of 1/30 s and 1 m² of cloth 0.5 mm thick, and says after `=>` which of the [`Scales`] of a scene
//! it goes with: so the numbers of a scene follow from the scene, and no unit that a user may choose is hidden in them.

use super::scales::Scales;

/// Declares parameters with their defaults, and the scale that they go with if they have a unit; each can be reached by its name.
macro_rules! params {
    ($(#[$about:meta])* $group:ident { $($(#[$doc:meta])* $name:ident: $kind:ty = $value:expr $(=> $scale:ident)?,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[non_exhaustive]
        pub struct $group { $($(#[$doc])* pub $name: $kind,)* }

        impl Default for $group {
            fn default() -> Self {
                Self { $($name: $value,)* }
            }
        }

        impl $group {
            /// The names of all of them.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// Multiplies the one of a name; whole numbers are rounded, and at least 1. Whether there is such a name.
            pub fn scale(&mut self, name: &str, factor: f64) -> bool {
                match name {
                    $(stringify!($name) => self.$name = self.$name.scaled(factor),)*
                    _ => return false,
                }
                true
            }

            /// Makes them those of a scene from those for which they were tuned.
            fn fit(&mut self, _scales: &Scales) {
                $($(self.$name *= _scales.$scale();)?)*
            }
        }
    };
}

/// A number that can be made larger or smaller.
trait Scale {
    fn scaled(self, factor: f64) -> Self;
}

impl Scale for f64 {
    fn scaled(self, factor: f64) -> Self {
        self * factor
    }
}

impl Scale for u32 {
    fn scaled(self, factor: f64) -> Self {
        (f64::from(self) * factor).round().max(1.0) as u32
    }
}

/// All parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Params {
    /// Of all methods.
    pub common: CommonParams,
    /// Of the impulse methods.
    pub impulse: ImpulseParams,
    /// Of backward Euler and BDF2.
    pub implicit: ImplicitParams,
    /// Of Verlet and its variant with secants.
    pub verlet: VerletParams,
    /// Of extended position-based dynamics.
    pub xpbd: XpbdParams,
    /// Of vertex block descent.
    pub vbd: VbdParams,
    /// Of projective dynamics.
    pub projective: ProjectiveParams,
    /// Of the barrier method.
    pub barrier: BarrierParams,
    /// Of contact and CCD, for all methods.
    pub collision: CollisionParams,
}

impl Params {
    /// The groups by name, with the names of their parameters.
    pub const GROUPS: &[(&str, &[&str])] = &[
        ("common", CommonParams::NAMES),
        ("impulse", ImpulseParams::NAMES),
        ("implicit", ImplicitParams::NAMES),
        ("verlet", VerletParams::NAMES),
        ("xpbd", XpbdParams::NAMES),
        ("vbd", VbdParams::NAMES),
        ("projective", ProjectiveParams::NAMES),
        ("barrier", BarrierParams::NAMES),
        ("collision", CollisionParams::NAMES),
    ];

    /// Multiplies the parameter of a name in a group; whole numbers are rounded, and at least 1. Whether there is one.
    pub fn scale(&mut self, group: &str, name: &str, factor: f64) -> bool {
        match group {
            "common" => self.common.scale(name, factor),
            "impulse" => self.impulse.scale(name, factor),
            "implicit" => self.implicit.scale(name, factor),
            "verlet" => self.verlet.scale(name, factor),
            "xpbd" => self.xpbd.scale(name, factor),
            "vbd" => self.vbd.scale(name, factor),
            "projective" => self.projective.scale(name, factor),
            "barrier" => self.barrier.scale(name, factor),
            "collision" => self.collision.scale(name, factor),
            _ => false,
        }
    }

    /// Those of a scene with these scales.
    pub fn of(scales: &Scales) -> Self {
        let mut params = Self::default();
        params.common.fit(scales);
        params.impulse.fit(scales);
        params.implicit.fit(scales);
        params.verlet.fit(scales);
        params.xpbd.fit(scales);
        params.vbd.fit(scales);
        params.projective.fit(scales);
        params.barrier.fit(scales);
        params.collision.fit(scales);
        params
    }
}

params! {
    /// Of all methods.
    CommonParams {
        /// What stands for gravity where there is none [m/s²].
        weightless: f64 = 9.81 => acceleration,
        /// Iterations in which methods that move positions answer what CCD has found at the end of a window, in each round.
        learned_iterations: u32 = 10,
        /// Where CCD still strains an edge by so much more of its length, these methods take a step again in shorter windows [1].
        disturbing_strain: f64 = 0.05,
        /// How often.
        disturbed_retries: u32 = 1,
        /// Share of that strain beyond which what shorter windows leave is no better [1].
        disturbing_share: f64 = 0.7,
    }
}

params! {
    /// Of the impulse methods.
    ImpulseParams {
        /// Share of h² f / m by which a force displaces a particle in a sub-step, while its velocity changes by h f / m [1]. With 1 (as in P1 and P2, and for particles
        /// in contact, torn apart, corrected edge by edge or too seldom) a swing of angular frequency ω loses the share ω h of its energy per radian; with less
        /// as much less. Below 1/2 it is not stable.
        displacement_share: f64 = 0.6,
        /// The same of cloth that touches something and is as good as at rest [1]: trembling of neighbours against one another, which lengths answered in turn keep up,
        /// loses all of its energy within some sub-steps, slow motion hardly any. Less than 1, which tells a contact.
        share_at_rest: f64 = 0.99,
        /// Particles of such cloth gain no more speed in a sub-step than their weight gives them, or this share of it if they touch [1]: more comes of contacts that are
        /// listed anew and of lengths that are put right, again and again.
        weight_at_rest: f64 = 0.1,
        /// Share of its tension that an edge starts a sub-step with [1]; the solve finds the rest again. Bends and friction answer a pull only after it has moved the
        /// strip. With all of the tension kept, a strip that hangs trembles for ever and a belt is shaken off its drum; with three tenths, a taut row between two
        /// pins is lost.
        warm_start: f64 = 0.5,
        /// The same where edges are corrected one by one, which finds less of it again [1].
        warm_start_by_edges: f64 = 0.9,
        /// Strain at the start of a step beyond which edges are put right without giving their error a velocity [1].
        infeasible_strain: f64 = 0.1,
        /// Sweeps over contacts of features after every sweep over edges.
        contact_sweeps: u32 = 4,
        /// An error that edges have at the start of a sub-step goes within this time [s], of tolerances below 1 % within as much less of it
        /// ([`ImpulseParams::error_time_at`]) but where edges are corrected one by one. At once it would make the more velocity the shorter the sub-step.
        error_time: f64 = 1e-3 => time,
        /// How often in a step forces of the air are renewed.
        air_renewals: u32 = 4,
        /// Hard edges stretch, and stitches open, by the whole tolerance under a force of this many times the weight of their cloth and all free bodies [1]. Much less and tolerances are missed; much more
        /// and the tension of straight strips between pins runs away.
        load: f64 = 90.0,
        /// Edges that may stretch do so up to this share of the tolerance [1]; what is left of it is for errors.
        stretch_share: f64 = 0.6,
        /// A straight strip between pins sags to carry its load: the force in it grows with the root of one over its strain, which counts below this strain [1].
        sag_strain: f64 = 1e-4,
        /// Where bends are answered one by one, particles count as so many times as mobile [1]: along a row in which all turn to and fro that is what they are for one
        /// of them. With 1 a sweep over stiff ones gains energy.
        bend_mobility: f64 = 8.0 / 3.0,
        /// Sweeps over single edges that do about as much as one over strips.
        sweeps_of_edges: u32 = 30,
        /// Sweeps that answer contacts which CCD has found, in each of its rounds.
        learning_sweeps: u32 = 8,
        /// So many of them are few, and are answered where they are.
        few_learned: u32 = 64,
        /// Sweeps that answer few of them.
        nearby_sweeps: u32 = 16,
        /// How far a sewn seam may be open at the end of a step [m].
        seam_tolerance: f64 = 0.5e-3 => size,
        /// What is open of a seam at the start of a sub-step closes within this time [s]; at once it would make a velocity out of nothing.
        stitch_closing_time: f64 = 1e-3 => time,
        /// The speed at which it closes at most [m/s]: a seam that something keeps open does not pull the harder the wider it is.
        stitch_closing_speed: f64 = 2.0 => speed,
        /// Seams that are further open at the end of a step are not closed by its last sweeps [m]: something keeps them open.
        closed_by_sweeps: f64 = 4e-3 => size,
        /// A hand that gives way goes no faster [m/s].
        hand_speed: f64 = 2.0 => speed,
        /// It pulls no harder than what gives its cloth this acceleration [m/s²].
        hand_acceleration: f64 = 20.0 => acceleration,
        /// A hand that is further than this from its place has given way before [m].
        hand_away: f64 = 1e-6 => size,
        /// How often what CCD has stretched is brought back to tolerance.
        mends: u32 = 3,
        /// The most sweeps that bring the end of a step to its tolerance.
        last_sweeps: u32 = 300,
        /// How many of them may pass without gaining a tenth.
        stalled_sweeps: u32 = 60,
        /// What is left of the slowest error when all strips are answered at once [1]: Chebyshev's polynomials over-relax the last sweeps by it.
        spectral_radius: f64 = 0.995,
        /// After so many sweeps that gained nothing there is no over-relaxation: crumpled cloth has errors that the polynomials do not know.
        relaxed_sweeps: u32 = 15,
        /// In the last sweeps edges may give by this share of the tolerance [1].
        last_give: f64 = 0.5,
        /// Share of the kinetic energy that added mass should have at most [1].
        added_mass: f64 = 0.03,
        /// The share at which a step is taken again [1].
        added_mass_lost: f64 = 0.5,
        /// Speed below which motion does not count for these shares, over √(size × g) [1].
        slow_speed: f64 = 0.105,
        /// The longest sub-step over √(size / g) [1]: a swing keeps nine tenths of its energy over some periods.
        swing_substep: f64 = 0.00523,
        /// The longest sub-step over √(m / k) of shear [1]: one sweep over a stiffer one leaves energy in it.
        shear_substep: f64 = 2.5,
        /// The longest sub-step over √(m / k) of bends with internal friction [1]: in longer ones their anchors slip, and cloth hangs as if it were limp.
        rubbing_bend_substep: f64 = 0.4,
        /// The longest sub-step [s].
        longest_substep: f64 = 1.0 / 60.0 => time,
        /// The shortest that shear alone makes necessary [s].
        shortest_for_shear: f64 = 1.0 / 3000.0 => time,
        /// Strain before the last sweeps at which a step is taken again [1].
        infeasible_end: f64 = 0.3,
        /// How many last sweeps ask for shorter sub-steps, where a sweep costs about a fifth of a sub-step.
        many_sweeps: u32 = 60,
        /// The same where it costs much of one: where it asks for contacts too, or is many over single edges.
        many_dear_sweeps: u32 = 20,
        /// Share of the sub-steps that last sweeps have to be for more sub-steps to be worth it [1].
        sweeps_worth_substeps: f64 = 0.1,
        /// How often a step is taken again whose motion cannot be trusted.
        retries_lost: u32 = 6,
        /// How often one is taken again that only missed its tolerance.
        retries_missed: u32 = 2,
        /// Strain at the start of a step, at least twice the tolerance, beyond which it is not taken again if the step before missed its lengths [1].
        forced_strain: f64 = 0.05,
        /// More sub-steps from one try to the next [1].
        retry_factor: f64 = 1.6,
        /// The most sub-steps in a step.
        most_substeps: u32 = 1024,
    }
}

/// The tolerance from which on [`ImpulseParams::error_time`] is that of errors of length [1].
const EASED_TOLERANCE: f64 = 0.01;

impl ImpulseParams {
    /// The time within which errors of length go at a `tolerance` [1], in [s]. Errors go with the tolerance, so the velocity that they make stays the same. In a time
    /// that is long beside a sub-step, what a sweep leaves undone adds up to more than a small tolerance, and the last sweeps hold up what has sunk by it.
    pub fn error_time_at(&self, tolerance: f64) -> f64 {
        self.error_time * (tolerance / EASED_TOLERANCE).min(1.0)
    }

    /// The share of such an error that a sub-step of `h` [s] leaves [1].
    pub fn error_left(&self, h: f64, tolerance: f64) -> f64 {
        (1.0 - h / self.error_time_at(tolerance)).max(0.0)
    }
}

params! {
    /// Of backward Euler and BDF2.
    ImplicitParams {
        /// The longest sub-step that is taken unasked [s]: stable at any, but the shorter the less is damped.
        longest_substep: f64 = 1.0 / 90.0 => time,
        /// The same where bodies move freely [s]: cloth learns only in the next sub-step how heavy they are.
        longest_with_bodies: f64 = 1.0 / 2000.0 => time,
        /// The most sub-steps that a step is cut into where the program chooses.
        most_substeps: u32 = 4096,
        /// By how much more an edge may be strained after a sub-step in which something touches than before it [1].
        strain_jump: f64 = 0.05,
        /// Share of a larger jump that sub-steps of a quarter may leave at most; where they leave more, something forces it [1].
        forced_jump: f64 = 0.7,
        /// The strain beyond which no step in which something touches is taken for converged [1].
        largest_strain: f64 = 0.5,
        /// How often a step is taken again in twice as many sub-steps, if a jump is too large or contacts have not found their forces.
        retries: u32 = 3,
        /// Residual at which the linear system is taken for solved, relative to that of unchanged velocities (P4's stopping rule) [1].
        linear_tolerance: f64 = 2e-2,
        /// The same where something touches: friction needs to know the pressure [1].
        linear_tolerance_in_contact: f64 = 1e-3,
        /// Iterations of conjugate gradients at most.
        most_iterations: u32 = 1000,
        /// How often contacts are asked whether they push, stick or slide.
        most_passes: u32 = 32,
        /// Share of all pressure, and of all friction that there can be, by which forces of contacts may be wrong [1].
        contact_error: f64 = 0.02,
        /// The same share at which the limits of friction follow the pressures [1].
        settled: f64 = 0.1,
        /// Share of the slope at the start of a pass by which energy has to fall along all of it [1].
        downhill: f64 = 1e-3,
        /// Share of the slope at the start of a pass below which energy is as low as it gets along the line [1].
        flat_slope: f64 = 0.1,
        /// How often that place is bracketed.
        most_bisections: u32 = 20,
        /// By which share of its length the turn of an edge may make it longer than the system knows before another Newton step follows [1].
        newton_turn: f64 = 0.003,
        /// The most Newton steps that follow the first for that reason.
        newton_unasked: u32 = 3,
        /// Residual at which Newton's steps end, relative to that of unchanged velocities [1].
        newton_solved: f64 = 1e-6,
        /// The residual that they must reach [1].
        newton_needed: f64 = 1e-2,
        /// How often a Newton step is halved.
        most_halvings: u32 = 8,
        /// How much stiffer than what is around it a contact with a solid is [1].
        contact_stiffness: f64 = 4.0,
        /// The same of features, many of which share their particles [1].
        feature_stiffness: f64 = 0.1,
        /// Share of the distance by which a point may be too near without being moved out [1].
        allowed_depth: f64 = 0.01,
        /// How many distances away a point that touched is still looked at [1].
        looked_at: f64 = 2.0,
        /// Sweeps over contacts of features after a sub-step: they know no lengths.
        contact_sweeps: u32 = 2,
        /// The same where bodies move freely, which no system has.
        contact_sweeps_with_bodies: u32 = 8,
    }
}

params! {
    /// Of Verlet and its variant with secants.
    VerletParams {
        /// Share of the stability limit that is used [1]: the cloth moves on before the limit is renewed.
        safety: f64 = 0.9,
        /// Sub-steps after which the limit is renewed.
        renewed_after: u32 = 64,
        /// Sub-steps over which forces of the air are held: they change within milliseconds, springs within microseconds.
        air_held: u32 = 8,
        /// The most sub-steps in a step.
        most_substeps: u32 = 1_000_000,
        /// Iterations of a sub-step with secants.
        secant_iterations: u32 = 100,
        /// The change of velocity at which they end, relative to that by all forces [1].
        secant_settled: f64 = 1e-6,
    }
}

params! {
    /// Of extended position-based dynamics.
    XpbdParams {
        /// The longest sub-step that is taken unasked [s]. In 1/1500 s a light ball that hits a heavy sheet of 0.4 m presses into strains 1.4 times the energy
        /// that there was.
        longest_substep: f64 = 1.0 / 2250.0 => time,
        /// What one iteration in a sub-step leaves undone makes hanging cloth longer: by about g h² N² / 2 where N edges hang one below the other. Sub-steps are so
        /// short that this is the tolerance times this share of the length [1].
        left_undone: f64 = 0.025,
    }
}

params! {
    /// Of vertex block descent.
    VbdParams {
        /// The longest sub-step that is taken unasked [s].
        longest_substep: f64 = 1.0 / 1500.0 => time,
        /// What one iteration leaves undone acts as mass, h² ∂²E/∂x², and lengthens hanging cloth while it swings, as that of `xpbd` does
        /// ([`XpbdParams::left_undone`]) [1].
        left_undone: f64 = 0.05,
    }
}

params! {
    /// Of projective dynamics.
    ProjectiveParams {
        /// The longest sub-step that is taken unasked [s]. The matrix has every spring as stiff across as along. A motion that stretches little but would be
        /// resisted much across, as shear, is corrected by a part only in each iteration: until then cloth is too soft for it, and takes up energy that it did
        /// not have.
        longest_substep: f64 = 1.0 / 2000.0 => time,
        /// Iterations in a sub-step. A kicked sheet of 12 by 12 gains no energy with 4 in 1/2000 s or 10 in 1/1000 s, 8 % with 3 in 1/2000 s, a half with 5 in
        /// 1/1000 s.
        iterations: u32 = 5,
    }
}

params! {
    /// Of the barrier method.
    BarrierParams {
        /// The longest sub-step that is taken unasked [s].
        longest_substep: f64 = 1.0 / 90.0 => time,
        /// A contact barrier has this many times the energy that the mean particle of the lighter cloth has over its reach [1]: the larger, the less what lies
        /// sinks in under a load.
        contact_load: f64 = 3e3,
        /// Share of the tolerance from which on edges meet a barrier [1].
        strain_from: f64 = 0.5,
        /// This barrier has so many times the energy that the weight of the cloth has over an edge stretched by the tolerance [1].
        strain_load: f64 = 1.0,
        /// Speed below which friction holds [m/s]: the slower, the less what lies on a slope creeps.
        friction_speed: f64 = 3e-7 => slow_speed,
        /// How often friction follows pushes in a sub-step at most.
        friction_rounds: u32 = 16,
        /// Share of all friction that there can be at which it is taken for right [1].
        friction_error: f64 = 1e-8,
        /// The share by which it may be wrong after all these rounds, or after many Newton steps [1].
        friction_told: f64 = 0.02,
        /// A Newton step that changes no velocity by more than this is the last [m/s].
        settled_speed: f64 = 1e-6 => speed,
        /// So many Newton steps are many.
        patience: u32 = 70,
        /// The same change after many Newton steps [m/s].
        settled_late: f64 = 1e-4 => speed,
        /// Once Newton steps change no velocity by more than this, friction follows them [m/s].
        nearly_settled: f64 = 1e-3 => speed,
        /// Newton steps at most.
        most_steps: u32 = 150,
        /// Newton steps at most in which led things are still under way.
        most_led_steps: u32 = 30,
        /// Residual at which their linear systems are taken for solved, relative to that of the start [1].
        linear_tolerance: f64 = 1e-2,
        /// Iterations of conjugate gradients at most.
        most_iterations: u32 = 2000,
        /// Share of the slope at the start of a Newton step by which energy may rise where it ends [1].
        flat_slope: f64 = 0.1,
        /// Share of that slope which asks for twice the step if all of it is left there [1].
        steep_slope: f64 = 0.5,
        /// Share that is gone of the way to a bound [1].
        backed_off: f64 = 0.9,
        /// How often a Newton step is halved.
        most_halvings: u32 = 40,
        /// How often a step is taken again in twice as many sub-steps, if it does not settle or its straight way is not free.
        retries: u32 = 2,
    }
}

params! {
    /// Of contact and CCD, for all methods.
    CollisionParams {
        /// How far particles may move against each other in a window, as a share of the longest edge [1]: contacts are found at its start.
        window_reach: f64 = 0.25,
        /// Where a method answers what CCD finds and no body moves freely, most particles of cloth that is no heap may move by so many times that [1]; few fast ones may not.
        learners_further: f64 = 2.0,
        /// Where nothing is near when such a window has begun, so many times further still [1], if that is to the end of the step: there are no normals that get old.
        free_further: f64 = 4.0,
        /// So many layers on a body are a heap.
        heap_depth: u32 = 4,
        /// The same in a heap, as a share of the thickness of the thinnest cloth [1].
        heap_reach: f64 = 8.0,
        /// One in so many particles may be faster: a hand that pulls at one point shall not make all of the cloth slow.
        few_particles: u32 = 50,
        /// By so many times [1].
        few_faster: f64 = 8.0,
        /// How far pairs at the end of a window reach beyond the distances that are kept, as a share of the longest edge [1]: CCD may move points by half of it.
        pad: f64 = 0.05,
        /// The same as a share of the thickness of the thinnest cloth [1]; the smaller of both counts.
        pad_of_thickness: f64 = 1.0,
        /// Pairs at its start reach so many times as far [1]: what the method then does seldom makes it necessary to find them anew.
        foresight: f64 = 3.0,
        /// Share of that within which contacts are listed [1]: what comes from further away CCD finds.
        listed: f64 = 0.25,
        /// Rounds of CCD in which the method answers what would meet as contacts, together with lengths.
        learning_rounds: u32 = 12,
        /// Rounds of CCD in which features that would meet are pushed apart; then zones move together.
        pushes: u32 = 4,
        /// Rounds of CCD in all.
        rounds: u32 = 64,
        /// Sweeps over contacts end when none of them moves features by more than this share of the thickness of the thinnest cloth [1].
        settled: f64 = 1e-3,
        /// Features that are too near part no faster than this, so that they do not jump [m/s].
        parting_speed: f64 = 0.2 => slow_speed,
        /// Cloth that intersects is pulled apart at this speed [m/s].
        untangling_speed: f64 = 0.1 => slow_speed,
        /// Until then cloth that has gone through a surface is led back [s]. What is caught, because it is too tight, would tremble for ever.
        leading_back: f64 = 0.5 => time,
        /// Bodies keep this from one another beyond their radii [m].
        body_skin: f64 = 5e-4 => bodies,
        /// Impacts of bodies slower than this do not bounce [m/s].
        bounce_speed: f64 = 0.2 => speed,
        /// Sweeps over contacts of bodies end when none of them changes a velocity by more than this [m/s].
        still_speed: f64 = 1e-7 => slow_speed,
        /// What is not further apart than so many times the distance kept still counts as touching [1]: contacts that share points lift one another a little.
        hovers: f64 = 1.2,
    }
}
