//! What the text of a statement alone holds against it.

use super::advice;
use crate::catalog::Catalog;
use crate::diagnostic::Code;
use crate::policy::Level;
use crate::refusal::{Finding, settle};
use crate::request::Request;
use crate::ruleset::Ruleset;
use crate::statement::Statement;

/// Denials of what it is seen to ask first, then advice that is denied.
pub(super) fn findings(
    ruleset: &Ruleset,
    catalog: Option<&Catalog>,
    statement: &Statement<'_>,
    asked: Vec<Request>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(nul) = statement.nul {
        findings.push(Finding::plain(Code::NulByte, Some(nul), ""));
    }
    for parameter in &statement.parameters {
        let text = statement.text.get(parameter.range()).unwrap_or_default();
        findings.push(Finding::plain(Code::BindParameter, Some(*parameter), text));
    }
    for request in asked {
        let decision = ruleset.decide(&request);
        findings.extend(Finding::denied(request, decision));
    }
    findings.extend(advice::from_text(ruleset.policy(), catalog, statement, Level::Deny));
    settle(findings)
}
