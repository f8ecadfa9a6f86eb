//! Policies built in code, of the same rules as a file's.

use super::document::{Document, Remove};
use super::grammar::Form;
use super::merge::merge;
use super::rule::Rule;
use super::settings::{Advice, ForeignKeys, Level, Limits};
use super::{Policy, PolicyError};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Place, Source};

/// Builds a [`Policy`] rule by rule; made by [`Policy::builder`].
///
/// ```
/// # use seawall::policy::Policy;
/// let policy = Policy::builder()
///     .extends(Policy::builtin("setup_sql")?)
///     .deny_rows("write on audit_log")?
///     .because("the audit log is written by triggers", "change the row it describes")
///     .allow_functions("json_each")?
///     .build()?;
/// assert_eq!(policy.rows.deny.len(), 1);
/// # Ok::<(), seawall::policy::PolicyError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PolicyBuilder {
    parent: Policy,
    own: Document,
    last: Last,
}

/// Which list the last rule went to.
#[derive(Clone, Copy, Debug, Default)]
enum Last {
    #[default]
    None,
    RowsAllow,
    RowsDeny,
    FunctionsAllow,
    FunctionsDeny,
    Pragmas,
    Triggers,
    Views,
    VirtualTables,
}

impl Policy {
    /// Starts a policy that is built in code; without anything added it allows nothing.
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder::default()
    }
}

macro_rules! rule_methods {
    ($($(#[$doc:meta])* $method:ident: $section:ident.$list:ident = $last:ident;)+) => {
        impl PolicyBuilder {
            $($(#[$doc])*
            ///
            /// # Errors
            /// The rule cannot be read.
            pub fn $method(mut self, rule: &str) -> Result<Self, PolicyError> {
                self.own.$section.$list.push(read(rule)?);
                self.last = Last::$last;
                Ok(self)
            })+
        }
    };
}

rule_methods! {
    /// Opens rows: `read, write on *.*`.
    allow_rows: rows.open = RowsAllow;
    /// Closes rows: `read on users(password)`.
    deny_rows: rows.deny = RowsDeny;
    /// Opens functions: `json_each`.
    allow_functions: functions.open = FunctionsAllow;
    /// Closes functions: `random*`.
    deny_functions: functions.deny = FunctionsDeny;
    /// Opens a pragma: `table_info(table)`.
    allow_pragmas: pragmas.open = Pragmas;
    /// Trusts triggers: `read, call by *`.
    trust_triggers: triggers.open = Triggers;
    /// Trusts views: `call by *`.
    trust_views: views.open = Views;
    /// Opens a command of virtual tables: `rebuild`.
    allow_commands: virtual_tables.open = VirtualTables;
}

macro_rules! remove_methods {
    ($($(#[$doc:meta])* $method:ident: $section:ident;)+) => {
        impl PolicyBuilder {
            $($(#[$doc])*
            #[must_use]
            pub fn $method(mut self, entries: &str) -> Self {
                self.own.$section.remove.push(Remove { glob: entries.to_owned(), place: None });
                self
            })+
        }
    };
}

remove_methods! {
    /// Takes away what the parent opens under `rows`, `*` standing for any text.
    remove_rows: rows;
    /// Takes away what the parent opens under `functions`, `*` standing for any text.
    remove_functions: functions;
    /// Takes away what the parent opens under `pragmas`, `*` standing for any text.
    remove_pragmas: pragmas;
    /// Takes away what the parent opens under `triggers`, `*` standing for any text.
    remove_triggers: triggers;
    /// Takes away what the parent opens under `views`, `*` standing for any text.
    remove_views: views;
    /// Takes away what the parent opens under `virtual_tables`, `*` standing for any text.
    remove_commands: virtual_tables;
}

impl PolicyBuilder {
    /// Takes over everything that `parent` says.
    #[must_use]
    pub fn extends(mut self, parent: Policy) -> Self {
        self.parent = parent;
        self
    }

    /// What the policy is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.own.description = Some(description.into());
        self
    }

    /// Gives the rule that was added last its words for refusals; an empty one is left out.
    #[must_use]
    pub fn because(mut self, reason: &str, fix: &str) -> Self {
        let words = (Some(reason).filter(|r| !r.is_empty()), Some(fix).filter(|f| !f.is_empty()));
        match self.last {
            Last::None => {}
            Last::RowsAllow => say(&mut self.own.rows.open, words),
            Last::RowsDeny => say(&mut self.own.rows.deny, words),
            Last::FunctionsAllow => say(&mut self.own.functions.open, words),
            Last::FunctionsDeny => say(&mut self.own.functions.deny, words),
            Last::Pragmas => say(&mut self.own.pragmas.open, words),
            Last::Triggers => say(&mut self.own.triggers.open, words),
            Last::Views => say(&mut self.own.views.open, words),
            Last::VirtualTables => say(&mut self.own.virtual_tables.open, words),
        }
        self
    }

    /// Sets when foreign keys are checked.
    #[must_use]
    pub fn foreign_keys(mut self, when: ForeignKeys) -> Self {
        self.own.foreign_keys = Some(when);
        self
    }

    /// Sets the limits that are given; the others stay the parent's.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.own.limits = limits;
        self
    }

    /// Sets what to do where advice applies.
    #[must_use]
    pub fn advice(mut self, advice: Advice, level: Level) -> Self {
        self.own.advice.insert(advice, level);
        self
    }

    /// The policy.
    ///
    /// # Errors
    /// Something is removed that the parent does not open, or a view is trusted for more than calls.
    pub fn build(self) -> Result<Policy, PolicyError> {
        let mut faults = Vec::new();
        for rule in &self.own.views.open {
            if rule.what.powers.iter().any(|power| *power != super::Power::Call) {
                let message = format!("a view can be trusted for calls alone, not for `{}`", rule.what);
                faults.push(Diagnostic::error(Code::PolicyRule, message, None));
            }
        }
        let policy = merge(self.parent, self.own, &mut faults);
        if faults.is_empty() { Ok(policy) } else { Err(PolicyError::new(faults)) }
    }
}

fn read<T: Form>(text: &str) -> Result<Rule<T>, PolicyError> {
    let what = T::read(text).map_err(|fault| {
        let place = Place { source: Source::new("<rule>", text), span: fault.span };
        let mut diagnostic =
            Diagnostic::error(Code::PolicyRule, fault.message, Some(place)).label(fault.label);
        diagnostic.help = Some(fault.help).filter(|help| !help.is_empty());
        PolicyError::new(vec![diagnostic])
    })?;
    Ok(Rule { what, reason: None, fix: None, place: None })
}

fn say<T>(rules: &mut [Rule<T>], (reason, fix): (Option<&str>, Option<&str>)) {
    if let Some(rule) = rules.last_mut() {
        rule.reason = reason.map(str::to_owned);
        rule.fix = fix.map(str::to_owned);
    }
}
