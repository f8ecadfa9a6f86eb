//! What a judgement found, before it has words.

use std::collections::BTreeMap;

use crate::diagnostic::Code;
use crate::request::{Action, Request, Resource};
use crate::ruleset::{Decision, Ground};
use crate::source::{Name, Span};

/// One thing that a judgement holds against a statement, or advises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which kind.
    pub code: Code,
    /// What was asked; `None` for what is no request: a NUL byte, a bind parameter, advice.
    pub request: Option<Request>,
    /// Why it was decided so.
    pub ground: Ground,
    /// Where in the text, if known.
    pub span: Option<Span>,
    /// The words of the text or the name it is about, for advice.
    pub subject: String,
    /// A second name or a text ready to paste, for advice.
    pub detail: String,
}

impl Finding {
    /// A request that was denied; `None` where the decision allows.
    pub(crate) fn denied(request: Request, decision: Decision) -> Option<Self> {
        let code = decision.code?;
        let span = request.span;
        Some(Self {
            code,
            request: Some(request),
            ground: decision.ground,
            span,
            subject: String::new(),
            detail: String::new(),
        })
    }

    /// Something that is no request.
    pub(crate) fn plain(code: Code, span: Option<Span>, subject: impl Into<String>) -> Self {
        let (request, detail) = (None, String::new());
        Self { code, request, ground: Ground::Never, span, subject: subject.into(), detail }
    }

    /// The order in which several findings of one statement are told.
    fn rank(&self) -> (u8, usize, Code) {
        let class = match (self.code, &self.ground, self.request.as_ref().map(|request| request.action)) {
            (Code::NulByte, ..) => 0,
            (Code::BindParameter, ..) => 1,
            (_, Ground::Never, Some(_)) => 2,
            (_, _, Some(Action::Pragma)) => 3,
            (_, _, Some(Action::Call)) => 5,
            (_, _, Some(_)) => 4,
            (_, _, None) => 6,
        };
        (class, self.span.map_or(usize::MAX, |span| span.start), self.code)
    }

    fn verb(&self) -> Option<Action> {
        self.request.as_ref().map(|request| request.action)
    }

    fn is_ruled(&self) -> bool {
        !matches!(self.ground, Ground::Default)
    }

    /// Whether both say the same of the same thing, perhaps seen by two witnesses.
    fn repeats(&self, other: &Self) -> bool {
        let resource = |finding: &'_ Self| finding.request.as_ref().map(|request| request.resource.clone());
        match (resource(self), resource(other)) {
            _ if self.code != other.code => false,
            // Another verb may need another line of the policy, unless one rule closes both.
            _ if self.verb() != other.verb() && !(self.ground == other.ground && self.is_ruled()) => false,
            (Some(a), Some(b)) if a == b => true,
            // A table as a whole and one of its columns: the table's refusal says it all.
            (
                Some(a @ (Resource::Column { .. } | Resource::Table { .. })),
                Some(b @ Resource::Table { .. }),
            ) => table(&a) == table(&b),
            (None, None) => self.span == other.span && self.subject == other.subject,
            _ => false,
        }
    }

    /// What findings have in common of which one may repeat the other.
    fn about(&self) -> (Code, Option<(Name, Name)>, String) {
        match &self.request {
            None => (self.code, None, format!("{:?} {}", self.span, self.subject)),
            Some(Request { resource, .. }) => match table(resource) {
                Some(table) => (self.code, Some(table), String::new()),
                None => (self.code, None, resource.to_string().to_ascii_lowercase()),
            },
        }
    }
}

fn table(resource: &Resource) -> Option<(Name, Name)> {
    resource.table_name().map(|(schema, table)| one_name(schema, table))
}

/// A table under the name by which two witnesses may know it differently.
pub(crate) fn one_name(schema: &Name, table: &Name) -> (Name, Name) {
    match table.folded() {
        "sqlite_master" => (schema.clone(), Name::from("sqlite_schema")),
        "sqlite_temp_master" | "sqlite_temp_schema" => (Name::from("temp"), Name::from("sqlite_schema")),
        _ => (schema.clone(), table.clone()),
    }
}

/// Puts findings in their order and drops those that say a thing again.
pub(crate) fn settle(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(Finding::rank);
    // A text may be refused for each of many thousand things, so only those are compared that can repeat
    // each other.
    let mut groups: BTreeMap<_, Vec<(usize, Finding)>> = BTreeMap::new();
    for (place, finding) in findings.into_iter().enumerate() {
        let kept = groups.entry(finding.about()).or_default();
        if kept.iter().any(|(_, earlier)| finding.repeats(earlier)) {
            continue;
        }
        kept.retain(|(_, earlier)| !earlier.repeats(&finding));
        kept.push((place, finding));
    }
    let mut kept: Vec<(usize, Finding)> = groups.into_values().flatten().collect();
    kept.sort_by_key(|(place, _)| *place);
    kept.into_iter().map(|(_, finding)| finding).collect()
}
