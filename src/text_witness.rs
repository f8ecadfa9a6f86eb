//! What the text of a statement asks.
//!
//! It needs no database. With a catalog it also knows which schema a bare name lands in and which
//! tables are views or virtual. It never says that SQL is wrong: SQLite alone decides syntax.

mod tokens;

use crate::catalog::{Catalog, Known};
use crate::request::Request;
use crate::source::Span;
use crate::statement::Statement;

/// What a text was seen to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The requests, in the order of the text.
    pub requests: Vec<Request>,
    /// Why there may be more that the text asks; `None` where it was understood to its end.
    pub not_understood: Option<NotUnderstood>,
}

/// Why a text was not understood to its end. That is never held against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUnderstood {
    /// Why, as a clause without a period.
    pub reason: &'static str,
    /// The words that were not understood, if they are known.
    pub span: Option<Span>,
}

/// The requests that the tokens of `statement` show; costs little.
pub fn mentioned(statement: &Statement<'_>, known: &Known, catalog: Option<&Catalog>) -> Vec<Request> {
    tokens::requests(statement, known, catalog)
}

/// Everything that the text of `statement` is seen to ask.
pub fn read(statement: &Statement<'_>, known: &Known, catalog: Option<&Catalog>) -> Reading {
    Reading { requests: tokens::requests(statement, known, catalog), not_understood: None }
}
