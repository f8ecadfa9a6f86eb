//! Looks at the SQLite that was built, so that the code can't name what isn't there.
//!
//! `.cargo/config.toml` asks for SQLite's extra features, but a crate that depends on this one doesn't
//! read that file. So what counts is the archive that `libsqlite3-sys` made, not what was wished for.

use std::path::{Path, PathBuf};

/// Compiled in only with the session extension and the pre-update hook.
const SESSION: [&str; 2] = ["sqlite3session_create", "sqlite3_preupdate_hook"];
/// Stands in SQLite's own list of its compile options.
const MATH: &str = "ENABLE_MATH_FUNCTIONS";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(seawall_session)");
    // Only a SQLite compiled in has an archive; with the system's the run-time probe has to do.
    let Some(archive) = std::env::var_os("DEP_SQLITE3_LIB_DIR").and_then(|dir| archive(Path::new(&dir)))
    else {
        return;
    };
    println!("cargo::rerun-if-changed={}", archive.display());
    let Ok(bytes) = std::fs::read(&archive) else { return };
    let has = |name: &str| contains(&bytes, name.as_bytes());
    let mut missing = Vec::new();
    if SESSION.into_iter().all(has) {
        println!("cargo::rustc-cfg=seawall_session");
    } else {
        missing.push("the session extension");
    }
    if !has(MATH) {
        missing.push("math functions (Seawall registers its own)");
    }
    if !missing.is_empty() {
        let missing = missing.join(" and ");
        println!(
            "cargo::warning=SQLite was built without {missing}: set LIBSQLITE3_FLAGS, see docs/building.md"
        );
    }
}

/// The archive's name differs by tool chain.
fn archive(dir: &Path) -> Option<PathBuf> {
    ["libsqlite3.a", "sqlite3.lib"].into_iter().map(|name| dir.join(name)).find(|path| path.is_file())
}

fn contains(bytes: &[u8], name: &[u8]) -> bool {
    bytes.windows(name.len()).any(|window| window == name)
}
