//! Triggers and foreign keys off for the caller pass, and back on.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

const SWITCHES: [DbConfig; 2] =
    [DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY];

/// World code is off for as long as this lives; then each switch is as it was.
///
/// A real change of a switch expires every prepared statement of the connection, so nothing that
/// will be stepped may be prepared before or while this lives.
#[derive(Debug)]
pub struct WorldCodeOff<'c> {
    connection: &'c Connection,
    before: [bool; 2],
}

impl<'c> WorldCodeOff<'c> {
    /// Switches triggers and foreign keys off. Works inside a transaction, unlike the pragma.
    pub fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let off = Self {
            connection,
            before: [connection.db_config(SWITCHES[0])?, connection.db_config(SWITCHES[1])?],
        };
        for switch in SWITCHES {
            connection.set_db_config(switch, false)?;
        }
        Ok(off)
    }
}

impl Drop for WorldCodeOff<'_> {
    fn drop(&mut self) {
        for (switch, before) in SWITCHES.into_iter().zip(self.before) {
            // Setting a flag of an open connection has no way to fail.
            let _ = self.connection.set_db_config(switch, before);
        }
    }
}
