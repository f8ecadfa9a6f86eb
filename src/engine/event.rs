//! What the authorizer callback is told, kept.

use rusqlite::hooks::{AuthAction, AuthContext, TransactionOperation};

/// The kind of a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A SELECT, or one step of a recursive one.
    Select,
    /// A read of `first`.`second`; `second` is empty where the table is used without a column.
    Read,
    /// An INSERT into `first`.
    Insert,
    /// An UPDATE of `first`.`second`.
    Update,
    /// A DELETE from `first`.
    Delete,
    /// A call of the function `first`.
    Function,
    /// The pragma `first`, with the argument `second` if [`Event::argued`].
    Pragma,
    /// BEGIN, COMMIT and their kin.
    Transaction,
    /// ATTACH or DETACH.
    Attach,
    /// CREATE, DROP, ALTER, REINDEX, ANALYZE.
    Schema,
    /// A code that this build does not know.
    Unknown(i32),
}

/// One callback. Empty text stands for a missing argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event {
    /// What it is about.
    pub kind: EventKind,
    /// The table, function or pragma.
    pub first: Box<str>,
    /// The column or argument.
    pub second: Box<str>,
    /// Whether a pragma had an argument.
    pub argued: bool,
    /// The schema.
    pub schema: Box<str>,
    /// The innermost trigger, view or CTE, by its bare name.
    pub accessor: Box<str>,
}

impl Event {
    /// The callback's arguments, kept.
    pub fn new(context: &AuthContext<'_>) -> Self {
        let (kind, first, second, argued) = parts(&context.action);
        Self {
            kind,
            first: first.into(),
            second: second.into(),
            argued,
            schema: context.database_name.unwrap_or_default().into(),
            accessor: context.accessor.unwrap_or_default().into(),
        }
    }

    /// The same request, whoever asks and in whichever schema.
    pub fn same_request(&self, other: &Self) -> bool {
        self.kind == other.kind && self.first == other.first && self.second == other.second
    }
}

fn parts<'c>(action: &AuthAction<'c>) -> (EventKind, &'c str, &'c str, bool) {
    use EventKind::{
        Attach, Delete, Function, Insert, Pragma, Read, Schema, Select, Transaction, Unknown, Update,
    };
    match *action {
        AuthAction::Select | AuthAction::Recursive => (Select, "", "", false),
        AuthAction::Read { table_name, column_name } => (Read, table_name, column_name, false),
        AuthAction::Insert { table_name } => (Insert, table_name, "", false),
        AuthAction::Update { table_name, column_name } => (Update, table_name, column_name, false),
        AuthAction::Delete { table_name } => (Delete, table_name, "", false),
        AuthAction::Function { function_name } => (Function, function_name, "", false),
        AuthAction::Pragma { pragma_name, pragma_value } => {
            (Pragma, pragma_name, pragma_value.unwrap_or_default(), pragma_value.is_some())
        }
        AuthAction::Transaction { operation } => (Transaction, transaction_word(operation), "", false),
        AuthAction::Savepoint { operation, .. } => {
            (Transaction, transaction_word(operation), "SAVEPOINT", false)
        }
        AuthAction::Attach { .. } => (Attach, "ATTACH", "", false),
        AuthAction::Detach { database_name } => (Attach, "DETACH", database_name, false),
        AuthAction::CreateIndex { index_name: name, .. }
        | AuthAction::CreateTempIndex { index_name: name, .. }
        | AuthAction::CreateTable { table_name: name }
        | AuthAction::CreateTempTable { table_name: name }
        | AuthAction::CreateTrigger { trigger_name: name, .. }
        | AuthAction::CreateTempTrigger { trigger_name: name, .. }
        | AuthAction::CreateView { view_name: name }
        | AuthAction::CreateTempView { view_name: name }
        | AuthAction::CreateVtable { table_name: name, .. } => (Schema, "CREATE", name, false),
        AuthAction::DropIndex { index_name: name, .. }
        | AuthAction::DropTempIndex { index_name: name, .. }
        | AuthAction::DropTable { table_name: name }
        | AuthAction::DropTempTable { table_name: name }
        | AuthAction::DropTrigger { trigger_name: name, .. }
        | AuthAction::DropTempTrigger { trigger_name: name, .. }
        | AuthAction::DropView { view_name: name }
        | AuthAction::DropTempView { view_name: name }
        | AuthAction::DropVtable { table_name: name, .. } => (Schema, "DROP", name, false),
        AuthAction::AlterTable { table_name, .. } => (Schema, "ALTER", table_name, false),
        AuthAction::Reindex { index_name } => (Schema, "REINDEX", index_name, false),
        AuthAction::Analyze { table_name } => (Schema, "ANALYZE", table_name, false),
        // rusqlite reports ATTACH with a computed file name so.
        AuthAction::Unknown { code: rusqlite::ffi::SQLITE_ATTACH, .. } => (Attach, "ATTACH", "", false),
        AuthAction::Unknown { code, .. } => (Unknown(code), "", "", false),
        // The enum is open; what this build does not know stays denied.
        _ => (Unknown(-1), "", "", false),
    }
}

fn transaction_word(operation: TransactionOperation) -> &'static str {
    match operation {
        TransactionOperation::Begin => "BEGIN",
        TransactionOperation::Release => "RELEASE",
        TransactionOperation::Rollback => "ROLLBACK",
        // rusqlite maps no word for COMMIT.
        _ => "COMMIT",
    }
}
