//! Exit statuses.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Everything is fine.
    Ok = 0,
    /// The tool itself failed: a file that cannot be read, a full disk.
    Tool = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A policy or world is invalid.
    Policy = 3,
    /// A statement was refused or failed, or an expectation was not met.
    Refused = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
