//! Where the records of a trace were taken.

use super::Format;

/// Where the records of a log are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogPoint {
    /// Before the host's scheduler: requests as processes send them.
    Submission,
    /// Behind the host's scheduler: requests as a drive gets them.
    Dispatch,
    /// The format does not say.
    Unknown,
}

impl LogPoint {
    /// The first line of a text trace that was taken here, where the format does not say so. To every format it is a comment.
    pub(super) fn mark(self) -> String {
        format!("# logged at {}", self.name())
    }

    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            LogPoint::Submission => "submission",
            LogPoint::Dispatch => "dispatch",
            LogPoint::Unknown => "unknown",
        }
    }
}

impl Format {
    /// Where the records of an event are taken; of the format's only one if it has no choice.
    pub fn logged_at(&self, event: usize) -> LogPoint {
        self.logged.get(event).copied().unwrap_or(LogPoint::Unknown)
    }

    /// The event at submission, as a user names it with the format; none if there is none.
    pub(super) fn at_submission(&self) -> Option<String> {
        let event = self.logged.iter().position(|point| *point == LogPoint::Submission)?;
        Some(format!("{}:{}", self.name, self.events.get(event)?))
    }
}
