//! The registry: every code, what it stands for, and its words.
//!
//! A code without its words does not compile; one without a page in `docs/codes/`, a snapshot or a
//! case fails a test.

use std::fmt;

/// What a code is said of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The policy denies the statement.
    Refused,
    /// SQLite's own error, or a limit.
    Failed,
    /// The statement runs; the author should look at it.
    Advice,
    /// A policy file is wrong.
    Policy,
    /// A policy file does not fit the schema.
    Lint,
    /// A file with setup SQL cannot be read.
    Scenario,
}

macro_rules! registry {
    ($($outcome:ident {
        $($code:ident = $word:literal, $reason:literal, $fix:literal;)+
    })+) => {
        /// The kind of a refusal, failure, advice or fault of a policy. Kebab-case in every format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $reason] $code,)+)+
        }

        impl Code {
            /// Every code, in the order of the registry.
            pub const ALL: &'static [Self] = &[$($(Self::$code,)+)+];

            /// The word for it.
            pub const fn word(self) -> &'static str {
                match self { $($(Self::$code => $word,)+)+ }
            }

            /// What it is said of.
            pub const fn outcome(self) -> Outcome {
                match self { $($(Self::$code => Outcome::$outcome,)+)+ }
            }

            /// Why, as a clause without a period; `{name}` stands for a value.
            pub const fn reason(self) -> &'static str {
                match self { $($(Self::$code => $reason,)+)+ }
            }

            /// What to do, as sentences; `{name}` stands for a value. May be empty.
            pub const fn fix(self) -> &'static str {
                match self { $($(Self::$code => $fix,)+)+ }
            }
        }
    };
}

