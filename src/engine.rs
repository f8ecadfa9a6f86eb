//! What touches SQLite below the level of statements; the only place with `unsafe`.

pub mod clock;
pub mod random;
pub mod streams;
