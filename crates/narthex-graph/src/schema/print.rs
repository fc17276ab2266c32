//! A schema as people see it.

use super::Schema;

impl Schema {
    /// Its text: what was written, comments and all.
    pub fn print(&self) -> &str {
        &self.source
    }
}
