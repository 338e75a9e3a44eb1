//! What may touch in the memory of a card: finding it, answering it in sub-steps, and proving the motion of a window.

use crate::contact_plan::ContactPlan;
use crate::launch::{Room, blocks_of, for_each, functions, sharing};
use crate::layout::{Address, Box as Bounds, Contact, Found, Sheet, Solid, Touch};
use cudarc::driver::{
    CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DriverError, PushKernelArg,
};
use std::sync::Arc;
use taffeta::model::Model;

/// Room at first, in pairs of triangles, pairs of features, candidates and contacts for every triangle.
const AT_FIRST: [usize; 4] = [24, 48, 8, 4];
/// Triangles that a block of threads looks at, and its threads.
const WALKERS: (u32, u32) = (16, 128);
/// Threads of the block that joins boxes.
const JOINING: u32 = 1024;

functions! {
    look_ahead look_again grow_boxes join_boxes find_pairs find_features find_candidates calm weigh part gather go_on arrive prove learn stop_approach slow_down
}

/// What may touch on a card.
pub struct TouchOnCard {
    stream: Arc<CudaStream>,
    functions: Functions,
    touch: Touch,
    solids: CudaSlice<Solid>,
    pairs: CudaSlice<[i32; 2]>,
    features: CudaSlice<[i32; 4]>,
    candidates: CudaSlice<[i32; 4]>,
    contacts: CudaSlice<Contact>,
    by_features: bool,
    /// Sweeps over contacts after every sweep over edges.
    sweeps: u32,
}

impl TouchOnCard {
    /// Lays out what may touch in a model, with counters at an address.
    pub fn new(
        room: &mut Room,
        module: &Arc<CudaModule>,
        model: &Model,
        plan: &ContactPlan,
        found: Address,
    ) -> Result<Self, DriverError> {
        let (points, triangles) = (plan.object.len(), plan.triangles.len());
        let rooms = AT_FIRST.map(|each| each * triangles);
        let (pairs, features) = (room.zeros(rooms[0])?, room.zeros(rooms[1])?);
        let (candidates, contacts) = (room.zeros(rooms[2])?, room.zeros(rooms[3])?);
        let solids = room.zeros(plan.solids())?;
        let of = &model.params.collision;
        let boxes = room.zeros::<Bounds>(plan.boxes)?;
        let (start, ahead, grip) = (
            room.zeros::<[f64; 4]>(points)?,
            room.zeros::<[f32; 4]>(points)?,
            room.zeros::<[f32; 4]>(points)?,
        );
        let (moved, count) = (room.zeros::<i64>(3 * points)?, room.zeros::<i32>(points)?);
        let touch = Touch {
            object: room.keep_filled(&plan.object)?,
            kept: room.keep_filled(&plan.kept)?,
            solids: room.address(&solids),
            meetings: room.keep_filled(&plan.meetings)?,
            grown: room.keep_filled(&plan.grown)?,
            triangles: room.keep_filled(&plan.triangles)?,
            boxes: room.keep(boxes),
            start: room.keep(start),
            ahead: room.keep(ahead),
            pairs: room.address(&pairs),
            features: room.address(&features),
            candidates: room.address(&candidates),
            contacts: room.address(&contacts),
            moved: room.keep(moved),
            count: room.keep(count),
            grip: room.keep(grip),
            found,
            sewn_from: room.keep_filled(&plan.sewn_from)?,
            sewn: room.keep_filled(&plan.sewn)?,
            trees: plan.trees,
            reach: plan.reach as f32,
            near: plan.near as f32,
            beside: plan.beside as f32,
            parting: of.parting_speed as f32,
            hovers: of.hovers as f32,
            objects: plan.grown.len() as i32,
            solid_count: plan.solids() as i32,
            cloth_triangles: plan.cloth_triangles as i32,
            all_triangles: triangles as i32,
            meets_cloth: model.cloth_meets_cloth.into(),
            pair_room: rooms[0] as i32,
            feature_room: rooms[1] as i32,
            candidate_room: rooms[2] as i32,
            contact_room: rooms[3] as i32,
        };
        let functions = Functions::new(module)?;
        Ok(Self {
            stream: room.stream.clone(),
            functions,
            touch,
            solids,
            pairs,
            features,
            candidates,
            contacts,
            by_features: plan.by_features,
            sweeps: model.params.impulse.contact_sweeps,
        })
    }

