//! Pragmas that only report.

use super::{Decision, RuleId, Ruleset, Section};
use crate::diagnostic::Code;
use crate::policy::{ACTING_PRAGMAS, Argument, ArgumentType, REPORTING_ARGUMENT};
use crate::source::Name;

impl Ruleset {
    pub(super) fn decide_pragma(&self, name: &Name, argument: Option<&str>) -> Decision {
        let sets = argument.is_some() && !REPORTING_ARGUMENT.contains(&name.folded());
        if sets || ACTING_PRAGMAS.contains(&name.folded()) {
            return Decision::never(Code::PragmaNotReporting);
        }
        let open = |rule: &crate::policy::Rule<crate::policy::PragmaRule>| {
            rule.what.name.matches(name) && fits(rule.what.argument, argument)
        };
        match self.policy.pragmas.iter().position(open) {
            Some(index) => Decision::allow(RuleId { section: Section::Pragmas, index }),
            None => Decision::default(Code::PragmaNotReporting),
        }
    }

    /// Whether some form of the pragma is open.
    pub fn reports(&self, name: &Name) -> bool {
        self.policy.pragmas.iter().any(|rule| rule.what.name.matches(name))
    }
}

fn fits(declared: Option<Argument>, given: Option<&str>) -> bool {
    match (declared, given) {
        (None, None) => true,
        (Some(argument), None) => argument.optional,
        (None, Some(_)) => false,
        (Some(argument), Some(given)) => match argument.kind {
            ArgumentType::Integer => given.parse::<i64>().is_ok(),
            ArgumentType::Table | ArgumentType::Index => given.parse::<f64>().is_err(),
            ArgumentType::Text => true,
        },
    }
}
