//! What touches SQLite below the level of statements; the only place with `unsafe`.

pub mod build_info;
pub mod clock;
pub mod math;
pub mod random;
pub mod streams;
