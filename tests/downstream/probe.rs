//! Runs in a crate outside the repository, where SQLite is built without our compile options.

use seawall::engine::{build_info, math};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    build_info::ensure_supported()?;
    assert!(build_info::missing().contains(&"ENABLE_MATH_FUNCTIONS"), "the options reached this crate");

    let conn = rusqlite::Connection::open_in_memory()?;
    conn.execute_batch("PRAGMA trusted_schema = off")?;
    math::install_missing(&conn)?;
    let sql = "SELECT sqrt(16) + ceil(1.5) + log(2, 8) + log(1000) + mod(7, 4) + atan2(0, 1) + trunc(-2.5) + pi() - pi()";
    let sum: f64 = conn.query_row(sql, [], |row| row.get(0))?;
    assert!((sum - 13.0).abs() < 1e-9, "{sum}");
    conn.execute_batch("CREATE TABLE t(n, root AS (sqrt(n))); CREATE INDEX roots ON t(root); INSERT INTO t VALUES (9)")?;

    println!("math functions are registered; missing: {}", build_info::missing().join(", "));
    Ok(())
}
