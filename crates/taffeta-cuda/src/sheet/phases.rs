//! The phases of a step as launches: sub-steps, windows of contact, last sweeps; most of them recorded and launched as one.

use super::{SMALL_BLOCK, SheetOnCard};
use crate::device::failed;
use crate::error::CudaError;
use crate::launch::{BLOCK, blocks_of, for_each};
use crate::layout::{Control, Group, Told};
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode, cudaError_enum};
use cudarc::driver::{CudaFunction, CudaGraph, DriverError, PushKernelArg};

/// Sub-steps that are launched at once, where there are as many.
pub const BUNDLE: u32 = 8;
/// Windows have one sub-step, two, four or eight.
const WINDOWS: u32 = 4;
/// Last sweeps that are launched at once; those after the last that is needed do nothing.
const SWEEPS: u32 = 4;
/// Sweeps that answer what the guard has found, before it looks again.
const LEARNING_SWEEPS: u32 = 2;
/// Blocks that measure strain at most.
const MEASURING: u32 = 264;

/// What is launched as one.
pub struct Graphs {
    /// Sub-steps: one, and as many as there are at most, or as a window of contact has: one, two, four, eight, after what may meet was found.
    substeps: Vec<CudaGraph>,
    /// Some last sweeps.
    sweeps: CudaGraph,
    /// The proof of a window, and sweeps that answer what it has found.
    proof: Option<[CudaGraph; 2]>,
}

impl SheetOnCard {
    /// Measures strain, and judges it at a stage.
    pub(super) fn measure(&self, sweeping: i32, stage: i32) -> Result<(), DriverError> {
        let (sheet, functions) = (&self.sheet, &self.functions);
        let blocks = (sheet.edges as u32).div_ceil(BLOCK).clamp(1, MEASURING);
        let mut launch = self.stream.launch_builder(&functions.strain);
        launch.arg(sheet).arg(&sweeping);
        // SAFETY: it reads what the sheet has.
        unsafe { launch.launch(blocks_of(blocks, BLOCK)) }?;
        let mut launch = self.stream.launch_builder(&functions.judge);
        launch.arg(sheet).arg(&stage);
        // SAFETY: as above.
        unsafe { launch.launch(blocks_of(1, 1)) }?;
        Ok(())
    }

    /// Launches a kernel for every lane of a group, with what else it is told.
    fn along(&self, function: &CudaFunction, group: &Group, told: Option<&i32>) -> Result<(), DriverError> {
        let mut launch = self.stream.launch_builder(function);
        launch.arg(&self.sheet).arg(group);
        if let Some(told) = told {
            launch.arg(told);
        }
        // SAFETY: one block for every lane, with as many threads as the kernels were compiled for.
        unsafe { launch.launch(blocks_of(group.lanes as u32, self.threads)) }?;
        Ok(())
    }

    /// All phases of `count` sub-steps.
    fn substeps(&self, count: u32) -> Result<(), DriverError> {
        let (sheet, functions) = (&self.sheet, &self.functions);
        let Some((first, others)) = self.hard.split_first() else { return Ok(()) };
        let parts = (sheet.particles as u32).div_ceil(SMALL_BLOCK);
        for k in 0..count as i32 {
            let mut launch = self.stream.launch_builder(&functions.pull);
            launch.arg(sheet).arg(&k);
            // SAFETY: sums have room for a bundle of parts.
            unsafe { launch.launch(blocks_of(parts, SMALL_BLOCK)) }?;
            for bends in &self.lone {
                let mut launch = self.stream.launch_builder(&functions.lone_bend);
                launch.arg(sheet).arg(&bends.points).arg(&bends.turns).arg(&self.bend_mobility);
                launch.arg(&bends.count);
                // SAFETY: bends name particles of the sheet.
                unsafe { launch.launch(for_each(bends.count)) }?;
            }
            // As in the engine the last group bends where its lengths are kept.
            let bent = &self.hard[..others.len().max(1)];
            for group in bent.iter().filter(|group| group.bend != 0) {
                self.along(&functions.bends, group, None)?;
            }
            for group in &self.soft {
                self.along(&functions.shear, group, None)?;
            }
            self.pull_stitches(k, false)?;
            for (number, group) in others.iter().enumerate().rev() {
                let bends = i32::from(number + 1 == others.len());
                self.along(&functions.lengths, group, Some(&bends))?;
            }
            match &self.touch {
                None => self.along(&functions.advance, first, Some(&k))?,
                Some(touch) => {
                    self.along(&functions.lengths, first, Some(&0))?;
                    touch.answer(sheet, false)?;
                    touch.go_on(sheet)?;
                }
            }
        }
        let (parts, count) = (parts as i32, count as i32);
        let mut launch = self.stream.launch_builder(&functions.tally_up);
        launch.arg(sheet).arg(&parts).arg(&count);
        // SAFETY: sums have room for a bundle.
        unsafe { launch.launch(blocks_of(1, BLOCK)) }?;
        Ok(())
    }

