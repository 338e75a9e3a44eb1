//! Who watches a step: the engine has no clock, its caller may.

/// Is told which stage of a step begins. Stages follow one another, none is inside another.
pub trait Observer {
    /// From here on the step is in this stage.
    fn enter(&mut self, stage: &'static str);
    /// The step is over.
    fn leave(&mut self);
}

/// Nobody watches.
impl Observer for () {
    fn enter(&mut self, _: &'static str) {}
    fn leave(&mut self) {}
}
