//! An explanation as JSON.

use serde_json::{Value, json};

use super::{Decided, Explained, Explanation};
use crate::diagnostic::Code;
use crate::guard::Way;
use crate::refusal::{Failure, Refusal};
use crate::request::{Resource, Witness};
use crate::source::{Name, Place, Source};

impl Explained {
    /// As JSON, with every key.
    pub fn json(&self) -> Value {
        let statements = self.statements.iter().enumerate();
        json!({
            "database": !self.by_text_alone,
            "statements": statements.map(|(index, one)| one.json(index + 1)).collect::<Vec<Value>>(),
            "error": self.exceeded.as_ref().map(Failure::json),
        })
    }
}

impl Explanation {
    fn json(&self, number: usize) -> Value {
        let (way, why) = match &self.way {
            Way::TextAlone => ("text", None),
            Way::Short => ("short", None),
            Way::Full(why) => ("full", Some(why.to_string())),
        };
        let not_understood = self.not_understood.as_ref().map(|(reason, place)| {
            let position = place.as_ref().map(Place::position);
            json!({
                "reason": reason,
                "span": place.as_ref().map(|place| [place.span.start, place.span.end]),
                "line": position.map(|position| position.line),
                "column": position.map(|position| position.column),
            })
        });
        let requests = self.requests.iter().map(|request| request.json(&self.place.source));
        json!({
            "statement": number,
            "kind": self.kind,
            "outcome": self.outcome.word(),
            "way": way,
            "why": why,
            "not_understood": not_understood,
            "requests": requests.collect::<Vec<Value>>(),
            "modules": self.modules.iter().map(Name::as_str).collect::<Vec<&str>>(),
            "refusals": self.refusals.iter().map(Refusal::json).collect::<Vec<Value>>(),
            "error": self.error.as_ref().map(Failure::json),
        })
    }
}

impl Decided {
    fn json(&self, source: &Source) -> Value {
        let (request, decision) = (&self.seen.request, &self.seen.decision);
        let (mut column, mut name, mut argument) = (None, None, None);
        match &request.resource {
            Resource::Table { .. } => {}
            Resource::Column { column: of_table, .. } => column = Some(of_table.as_str()),
            Resource::Function(function) => name = Some(function.as_str()),
            Resource::Pragma { name: pragma, argument: given } => {
                (name, argument) = (Some(pragma.as_str()), given.as_deref());
            }
            Resource::Command { command, .. } => name = command.as_deref(),
            Resource::Statement(words) => name = Some(words),
        }
        let table = request.resource.table_name();
        let witnesses: Vec<&str> = self.seen.witnesses.iter().copied().map(Witness::word).collect();
        let rule = self.rule.as_ref().map(
            |rule| json!({ "file": rule.source.name(), "line": rule.position().line, "text": rule.text() }),
        );
        // A request may have a column of a table, so its place in the text is a pair of its own.
        let at = request.span.map(|span| source.position(span.start));
        json!({
            "action": request.action.word(),
            "resource": request.resource.to_string(),
            "schema": table.map(|(schema, _)| schema.as_str()),
            "table": table.map(|(_, table)| table.as_str()),
            "column": column,
            "name": name,
            "argument": argument,
            "origin": request.origin.to_string(),
            "witnesses": witnesses,
            "allowed": decision.allowed,
            "code": decision.code.map(Code::word),
            "ground": decision.ground.word(),
            "rule": rule,
            "span": request.span.map(|span| [span.start, span.end]),
            "position": at.map(|at| json!({ "line": at.line, "column": at.column })),
        })
    }
}
