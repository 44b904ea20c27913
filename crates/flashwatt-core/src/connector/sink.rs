//! What sees requests pass a point of their way.

use super::Request;
use flashwatt_base::units::Nanos;

/// Receives the requests that pass a point of their way, in order: a log of them.
pub trait RequestSink {
    /// A request passes at a time in ns.
    fn passes(&mut self, request: &Request, now: Nanos);

    /// Ends the log: no request comes after this call.
    ///
    /// # Errors
    /// The first error in keeping what passed.
    fn close(self: Box<Self>) -> std::io::Result<()>;
}