    /// Some last sweeps.
    fn last_sweeps(&self) -> Result<(), DriverError> {
        for _ in 0..SWEEPS {
            self.pull_stitches(0, true)?;
            for group in self.hard.iter().rev() {
                self.along(&self.functions.last_lengths, group, None)?;
            }
            if let Some(touch) = &self.touch {
                touch.answer(&self.sheet, true)?;
            }
            self.measure(1, 2)?;
        }
        Ok(())
    }

    /// Sweeps over lengths and contacts, whatever they gain.
    fn learning_sweeps(&self) -> Result<(), DriverError> {
        let Some(touch) = &self.touch else { return Ok(()) };
        touch.begin_learning(&self.sheet)?;
        for _ in 0..LEARNING_SWEEPS {
            self.pull_stitches(0, true)?;
            for group in self.hard.iter().rev() {
                self.along(&self.functions.last_lengths, group, None)?;
            }
            touch.answer(&self.sheet, true)?;
        }
        touch.end_learning(&self.sheet)?;
        touch.prove(&self.sheet)
    }

    /// Records what is to be launched as one.
    fn recorded(
        &self,
        work: impl FnOnce(&Self) -> Result<(), DriverError>,
    ) -> Result<CudaGraph, DriverError> {
        self.stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        let launched = work(self);
        let graph = self.stream.end_capture(CUgraphInstantiate_flags(0));
        launched.and(graph)?.ok_or(DriverError(cudaError_enum::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED))
    }

    pub(super) fn make_graphs(&mut self) -> Result<(), CudaError> {
        if self.graphs.is_none() {
            let failed = failed(&self.name, "recording the kernels");
            self.graphs = Some(self.record().map_err(failed)?);
        }
        Ok(())
    }

    fn record(&self) -> Result<Graphs, DriverError> {
        let sweeps = self.recorded(Self::last_sweeps)?;
        let Some(touch) = &self.touch else {
            let substeps = [1, BUNDLE].into_iter().map(|count| self.recorded(|sheet| sheet.substeps(count)));
            return Ok(Graphs { substeps: substeps.collect::<Result<_, _>>()?, sweeps, proof: None });
        };
        let window = |substeps: u32| {
            self.recorded(|sheet| {
                touch.find(&sheet.sheet, substeps as i32)?;
                // Contacts know a sub-step by how many there were before.
                (0..substeps).try_for_each(|_| sheet.substeps(1))
            })
        };
        let substeps = (0..WINDOWS).map(|k| window(1 << k)).collect::<Result<_, _>>()?;
        let proof =
            [self.recorded(|sheet| touch.prove(&sheet.sheet))?, self.recorded(Self::learning_sweeps)?];
        Ok(Graphs { substeps, sweeps, proof: Some(proof) })
    }

    /// Takes so many sub-steps where nothing touches.
    pub fn go(&mut self, count: u32) -> Result<(), CudaError> {
        let failed = failed(&self.name, "launching sub-steps");
        let Some(Graphs { substeps, .. }) = &self.graphs else { return Ok(()) };
        let bundles = (0..count / BUNDLE).map(|_| &substeps[1]);
        let singles = (0..count % BUNDLE).map(|_| &substeps[0]);
        bundles.chain(singles).try_for_each(CudaGraph::launch).map_err(failed)
    }

    /// Takes a window of at most so many sub-steps, for which it finds what may meet; how many it has.
    pub fn go_window(&mut self, most: u32) -> Result<u32, CudaError> {
        let failed = failed(&self.name, "launching a window");
        let k = most.max(1).ilog2().min(WINDOWS - 1);
        let mut graph = self.graphs.iter().map(|graphs| &graphs.substeps[k as usize]);
        graph.try_for_each(CudaGraph::launch).map_err(failed)?;
        Ok(1 << k)
    }

    /// What all sub-steps came to, and the strain at their end.
    pub fn conclude(&mut self) -> Result<Control, CudaError> {
        let failed = failed(&self.name, "taking sub-steps");
        self.measure(0, 1).map_err(&failed)?;
        self.told().map(|told| told.control).map_err(failed)
    }

    fn told(&self) -> Result<Told, DriverError> {
        let mut told = [Told::new()];
        self.stream.memcpy_dtoh(&self.told, &mut told)?;
        self.stream.synchronize()?;
        Ok(told[0])
    }

