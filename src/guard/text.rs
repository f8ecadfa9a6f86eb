//! What the text of a statement alone holds against it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::advice;
use super::judging::Judging;
use crate::catalog::Catalog;
use crate::diagnostic::Code;
use crate::engine::catalog::details;
use crate::policy::Level;
use crate::refusal::{Finding, settle};
use crate::request::Request;
use crate::ruleset::Ruleset;
use crate::source::{Name, Span};
use crate::statement::Statement;
use crate::text_witness::{self, Reading};

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

impl Judging<'_> {
    /// What the text of a statement is seen to ask, read to its end, with the columns of every table that it
    /// mentions. That takes longer than a short run has, so only what is not plainly open is read so.
    pub(super) fn read_whole(&mut self, statement: &Statement<'_>) -> Reading {
        let catalog = self.detailed.get_or_insert_with(|| Catalog::clone(&self.catalog));
        let mut names = BTreeSet::new();
        statement.mentions(|word| {
            names.insert(Name::from(word));
            false
        });
        for schema in &mut catalog.schemas {
            for name in &names {
                if let Some(table) = schema.tables.get_mut(name).filter(|table| table.details.is_none()) {
                    table.details = details(self.connection, &schema.name, name).ok().map(Arc::new);
                }
            }
        }
        text_witness::read(statement, &catalog.known, Some(catalog))
    }
}

/// Where the text was read to ask what another witness saw.
pub(super) fn place(text: &Reading, request: &Request) -> Option<Span> {
    let same = |read: &&Request| read.action == request.action && read.resource == request.resource;
    text.requests.iter().find(same).and_then(|read| read.span)
}