registry! {
    Refused {
        NulByte = "nul-byte", "it holds a NUL byte, where SQLite would stop reading", "{way}";
        BindParameter = "bind-parameter", "it has the bind parameter {what}, which nothing binds", "Write the value itself in its place.";
        SchemaChange = "schema-change", "it changes the schema", "{way}";
        TransactionControl = "transaction-control", "it controls the transaction", "Remove it; everything here already runs in one transaction that is kept or undone as a whole.";
        AttachDetach = "attach-detach", "it {verb} a database", "{way}";
        Maintenance = "maintenance", "it {verb} the database file", "Remove it; a run changes rows only.";
        InternalTable = "internal-table", "it {verb} {what}, a table that SQLite keeps for itself", "{way}";
        ShadowTable = "shadow-table", "it {verb} {what}, where the virtual table {owner} keeps its data", "Use {owner} instead.";
        PragmaNotReporting = "pragma-not-reporting", "PRAGMA {what} is not among the reports that the policy allows", "{way}";
        ReadDenied = "read-denied", "it reads {what}, which the policy closes", "{way}";
        WriteDenied = "write-denied", "it {verb} {what}, which the policy closes", "{way}";
        ReplaceDenied = "replace-denied", "it may replace rows of {what}, which the policy closes", "{way}";
        VirtualTableCommand = "virtual-table-command", "it sends {what} to the virtual table {owner}", "{way}";
        FunctionNotAllowed = "function-not-allowed", "it calls {what}, which the policy does not allow", "{way}";
        TriggerNotTrusted = "trigger-not-trusted", "trigger {owner} calls {what}, which the policy does not allow", "{way}";
        ViewNotTrusted = "view-not-trusted", "view {owner} calls {what}, which the policy does not allow", "{way}";
        UnknownAction = "unknown-action", "SQLite asks for {what}, which this build cannot judge", "{way}";
    }
    Failed {
        Constraint = "sqlite-constraint", "{what}", "{way}";
        Syntax = "sqlite-syntax", "{what}", "{way}";
        NoSuchTable = "sqlite-no-such-table", "{what}", "{way}";
        NoSuchColumn = "sqlite-no-such-column", "{what}", "{way}";
        NoSuchFunction = "sqlite-no-such-function", "{what}", "{way}";
        UnknownDatabase = "sqlite-unknown-database", "{what}", "{way}";
        View = "sqlite-view", "{what}", "Change the tables that the view reads; it has no INSTEAD OF trigger for this.";
        GeneratedColumn = "sqlite-generated-column", "{what}", "Leave the column out; SQLite computes it from the others.";
        Raise = "sqlite-raise", "{what}", "{way}";
        SqliteError = "sqlite-error", "{what}", "{way}";
        CommitForeignKey = "commit-foreign-key", "{what}", "{way}";
        LimitSteps = "limit-steps", "the run took more than {what} steps", "Look for a loop without an end, or raise limits.steps in the policy.";
        LimitTime = "limit-time", "the run took longer than {what}", "Look for a loop without an end, or raise limits.time in the policy.";
        LimitValue = "limit-value", "a value is larger than {what}", "Store a smaller value, or raise limits.value in the policy.";
        LimitText = "limit-text", "the text is larger than {what}", "Split it into several runs, or raise limits.text in the policy.";
        LimitStatements = "limit-statements", "the text has more than {what}", "Join INSERTs into one with several rows, or raise limits.statements in the policy.";
    }
    Advice {
        NoRowChanged = "no-row-changed", "it changed no row", "{way}";
        NoWhere = "no-where", "it {verb} every row of {what}, because it has no WHERE clause", "Add a WHERE clause, or WHERE true if every row is meant.";
        DoubleQuotedString = "double-quoted-string", "{what} names no column, so SQLite reads it as text", "Write text in single quotes: {paste}.";
        ExplainOnly = "explain-only", "EXPLAIN runs nothing", "Remove EXPLAIN to run the statement.";
        BareName = "bare-name", "{what} is not in the root database, so it lands in {owner}", "Write {paste}.";
        ConflictReachesTrigger = "conflict-reaches-trigger", "its OR {what} also applies to what the triggers of {owner} write", "{way}";
        ReplaceDeletedRows = "replace-deleted-rows", "its REPLACE deleted {what} of {owner}", "{way}";
    }
    Policy {
        PolicyFile = "policy-file", "the policy file cannot be read", "";
        PolicyYaml = "policy-yaml", "the file is not the YAML that a policy may use", "";
        PolicyEmpty = "policy-empty", "the policy file holds nothing", "";
        PolicyKey = "policy-unknown-key", "a key that the policy language does not have", "";
        PolicyDuplicateKey = "policy-duplicate-key", "a key stands twice", "";
        PolicyType = "policy-wrong-type", "a value of another kind is due", "";
        PolicyValue = "policy-wrong-value", "a value that is not one of those possible", "";
        PolicyRule = "policy-rule-syntax", "a rule that the grammar does not know", "";
        PolicySplitRule = "policy-split-rule", "a flow list cut a rule at its comma", "";
        PolicyVersion = "policy-version", "the format version is missing or another", "";
        PolicyExtends = "policy-extends", "the parent policy cannot be used", "";
        PolicyRemove = "policy-remove-nothing", "a remove entry matches nothing", "";
    }
    Lint {
        LintNoMatch = "lint-no-match", "a name that matches nothing in the schema", "";
        LintNeverDecides = "lint-never-decides", "a rule that never decides anything", "";
        LintNoTrigger = "lint-no-trigger", "trust for a trigger or view that the schema does not have", "";
        LintTriggerWritesClosed = "lint-trigger-writes-closed", "a trigger writes a table that is closed to it", "";
        LintUnlistedCall = "lint-unlisted-call", "a trigger or view calls a function that is closed to it", "";
        LintSharedName = "lint-shared-name", "a view and a trigger bear one name", "";
        LintReplaceClause = "lint-replace-clause", "the schema replaces rows of a protected table", "";
    }
    Scenario {
        ScenarioFile = "scenario-file", "a file with setup SQL cannot be read", "";
        ScenarioSyntax = "scenario-syntax", "a scenario file is not the YAML or JSON that its name says", "";
        ScenarioField = "scenario-field", "a scenario file has no setup SQL where it is looked for", "";
    }
}

impl Code {
    /// The code with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.word() == word)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
