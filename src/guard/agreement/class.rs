//! The closed list of what text and engine may see differently.

/// Who has what the other has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The text asks or refuses it, SQLite's witnesses do not.
    Text,
    /// SQLite's witnesses were asked or refuse it, the text does not.
    Engine,
}

impl Side {
    /// The word for it in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Engine => "engine",
        }
    }
}

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident $word:literal $side:ident: $reason:literal, $example:literal;)+) => {
        /// Why text and engine may see a statement differently.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Class {
            $($(#[$doc])* $name,)+
        }

        impl Class {
            /// All of them, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Its name in reports.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// Who has what the other has not.
            pub const fn side(self) -> Side {
                match self { $(Self::$name => Side::$side,)+ }
            }

            /// Why, in a sentence.
            pub const fn reason(self) -> &'static str {
                match self { $(Self::$name => $reason,)+ }
            }

            /// SQL whose last statement has such a difference.
            pub const fn example(self) -> &'static str {
                match self { $(Self::$name => $example,)+ }
            }
        }
    };
}

classes! {
    /// OR REPLACE.
    ConflictClause "conflict-clause" Text:
        "SQLite asks its authorizer about an INSERT or UPDATE and never about its OR REPLACE.",
        "CREATE TABLE t(a PRIMARY KEY, b); REPLACE INTO t VALUES (1, 2);";
    /// A command of a full-text table.
    VirtualTableCommand "virtual-table-command" Text:
        "To SQLite a command of a full-text table is an INSERT like any other.",
        "CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f(f, rank) VALUES ('pgsz', 64);";
    /// A call that SQLite replaces while it prepares.
    InlinedCall "inlined-call" Text:
        "SQLite writes a few functions out as operators, and in the later rows of VALUES asks nobody.",
        "SELECT iif(1, 2, 3) UNION VALUES (1), (coalesce(2, 3));";
    /// The other operand of a constant that is false.
    FalseOperand "false-operand" Text:
        "What stands beside a constant that is false is dropped before its names are looked up.",
        "CREATE TABLE t(a); CREATE TABLE u(b); SELECT a FROM t WHERE a IN () AND a IN (SELECT b FROM u);";
    /// A table without a named column, in a part that is never coded.
    UnreadTable "unread-table" Text:
        "SQLite asks about a table of which no column is named only where it writes code for it.",
        "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t; SELECT count(*) FROM v;";
    /// A table that a LEFT JOIN adds and nothing reads.
    JoinLeftOut "join-left-out" Text:
        "A LEFT JOIN that cannot change the result is left out, and a column that USING names has no request.",
        "CREATE TABLE t(k, a); CREATE TABLE u(k PRIMARY KEY, b); SELECT t.a FROM t LEFT JOIN u USING (k);";
    /// A bare name that is not in main.
    BareName "bare-name" Text:
        "Without the schema a bare name is taken to mean a table of main; it is one of temp or of an attached database.",
        "CREATE TEMP TABLE secrets(a); SELECT a FROM secrets;";
    /// Only the schema tells whose a bare column is.
    NeedsSchema "needs-the-schema" Engine:
        "Without the schema nobody can tell whose a bare column is, what `*` stands for or which columns NATURAL compares.",
        "CREATE TABLE users(id, password); CREATE TABLE u(a); SELECT password FROM users, u WHERE u.a = 1;";
    /// The text was not understood to its end.
    NotUnderstood "not-understood" Engine:
        "The parser behind the text witness does not take the statement, so its tokens alone were read.",
        "CREATE TABLE users(id, password); CREATE TABLE u(a); SELECT password FROM users LEFT FULL JOIN u;";
    /// What a view is made of.
    ViewBody "view-body" Engine:
        "The text names a view; what the view is made of stands in the schema.",
        "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t; SELECT a FROM v;";
    /// What a virtual table reads.
    VirtualTable "virtual-table" Engine:
        "The text names a virtual table; what that reads is its module's own doing.",
        "CREATE VIRTUAL TABLE f USING fts5(body); CREATE VIRTUAL TABLE w USING fts5vocab(f, row); SELECT term FROM w;";
    /// A temporary trigger.
    TemporaryTrigger "temporary-trigger" Engine:
        "SQLite's switch for triggers leaves temporary ones on, so what they do counts as the caller's.",
        "CREATE TABLE t(a); CREATE TABLE log(a); CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END; INSERT INTO t VALUES (1);";
    /// OR REPLACE reaches into triggers.
    ReplaceThroughTrigger "replace-through-trigger" Engine:
        "OR REPLACE applies to what the triggers of its table write too.",
        "CREATE TABLE t(a UNIQUE); CREATE TABLE log(a UNIQUE); CREATE TRIGGER r AFTER UPDATE ON t BEGIN INSERT INTO log VALUES (new.a); END; UPDATE OR REPLACE t SET a = 1;";
}
