#![doc = include_str!("../README.md")]

pub mod catalog;
#[cfg(feature = "cli")]
pub mod cli;
pub mod diagnostic;
pub mod engine;
pub mod guard;
pub mod lint;
pub mod policy;
pub mod refusal;
pub mod request;
pub mod ruleset;
pub mod scenario;
pub mod setup;
pub mod source;
pub mod statement;
pub mod text_witness;
mod yaml;

pub use guard::{Door, Guard, GuardError, Rows};
pub use policy::{Policy, PolicyError};
pub use refusal::{Failure, Refusal};
pub use rusqlite;
pub use setup::Outcome;
