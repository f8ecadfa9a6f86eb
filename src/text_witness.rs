//! What the text of a statement asks.
//!
//! It needs no database. With a catalog it also knows which schema a bare name lands in and which
//! tables are views or virtual. It never says that SQL is wrong: SQLite alone decides syntax.

mod collect;
mod expression;
mod nesting;
mod parse;
mod scope;
mod stream;
mod tables;
mod tokens;
mod words;
mod writes;

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

/// Stack that a deeply nested text may need, in bytes.
const STACK: usize = 64 << 20;
/// What must be left of the caller's own stack for the reading of any text to stay on it, in bytes.
const ENOUGH: usize = 32 << 20;
/// What must be left for each token of a text: it nests no deeper than it is long.
const EACH: usize = 32 << 10;

/// Everything that the text of `statement` is seen to ask.
///
/// The tokens tell the kind of a statement, what it writes and what no parser need see; the tree that
/// a parser makes of it tells what it reads and calls. Where there is no tree, tokens tell that too.
pub fn read(statement: &Statement<'_>, known: &Known, catalog: Option<&Catalog>) -> Reading {
    if !statement.head.is_row() {
        let requests = tokens::requests(statement, known, catalog);
        return Reading { requests, not_understood: None };
    }
    // A stack of our own costs more than reading an ordinary statement does.
    let enough = ENOUGH.min(statement.tokens.len().saturating_mul(EACH));
    let tree = stacker::maybe_grow(enough, STACK, || {
        let stream = stream::of(statement)?;
        let alias = stream.alias;
        let parsed = parse::parse(stream)?;
        let mut collector = collect::Collector::new(statement, known, catalog);
        collector.statement(&parsed, alias);
        Ok(collector.finish())
    });
    let (mut requests, not_understood) = match tree {
        Ok((requests, None)) => (requests, None),
        Ok((_, Some(why))) | Err(why) => (tokens::reads(statement, known, catalog), Some(why)),
    };
    requests.extend(tokens::writes(statement, catalog));
    requests.sort_by_key(|request| request.span);
    Reading { requests, not_understood }
}