    /// Tells where solids are in every sub-step; whether what was recorded has an old address.
    pub fn place_solids(&mut self, solids: &[Solid]) -> Result<bool, DriverError> {
        if solids.is_empty() {
            return Ok(false);
        }
        let grows = self.solids.len() < solids.len();
        if grows {
            self.solids = self.stream.alloc_zeros(2 * solids.len())?;
            self.touch.solids = self.solids.device_ptr(&self.stream).0;
        }
        self.stream.memcpy_htod(solids, &mut self.solids.slice_mut(..solids.len()))?;
        Ok(grows)
    }

    /// Makes room for all that was found; whether there was too little, so that what was recorded has an old address.
    pub fn make_room(&mut self, found: &Found) -> Result<bool, DriverError> {
        let touch = &mut self.touch;
        let more = |wanted: i32| (wanted as usize + wanted as usize / 2).min(i32::MAX as usize);
        let mut grows = false;
        if found.pairs > touch.pair_room {
            self.pairs = self.stream.alloc_zeros(more(found.pairs))?;
            (touch.pairs, touch.pair_room) = (self.pairs.device_ptr(&self.stream).0, self.pairs.len() as i32);
            grows = true;
        }
        if found.features > touch.feature_room {
            self.features = self.stream.alloc_zeros(more(found.features))?;
            (touch.features, touch.feature_room) =
                (self.features.device_ptr(&self.stream).0, self.features.len() as i32);
            grows = true;
        }
        if found.candidates > touch.candidate_room {
            self.candidates = self.stream.alloc_zeros(more(found.candidates))?;
            (touch.candidates, touch.candidate_room) =
                (self.candidates.device_ptr(&self.stream).0, self.candidates.len() as i32);
            grows = true;
        }
        if found.contacts > touch.contact_room {
            self.contacts = self.stream.alloc_zeros(more(found.contacts))?;
            (touch.contacts, touch.contact_room) =
                (self.contacts.device_ptr(&self.stream).0, self.contacts.len() as i32);
            grows = true;
        }
        Ok(grows)
    }

    /// Launches a kernel for every point.
    fn for_points(&self, function: &CudaFunction, sheet: &Sheet) -> Result<(), DriverError> {
        let mut launch = self.stream.launch_builder(function);
        launch.arg(sheet).arg(&self.touch);
        // SAFETY: kernels look at lists with a place for every point.
        unsafe { launch.launch(for_each(sheet.particles)) }?;
        Ok(())
    }

    /// Launches a kernel over a list whose length the device knows.
    fn over_list(&self, function: &CudaFunction, sheet: &Sheet) -> Result<(), DriverError> {
        let mut launch = self.stream.launch_builder(function);
        launch.arg(sheet).arg(&self.touch);
        // SAFETY: kernels go no further than there is room.
        unsafe { launch.launch(sharing()) }?;
        Ok(())
    }

    /// Finds what may meet in a window of some sub-steps that begins here.
    pub fn find(&self, sheet: &Sheet, substeps: i32) -> Result<(), DriverError> {
        let mut launch = self.stream.launch_builder(&self.functions.look_ahead);
        launch.arg(sheet).arg(&self.touch).arg(&substeps);
        // SAFETY: every point has its places.
        unsafe { launch.launch(for_each(sheet.particles)) }?;
        self.find_candidates(sheet, &self.touch)
    }

    /// Finds what may meet on the way that was gone.
    pub fn find_again(&self, sheet: &Sheet) -> Result<(), DriverError> {
        self.for_points(&self.functions.look_again, sheet)?;
        // Contacts stay those that were listed.
        self.find_candidates(sheet, &Touch { near: f32::NEG_INFINITY, ..self.touch })
    }