    /// Sweeps from what is `told` until all is within the `tolerance` or nothing is gained. Where seams cannot be closed, or are open by more than sweeps close
    /// [m], lengths are kept without them.
    pub fn sweep(&mut self, told: Control, tolerance: f64, closed: f64) -> Result<Control, CudaError> {
        let failed = failed(&self.name, "sweeping");
        let mut sweep = || -> Result<Control, DriverError> {
            if self.sheet.stitch_count == 0 || told.given_up != 0 {
                return self.sweep_on();
            }
            self.keep_ways(0)?;
            if told.opening <= closed {
                let told = self.sweep_on()?;
                if told.error <= tolerance {
                    return Ok(told);
                }
                self.keep_ways(1)?;
            }
            let mut launch = self.stream.launch_builder(&self.functions.give_up);
            launch.arg(&self.sheet);
            // SAFETY: it writes to what the sheet has.
            unsafe { launch.launch(blocks_of(1, 1)) }?;
            self.measure(0, 1)?;
            let told = self.told()?.control;
            if told.done != 0 { Ok(told) } else { self.sweep_on() }
        };
        sweep().map_err(failed)
    }

    fn sweep_on(&mut self) -> Result<Control, DriverError> {
        self.begin_sweeps()?;
        if let Some(touch) = &self.touch {
            touch.calm(&self.sheet)?;
        }
        loop {
            self.graphs.iter().try_for_each(|graphs| graphs.sweeps.launch())?;
            let told = self.told()?.control;
            if told.done != 0 {
                return Ok(told);
            }
        }
    }

    /// What sweeps do to tensions is forgotten after them, and no stitch pulls before them.
    fn begin_sweeps(&mut self) -> Result<(), DriverError> {
        self.stream.memcpy_dtod(&self.tension, &mut self.last_tension)?;
        if self.sheet.stitch_count == 0 { Ok(()) } else { self.for_stitches(&self.functions.slacken, None) }
    }

    /// Launches a kernel for every stitch, with what else it is told.
    fn for_stitches(&self, function: &CudaFunction, told: Option<&[i32; 2]>) -> Result<(), DriverError> {
        let mut launch = self.stream.launch_builder(function);
        launch.arg(&self.sheet);
        for told in told.into_iter().flatten() {
            launch.arg(told);
        }
        // SAFETY: kernels look at as many stitches as the sheet has.
        unsafe { launch.launch(for_each(self.sheet.stitch_count)) }?;
        Ok(())
    }

    /// Lets those stitches pull that are to, in sub-step k of a bundle or in a `last` sweep.
    fn pull_stitches(&self, k: i32, last: bool) -> Result<(), DriverError> {
        if self.sheet.stitch_count == 0 {
            return Ok(());
        }
        self.for_stitches(&self.functions.pull_stitches, Some(&[k, last.into()]))
    }

    /// Ends the sub-steps of a step for stitches: what is sewn closes now.
    pub fn finish_stitches(&mut self) -> Result<(), CudaError> {
        if self.sheet.stitch_count == 0 {
            return Ok(());
        }
        let failed = failed(&self.name, "closing seams");
        self.for_stitches(&self.functions.finish_stitches, None).map_err(failed)
    }

    /// Keeps ways, or takes them `back`.
    fn keep_ways(&mut self, back: i32) -> Result<(), DriverError> {
        let mut launch = self.stream.launch_builder(&self.functions.keep_ways);
        launch.arg(&self.sheet).arg(&self.kept_ways).arg(&back);
        // SAFETY: both lists have as many ways as the sheet has particles.
        unsafe { launch.launch(for_each(self.sheet.particles)) }?;
        Ok(())
    }

    /// Begins a window in which no time passes: finds what is near.
    pub fn begin_still_window(&mut self) -> Result<(), CudaError> {
        let failed = failed(&self.name, "finding what may touch");
        self.touch.as_ref().map_or(Ok(()), |touch| touch.find(&self.sheet, 0)).map_err(failed)
    }

    /// Tries to prove the motion of a window, for which candidates are found `again` where it went otherwise; what was found, and what the sub-steps came to.
    pub fn prove(&mut self, again: bool) -> Result<Told, CudaError> {
        let failed = failed(&self.name, "proving a motion");
        let prove = || -> Result<Told, DriverError> {
            if let Some(touch) = self.touch.as_ref().filter(|_| again) {
                touch.find_again(&self.sheet)?;
            }
            self.proof().map_or(Ok(()), |[prove, _]| prove.launch())?;
            self.told()
        };
        prove().map_err(failed)
    }

    fn proof(&self) -> Option<&[CudaGraph; 2]> {
        self.graphs.as_ref()?.proof.as_ref()
    }

    /// Answers what the guard has found, and tries to prove the motion to where that leads.
    pub fn learn(&mut self) -> Result<Told, CudaError> {
        let failed = failed(&self.name, "answering the guard");
        let mut learn = || -> Result<Told, DriverError> {
            self.begin_sweeps()?;
            self.proof().map_or(Ok(()), |[_, learn]| learn.launch())?;
            self.told()
        };
        learn().map_err(failed)
    }
}
