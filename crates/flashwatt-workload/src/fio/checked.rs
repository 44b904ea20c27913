//! Options whose other values would change the requests.

use super::reader::OptionReader;
use super::refused::CHECKED;

impl OptionReader<'_> {
    /// Refuses values of [`CHECKED`] options that would change the requests.
    pub fn check_values(&mut self) {
        for (name, values, why) in CHECKED {
            if let Some(written) = self.written(name).filter(|written| !values.contains(&written.value.as_str())) {
                let fault = written.fault("not simulated").expected(values.join(", ")).help(*why);
                self.faults.push(fault);
            }
        }
    }
}
