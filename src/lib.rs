//! Runs setup SQL on a SQLite database under a policy.

pub mod catalog;
pub mod diagnostic;
pub mod engine;
pub mod policy;
pub mod request;
pub mod ruleset;
pub mod source;
pub mod statement;
pub mod text_witness;
mod yaml;
