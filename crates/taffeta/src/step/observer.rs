//! Who watches a step: the engine has no clock and hears no signals, its caller may.

/// Is told which stage of a step begins, and may end it. Stages follow one another, none is inside another;
/// they may be told from a thread of the pool.
pub trait Observer: Send {
    /// From here on the step is in this stage.
    fn enter(&mut self, stage: &'static str);
    /// The step is over.
    fn leave(&mut self);
    /// Whether the step is to end, asked between its sub-steps: it then fails with [`StepError::Cancelled`](super::StepError::Cancelled), and the state stays.
    fn is_cancelled(&mut self) -> bool {
        false
    }
}

/// Nobody watches.
impl Observer for () {
    fn enter(&mut self, _: &'static str) {}
    fn leave(&mut self) {}
}
