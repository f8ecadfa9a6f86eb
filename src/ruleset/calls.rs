//! Functions, operators and table functions.

use std::collections::HashMap;

use super::{Decision, RuleId, Ruleset, Section};
use crate::diagnostic::Code;
use crate::policy::{Pattern, Power};
use crate::request::Origin;
use crate::source::Name;

/// The rules of one function list: most are plain names, so a look-up decides; the globs are few.
#[derive(Clone, Debug, Default)]
pub(super) struct NameRules {
    literal: HashMap<Name, usize>,
    globs: Vec<(Pattern, usize)>,
}

impl NameRules {
    pub(super) fn new<'a>(patterns: impl Iterator<Item = &'a Pattern>) -> Self {
        let mut rules = Self::default();
        for (index, pattern) in patterns.enumerate() {
            match pattern.literal() {
                Some(name) => {
                    rules.literal.entry(name.clone()).or_insert(index);
                }
                None => rules.globs.push((pattern.clone(), index)),
            }
        }
        rules
    }

    fn find(&self, name: &Name) -> Option<usize> {
        let by_glob = || self.globs.iter().find(|(glob, _)| glob.matches(name)).map(|(_, index)| *index);
        self.literal.get(name.folded()).copied().or_else(by_glob)
    }
}

impl Ruleset {
    pub(super) fn decide_call(&self, name: &Name, origin: &Origin) -> Decision {
        let code = match origin {
            Origin::Expression | Origin::ForeignKey => return Decision::world(),
            Origin::Trigger(_) => Code::TriggerNotTrusted,
            Origin::View(_) => Code::ViewNotTrusted,
            Origin::Caller | Origin::Module(_) => Code::FunctionNotAllowed,
        };
        if let Some(rule) = self.trusted(origin, |grant| grant.powers.contains(&Power::Call)) {
            return Decision::allow(rule);
        }
        self.decide_callers_call(name).told_as(code)
    }

    fn decide_callers_call(&self, name: &Name) -> Decision {
        if let Some(index) = self.calls.denied.find(name) {
            let rule = RuleId { section: Section::FunctionsDeny, index };
            return Decision::deny(rule, Code::FunctionNotAllowed);
        }
        match self.calls.allowed.find(name) {
            Some(index) => Decision::allow(RuleId { section: Section::FunctionsAllow, index }),
            None => Decision::default(Code::FunctionNotAllowed),
        }
    }

    /// Whether the caller may call `name`.
    pub fn allows_call(&self, name: &Name) -> bool {
        self.decide_callers_call(name).allowed
    }
}
