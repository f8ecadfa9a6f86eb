//! The only part that talks to SQLite's C interface: connections, the recording authorizer, passes
//! over a statement, what EXPLAIN shows, clock and seeded streams.
//!
//! It finds what a statement asks; it decides nothing by itself.

pub mod audit;
pub mod budget;
pub mod build_info;
pub mod catalog;
pub mod clock;
pub mod dry;
pub mod event;
pub mod fault;
pub mod host;
pub mod keys;
pub mod math;
pub mod open;
pub mod random;
pub mod recorder;
pub mod rows;
pub mod selftest;
pub mod streams;
pub mod strings;
pub mod switches;
