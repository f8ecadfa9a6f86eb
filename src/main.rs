//! The `seawall` command.

fn main() {}
