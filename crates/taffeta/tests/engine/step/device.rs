//! What the engine tells a device that takes its steps: a card keeps the state that it has made, and has it sent again only when it is another.

use crate::common::{free_sheet, simulation};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::model::{Environment, Model, State};
use taffeta::step::{Device, DeviceMethod, DeviceRefusal, DeviceStep, Observer, StepError, StepReport};
use taffeta_scene::Method;

/// A device on which all moves on as it does.
#[derive(Debug, Default)]
struct Flight {
    /// Whether it leaves steps to the host.
    is_idle: AtomicBool,
    /// Steps that went on from what it has made.
    went_on: AtomicU32,
}

/// What changes a sheet from outside.
type Touch<'a> = Box<dyn FnMut(&mut Simulation) + 'a>;

#[derive(Debug)]
struct FlightOf(Arc<Flight>, Option<u64>);

/// The flight, which the test looks at.
#[derive(Debug)]
struct Lent(Arc<Flight>);

impl Device for Lent {
    fn prepare(&self, _: &Model, _: &Environment) -> Result<Box<dyn DeviceMethod>, DeviceRefusal> {
        Ok(Box::new(FlightOf(self.0.clone(), None)))
    }
}

impl DeviceMethod for FlightOf {
    fn step(
        &mut self,
        step: &DeviceStep,
        from: &State,
        to: &mut State,
        _: &mut dyn Observer,
    ) -> Result<Option<StepReport>, StepError> {
        let of_moving = |state: &State| State { time: 0.0, step: 0, ..state.clone() }.hash();
        if step.goes_on {
            assert_eq!(self.1, Some(of_moving(from)), "the state is another than the device has made");
            self.0.went_on.fetch_add(1, Ordering::Relaxed);
        }
        if self.0.is_idle.load(Ordering::Relaxed) {
            return Ok(None);
        }
        to.copy_from(from);
        to.positions.iter_mut().zip(&from.velocities).for_each(|(x, v)| *x += step.model.step_time * *v);
        self.1 = Some(of_moving(to));
        Ok(Some(StepReport::default()))
    }
}

#[test]
fn a_device_is_told_whether_the_state_is_the_one_that_it_has_made() {
    let flight = Arc::new(Flight::default());
    let begin = || {
        let mut sheet = simulation(&free_sheet(Method::ImpulseStrips, 4));
        sheet.set_velocities(&vec![DVec3::X; 16]).unwrap();
        sheet.with_device(Arc::new(Lent(flight.clone()))).unwrap()
    };
    let mut sheet = begin();
    let went_on = |sheet: &mut Simulation| {
        let before = flight.went_on.load(Ordering::Relaxed);
        sheet.step().unwrap();
        flight.went_on.load(Ordering::Relaxed) - before
    };
    assert_eq!([0; 3].map(|_| went_on(&mut sheet)), [0, 1, 1]);
    let (snapshot, places) = (sheet.snapshot(), sheet.positions().to_vec());
    // Everything that makes it another state, then a step, then one that goes on.
    let other = begin();
    let mut hands: Vec<Touch> = vec![
        Box::new(|sheet| sheet.set_positions(&places).unwrap()),
        Box::new(|sheet| sheet.set_velocities(&[DVec3::Y; 16]).unwrap()),
        Box::new(|sheet| sheet.restore(&snapshot).unwrap()),
        Box::new(|sheet| sheet.take_over(&other).unwrap()),
        Box::new(|sheet| sheet.hold(0, DVec3::ZERO, 1.0).unwrap()),
        Box::new(|sheet| *sheet = sheet.clone()),
    ];
    for (number, hand) in hands.iter_mut().enumerate() {
        hand(&mut sheet);
        assert_eq!([0; 2].map(|_| went_on(&mut sheet)), [0, 1], "hand {number}");
    }
    // What the host has done a device does not have.
    flight.is_idle.store(true, Ordering::Relaxed);
    assert_eq!([0; 2].map(|_| went_on(&mut sheet)), [1, 0]);
    flight.is_idle.store(false, Ordering::Relaxed);
    assert_eq!([0; 2].map(|_| went_on(&mut sheet)), [0, 1]);
}
