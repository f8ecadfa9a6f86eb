//! The only part that talks to SQLite's C interface: connections, the recording authorizer, passes
//! over a statement, and what EXPLAIN shows.
//!
//! It finds what a statement asks; it decides nothing by itself.

pub mod audit;
pub mod budget;
pub mod catalog;
pub mod event;
pub mod keys;
pub mod open;
pub mod recorder;
pub mod selftest;
pub mod strings;
pub mod switches;
