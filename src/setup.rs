//! Running an author's setup SQL: one transaction, kept or undone as a whole.

mod commit;
mod count;
mod outcome;
pub mod plan;
pub mod report;
mod run;
mod script;
pub mod workspace;

pub use outcome::{Outcome, Verdict};
pub use run::{PLANS, SetupError, plan, run};
