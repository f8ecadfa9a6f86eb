//! Running an author's setup SQL: one transaction, kept or undone as a whole.

mod commit;
mod outcome;
mod run;
pub mod workspace;

pub use outcome::{Outcome, Verdict};
pub use run::{SetupError, run};
