//! Functions that the host adds to a connection that Seawall opens.

use std::fmt;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value;

/// What a host function is called with and what it answers; an error is SQLite's error text.
pub type Body = Arc<dyn Fn(&[Value]) -> Result<Value, String> + Send + Sync>;

/// A scalar function of the host's.
///
/// It is known to every witness once it is registered; whether the caller may call it, the policy
/// says. World code (triggers, DEFAULTs, views) may call it unless it is [direct-only].
///
/// [direct-only]: HostFunction::direct_only
#[derive(Clone)]
pub struct HostFunction {
    name: String,
    arguments: i32,
    flags: FunctionFlags,
    body: Body,
}

impl HostFunction {
    /// A function `name` of `arguments` arguments, -1 for any number. World code may call it, and
    /// it need not answer the same twice.
    pub fn new(
        name: &str,
        arguments: i32,
        body: impl Fn(&[Value]) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
        Self { name: name.to_owned(), arguments, flags, body: Arc::new(body) }
    }

    /// The same arguments always give the same answer, so that an index may use it.
    #[must_use]
    pub fn deterministic(mut self) -> Self {
        self.flags |= FunctionFlags::SQLITE_DETERMINISTIC;
        self
    }

    /// Only a statement itself may call it, no trigger, view, DEFAULT or index.
    #[must_use]
    pub fn direct_only(mut self) -> Self {
        self.flags.remove(FunctionFlags::SQLITE_INNOCUOUS);
        self.flags |= FunctionFlags::SQLITE_DIRECTONLY;
        self
    }

    /// Registers it on `connection`.
    ///
    /// # Errors
    ///
    /// SQLite's, where the name or the number of arguments is beyond its limits.
    pub fn register(&self, connection: &Connection) -> rusqlite::Result<()> {
        let body = Arc::clone(&self.body);
        connection.create_scalar_function(self.name.as_str(), self.arguments, self.flags, move |context| {
            let arguments: Vec<Value> =
                (0..context.len()).map(|i| context.get(i)).collect::<rusqlite::Result<_>>()?;
            body(&arguments).map_err(|text| rusqlite::Error::UserFunctionError(text.into()))
        })
    }
}

impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostFunction")
            .field("name", &self.name)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}
