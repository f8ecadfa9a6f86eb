//! A text of several statements, within the bounds of the policy.

use std::cell::OnceCell;

use super::door::Guard;
use crate::diagnostic::Code;
use crate::refusal::{Context, Failure, FailureContext, counted, in_bytes};
use crate::ruleset::Ruleset;
use crate::source::{Source, Span};
use crate::statement::{self, Statement};

/// A text, cut into statements; they are read as a whole only where there is something to tell.
pub(crate) struct Script<'s> {
    pub(crate) guard: &'s Guard,
    pub(crate) source: &'s Source,
    pub(crate) spans: Vec<Span>,
    statements: OnceCell<Vec<Statement<'s>>>,
}

impl<'s> Script<'s> {
    /// Cuts `source`, unless it exceeds a bound of the policy.
    pub(crate) fn cut(guard: &'s Guard, source: &'s Source) -> Result<Self, Box<Failure>> {
        within_text(guard, source.text())?;
        let spans = statement::split(source.text());
        match guard.policy().limits.statements {
            Some(bound) if spans.len() as u64 > bound => {
                let bound = counted(bound, "statement");
                let failure = Failure::of_text(guard.name(), Code::LimitStatements, &bound, spans.len());
                Err(Box::new(failure))
            }
            _ => Ok(Self { guard, source, spans, statements: OnceCell::new() }),
        }
    }

    /// Whether SQLite reads all of the text: it reads nothing of a statement behind a NUL byte, so that no
    /// shape tells what such a one is.
    pub(crate) fn is_whole(&self) -> bool {
        !self.source.text().as_bytes().contains(&0)
    }

    pub(crate) fn statements(&self) -> &[Statement<'s>] {
        let read = |span: &Span| Statement::read(self.source.text(), *span);
        self.statements.get_or_init(|| self.spans.iter().map(read).collect())
    }

    pub(crate) fn sql(&self, index: usize) -> &'s str {
        self.spans.get(index).map_or("", |span| self.source.slice(*span))
    }

    /// For the words of a refusal.
    pub(crate) fn context<'a>(&'a self, index: usize, ruleset: &'a Ruleset) -> Context<'a> {
        Context {
            door: self.guard.name(),
            source: self.source,
            statements: self.statements(),
            index,
            ruleset,
        }
    }

    /// For the words of a failure, without what is near it.
    pub(crate) fn failure_context<'a>(
        &'a self,
        index: usize,
        ruleset: &'a Ruleset,
    ) -> Option<FailureContext<'a>> {
        Some(FailureContext {
            door: self.guard.name(),
            source: self.source,
            statement: self.statements().get(index)?,
            index,
            statements: self.spans.len(),
            ruleset,
            near: None,
        })
    }
}

/// Says where `text` is larger than the policy lets it be.
pub(super) fn within_text(guard: &Guard, text: &str) -> Result<(), Box<Failure>> {
    match guard.policy().limits.text {
        Some(bound) if text.len() as u64 > bound => {
            Err(Box::new(Failure::of_text(guard.name(), Code::LimitText, &in_bytes(bound), 0)))
        }
        _ => Ok(()),
    }
}
