//! The private copies that a run works on: the given files are never written.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;

use crate::engine::catalog::quote;
use crate::engine::clock::{Clock, ClockLease};
use crate::engine::open::open;
use crate::engine::streams::Seed;
use crate::engine::{math, random};
use crate::source::Source;
use crate::statement;

/// Where a database comes from.
#[derive(Clone, Debug)]
pub enum Base {
    /// A copy of this file.
    File(PathBuf),
    /// A blank database, built from the world's own DDL.
    Schema(Source),
}

/// A database and the name that it is attached under.
#[derive(Clone, Debug)]
pub struct Attached {
    /// The schema name.
    pub name: String,
    /// Where it comes from.
    pub base: Base,
}

/// Why the copies could not be made. No message names a path other than as it was given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// A file cannot be read or copied.
    #[error("{file}: {error}")]
    Io {
        /// The file as it was given.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// A file is no database that SQLite opens.
    #[error("{file}: {error}")]
    Database {
        /// The file as it was given.
        file: String,
        /// SQLite's text.
        error: rusqlite::Error,
    },
    /// A statement of a schema file fails.
    #[error("{file}:{line}: {error}")]
    Schema {
        /// The file as it was given.
        file: String,
        /// The line of the statement.
        line: usize,
        /// SQLite's text.
        error: rusqlite::Error,
    },
    /// A name that no database can be attached under here.
    #[error("cannot attach a database as {0:?}: the name is empty, taken, or holds a path separator")]
    Name(String),
    /// A file of an earlier run is in the way.
    #[error("{0} is there already; give an empty directory")]
    Exists(String),
    /// SQLite fails on the copies themselves.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// A connection to private copies, every database attached, with its clock and seeded `random()`.
#[derive(Debug)]
pub struct Workspace {
    /// The connection.
    pub connection: Connection,
    /// Holds the clock for as long as the connection lives: fields drop in order.
    _clock: Option<ClockLease>,
}

impl Workspace {
    /// Makes the copies in `directory`, as `main.db` and `NAME.db`, and opens them.
    ///
    /// If anything fails, the files made so far are removed.
    pub fn create(
        directory: &Path,
        main: &Base,
        attached: &[Attached],
        clock: Clock,
        seed: &Seed,
    ) -> Result<Self, WorkspaceError> {
        let mut made = Made { files: Vec::new(), kept: false };
        let lease = clock.lease()?;
        let vfs = lease.as_ref().map(ClockLease::name);
        let build = |base: &Base, name: &str, made: &mut Made| {
            let path = directory.join(format!("{name}.db"));
            if path.exists() {
                return Err(WorkspaceError::Exists(format!("{name}.db")));
            }
            made.files.push(path.clone());
            match base {
                Base::File(file) => copy(file, &path)?,
                Base::Schema(source) => build_blank(&path, source, vfs, seed)?,
            }
            Ok(path)
        };
        let path = build(main, "main", &mut made)?;
        let connection = open(&path, vfs)?;
        prepare(&connection, seed)?;
        settle(&connection, "main", &path, &shown(main))?;
        for (i, database) in attached.iter().enumerate() {
            check_name(&database.name, attached.get(..i).unwrap_or_default())?;
            let path = build(&database.base, &database.name, &mut made)?;
            let attach = format!("ATTACH ?1 AS {}", quote(&database.name));
            let told = |error| WorkspaceError::Database { file: shown(&database.base), error };
            connection.execute(&attach, [path.to_string_lossy().as_ref()]).map_err(told)?;
            settle(&connection, &database.name, &path, &shown(&database.base))?;
        }
        made.kept = true;
        Ok(Self { connection, _clock: lease })
    }
}

/// Files of a workspace that is being made; removed unless it is finished.
struct Made {
    files: Vec<PathBuf>,
    kept: bool,
}

impl Drop for Made {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        for file in &self.files {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                let _ = fs::remove_file(with_suffix(file, suffix));
            }
        }
    }
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn shown(base: &Base) -> String {
    match base {
        Base::File(file) => file.display().to_string(),
        Base::Schema(source) => source.name().to_owned(),
    }
}

