//! A decision and its ground.

use crate::diagnostic::Code;
use crate::policy::Rule;
use crate::source::Place;

use super::Ruleset;

/// Yes or no, with the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether the request may go on.
    pub allowed: bool,
    /// Why it was decided so.
    pub ground: Ground,
    /// What a refusal says; `None` where it is allowed.
    pub code: Option<Code>,
}

/// Why a decision fell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// A rule of the policy.
    Rule(RuleId),
    /// No rule speaks of it, so it is closed.
    Default,
    /// No policy can open it.
    Never,
    /// The world's own text asks, and may.
    World,
}

impl Ground {
    /// The word for it in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rule(_) => "rule",
            Self::Default => "default",
            Self::Never => "never",
            Self::World => "world",
        }
    }
}

/// One rule of the effective policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId {
    /// The list that it stands in.
    pub section: Section,
    /// Its place in that list.
    pub index: usize,
}

/// The lists of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// `rows.allow`
    RowsAllow,
    /// `rows.deny`
    RowsDeny,
    /// `functions.allow`
    FunctionsAllow,
    /// `functions.deny`
    FunctionsDeny,
    /// `pragmas.allow`
    Pragmas,
    /// `triggers.trust`
    Triggers,
    /// `views.trust`
    Views,
    /// `virtual_tables.allow`
    VirtualTables,
}

impl Section {
    /// Its keys in a policy file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::RowsAllow => "rows.allow",
            Self::RowsDeny => "rows.deny",
            Self::FunctionsAllow => "functions.allow",
            Self::FunctionsDeny => "functions.deny",
            Self::Pragmas => "pragmas.allow",
            Self::Triggers => "triggers.trust",
            Self::Views => "views.trust",
            Self::VirtualTables => "virtual_tables.allow",
        }
    }
}

/// A rule as people see it.
#[derive(Clone, Copy, Debug)]
pub struct RuleView<'a> {
    /// Its author's reason.
    pub reason: Option<&'a str>,
    /// Its author's way out.
    pub fix: Option<&'a str>,
    /// Where it stands; `None` for a rule built in code.
    pub place: Option<&'a Place>,
}

impl Decision {
    pub(super) const fn allow(rule: RuleId) -> Self {
        Self { allowed: true, ground: Ground::Rule(rule), code: None }
    }

    pub(super) const fn world() -> Self {
        Self { allowed: true, ground: Ground::World, code: None }
    }

    pub(super) const fn deny(rule: RuleId, code: Code) -> Self {
        Self { allowed: false, ground: Ground::Rule(rule), code: Some(code) }
    }

    pub(super) const fn default(code: Code) -> Self {
        Self { allowed: false, ground: Ground::Default, code: Some(code) }
    }

    pub(super) const fn never(code: Code) -> Self {
        Self { allowed: false, ground: Ground::Never, code: Some(code) }
    }

    /// The same decision, told as this code if it denies.
    pub(super) fn told_as(mut self, code: Code) -> Self {
        self.code = self.code.map(|_| code);
        self
    }
}

impl Ruleset {
    /// What the author of the policy wrote at `id`.
    pub fn rule(&self, id: RuleId) -> Option<RuleView<'_>> {
        fn view<T>(rules: &[Rule<T>], index: usize) -> Option<RuleView<'_>> {
            rules.get(index).map(|rule| RuleView {
                reason: rule.reason.as_deref(),
                fix: rule.fix.as_deref(),
                place: rule.place.as_ref(),
            })
        }
        let policy = &self.policy;
        match id.section {
            Section::RowsAllow => view(&policy.rows.allow, id.index),
            Section::RowsDeny => view(&policy.rows.deny, id.index),
            Section::FunctionsAllow => view(&policy.functions.allow, id.index),
            Section::FunctionsDeny => view(&policy.functions.deny, id.index),
            Section::Pragmas => view(&policy.pragmas, id.index),
            Section::Triggers => view(&policy.triggers, id.index),
            Section::Views => view(&policy.views, id.index),
            Section::VirtualTables => view(&policy.virtual_tables, id.index),
        }
    }
}