    fn find_candidates(&self, sheet: &Sheet, touch: &Touch) -> Result<(), DriverError> {
        let functions = &self.functions;
        let mut launch = self.stream.launch_builder(&functions.grow_boxes);
        launch.arg(touch);
        // SAFETY: every triangle has a box, and every eight of them.
        unsafe { launch.launch(for_each(touch.all_triangles)) }?;
        let mut launch = self.stream.launch_builder(&functions.join_boxes);
        launch.arg(touch);
        // SAFETY: trees name boxes that there are.
        unsafe { launch.launch(blocks_of(1, JOINING)) }?;
        let mut launch = self.stream.launch_builder(&functions.find_pairs);
        launch.arg(touch);
        // SAFETY: as above; pairs go no further than there is room.
        unsafe {
            launch.launch(blocks_of((touch.cloth_triangles as u32).div_ceil(WALKERS.0).max(1), WALKERS.1))
        }?;
        let mut launch = self.stream.launch_builder(&functions.find_features);
        launch.arg(touch);
        // SAFETY: kernels go no further than there is room.
        unsafe { launch.launch(sharing()) }?;
        let mut launch = self.stream.launch_builder(&functions.find_candidates);
        launch.arg(sheet).arg(touch);
        // SAFETY: kernels go no further than there is room.
        unsafe { launch.launch(sharing()) }?;
        Ok(())
    }

    /// Begins sweeps: nothing was done yet.
    pub fn calm(&self, sheet: &Sheet) -> Result<(), DriverError> {
        self.for_points(&self.functions.calm, sheet)
    }

    /// Answers all contacts in a sub-step, or in a sweep with bodies `at_rest`. Where particles alone meet solids, only sweeps answer features: what the guard has
    /// found.
    pub fn answer(&self, sheet: &Sheet, at_rest: bool) -> Result<(), DriverError> {
        let by_features = self.by_features || at_rest;
        let rounds = if by_features { self.sweeps } else { 1 };
        if by_features {
            self.weigh(sheet, !at_rest)?;
        }
        for round in 1..=rounds {
            if by_features {
                self.over_list(&self.functions.part, sheet)?;
            }
            let (at_rest, last) = (i32::from(at_rest), i32::from(round == rounds));
            let mut launch = self.stream.launch_builder(&self.functions.gather);
            launch.arg(sheet).arg(&self.touch).arg(&at_rest).arg(&last);
            // SAFETY: every point has its places, and solids are there for every sub-step.
            unsafe { launch.launch(for_each(sheet.particles)) }?;
        }
        Ok(())
    }

    fn weigh(&self, sheet: &Sheet, first: bool) -> Result<(), DriverError> {
        let first = i32::from(first);
        let mut launch = self.stream.launch_builder(&self.functions.weigh);
        launch.arg(sheet).arg(&self.touch).arg(&first);
        // SAFETY: it goes no further than there is room.
        unsafe { launch.launch(sharing()) }?;
        Ok(())
    }

    /// Ends a sub-step.
    pub fn go_on(&self, sheet: &Sheet) -> Result<(), DriverError> {
        self.for_points(&self.functions.go_on, sheet)
    }

    /// Begins sweeps that answer what the guard has found.
    pub fn begin_learning(&self, sheet: &Sheet) -> Result<(), DriverError> {
        let mut launch = self.stream.launch_builder(&self.functions.learn);
        launch.arg(sheet);
        // SAFETY: it writes what the sheet has.
        unsafe { launch.launch(blocks_of(1, 1)) }?;
        self.calm(sheet)
    }

    /// Ends them: what they have pushed apart comes no nearer.
    pub fn end_learning(&self, sheet: &Sheet) -> Result<(), DriverError> {
        self.weigh(sheet, false)?;
        self.over_list(&self.functions.stop_approach, sheet)?;
        self.for_points(&self.functions.slow_down, sheet)
    }

    /// Tries to prove the motion of the window to where particles are.
    pub fn prove(&self, sheet: &Sheet) -> Result<(), DriverError> {
        self.for_points(&self.functions.arrive, sheet)?;
        self.over_list(&self.functions.prove, sheet)
    }
}