fn check_name(name: &str, before: &[Attached]) -> Result<(), WorkspaceError> {
    let taken = ["main", "temp"].iter().any(|own| name.eq_ignore_ascii_case(own))
        || before.iter().any(|other| name.eq_ignore_ascii_case(&other.name));
    let odd = name.is_empty() || name.contains(['/', '\\', '\0']) || name.starts_with('.');
    if taken || odd { Err(WorkspaceError::Name(name.to_owned())) } else { Ok(()) }
}

/// Copies a database with what its last user left beside it, which SQLite then applies to the copy.
fn copy(file: &Path, to: &Path) -> Result<(), WorkspaceError> {
    let told = |error| WorkspaceError::Io { file: file.display().to_string(), error };
    fs::copy(file, to).map_err(told)?;
    for suffix in ["-wal", "-journal"] {
        let beside = with_suffix(file, suffix);
        if beside.exists() {
            fs::copy(beside, with_suffix(to, suffix)).map_err(told)?;
        }
    }
    // A fixture is often read-only; its copy is ours to write.
    let mut permissions = fs::metadata(to).map_err(told)?.permissions();
    if permissions.readonly() {
        make_writable(&mut permissions);
        fs::set_permissions(to, permissions).map_err(told)?;
    }
    Ok(())
}

#[cfg(unix)]
fn make_writable(permissions: &mut fs::Permissions) {
    use std::os::unix::fs::PermissionsExt;
    permissions.set_mode(permissions.mode() | 0o600);
}

#[cfg(not(unix))]
fn make_writable(permissions: &mut fs::Permissions) {
    permissions.set_readonly(false);
}

fn build_blank(path: &Path, source: &Source, vfs: Option<&str>, seed: &Seed) -> Result<(), WorkspaceError> {
    let told = |error| WorkspaceError::Io { file: source.name().to_owned(), error };
    fs::File::create_new(path).map_err(told)?;
    let connection = open(path, vfs)?;
    math::install_missing(&connection)?;
    random::install(&connection, Arc::new(Mutex::new(seed.stream("build"))))?;
    connection.execute_batch("PRAGMA journal_mode = memory; PRAGMA synchronous = off; BEGIN")?;
    for span in statement::split(source.text()) {
        let failed = |error| WorkspaceError::Schema {
            file: source.name().to_owned(),
            line: source.position(span.start).line,
            error,
        };
        let mut prepared = connection.prepare(source.slice(span)).map_err(failed)?;
        let mut rows = prepared.raw_query();
        while rows.next().map_err(failed)?.is_some() {}
    }
    let failed = |error| WorkspaceError::Schema { file: source.name().to_owned(), line: 1, error };
    if !connection.is_autocommit() {
        connection.execute_batch("COMMIT").map_err(failed)?;
    }
    Ok(())
}

fn prepare(connection: &Connection, seed: &Seed) -> Result<(), WorkspaceError> {
    math::install_missing(connection)?;
    random::install(connection, Arc::new(Mutex::new(seed.stream("setup"))))?;
    connection.execute_batch("PRAGMA temp_store = memory")?;
    Ok(())
}

/// The copy is thrown away on any failure, so it needs no crash safety; but a failed statement must
/// be undone, so the journal stays, in memory. A file in WAL mode keeps its mode.
fn settle(connection: &Connection, schema: &str, path: &Path, file: &str) -> Result<(), WorkspaceError> {
    let told = |error| WorkspaceError::Database { file: file.to_owned(), error };
    let schema = quote(schema);
    // The first read says whether it is a database at all.
    let mut check =
        connection.prepare(&format!("SELECT count(*) FROM {schema}.sqlite_schema")).map_err(told)?;
    check.query_row([], |row| row.get::<_, i64>(0)).map_err(told)?;
    let mut mode = String::from("PRAGMA ");
    mode.push_str(&format!("{schema}.synchronous = off"));
    if !is_wal(path) {
        mode.push_str(&format!("; PRAGMA {schema}.journal_mode = memory"));
    }
    connection.execute_batch(&mode).map_err(told)
}

/// Bytes 18 and 19 of the header say how the file is written and read; 2 is WAL.
fn is_wal(path: &Path) -> bool {
    use std::io::Read;
    let mut header = [0_u8; 20];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header[18..] == [2, 2]
}
