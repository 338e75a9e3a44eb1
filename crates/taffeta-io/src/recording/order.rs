//! What may follow what in a recording: the same rule for those who write and those who read.

/// The last frame and the last state so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Order {
    frame: Option<(u32, f64)>,
    state: Option<u32>,
}

impl Order {
    /// The order once a frame of this number and time [s] has followed.
    pub fn after_frame(self, number: u32, time: f64) -> Result<Order, String> {
        if !time.is_finite() {
            return Err(format!("time {time} s of frame {number} is not finite"));
        }
        if let Some((before, earlier)) = self.frame
            && (number <= before || time <= earlier)
        {
            return Err(format!(
                "frame {number} at {time} s does not come after frame {before} at {earlier} s; both must grow"
            ));
        }
        if let Some(state) = self.state.filter(|state| number <= *state) {
            return Err(format!(
                "frame {number} follows the state of frame {state}; frames come before their state"
            ));
        }
        Ok(Order { frame: Some((number, time)), ..self })
    }

    /// The order once a state of this frame has followed.
    pub fn after_state(self, frame: u32) -> Result<Order, String> {
        if let Some((last, _)) = self.frame.filter(|(last, _)| *last != frame) {
            return Err(format!(
                "a state of frame {frame} follows frame {last}; it must directly follow its frame"
            ));
        }
        if let Some(state) = self.state.filter(|state| frame <= *state) {
            return Err(format!(
                "a state of frame {frame} follows one of frame {state}; one per frame is enough"
            ));
        }
        Ok(Order { state: Some(frame), ..self })
    }
}
