//! What kind of statement it is.

use pest::Parser;
use pest::iterators::Pair;

use super::token::unquote;
use crate::source::{Name, Span};

/// EXPLAIN before a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Explain {
    /// `EXPLAIN`: the program.
    Program,
    /// `EXPLAIN QUERY PLAN`.
    QueryPlan,
}

/// The kind of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// SELECT or VALUES, with or without WITH.
    Select,
    /// INSERT or REPLACE, with or without WITH.
    Insert,
    /// UPDATE, with or without WITH.
    Update,
    /// DELETE, with or without WITH.
    Delete,
    /// PRAGMA.
    Pragma(PragmaHead),
    /// CREATE, DROP, ALTER, REINDEX, ANALYZE.
    Schema,
    /// BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT, RELEASE.
    Transaction,
    /// ATTACH, DETACH.
    Attach,
    /// VACUUM.
    Maintenance,
    /// Nothing that the grammar starts with; SQLite will say so.
    Unknown,
}

impl Head {
    /// Whether it reads or writes rows.
    pub const fn is_row(&self) -> bool {
        matches!(self, Self::Select | Self::Insert | Self::Update | Self::Delete)
    }
}

/// A PRAGMA statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PragmaHead {
    /// The schema before the name.
    pub schema: Option<Name>,
    /// The pragma.
    pub name: Name,
    /// Its name in the text.
    pub span: Span,
    /// What stands in its parentheses or after `=`.
    pub argument: Option<PragmaArgument>,
}

/// The argument of a PRAGMA statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PragmaArgument {
    /// As SQLite passes it on: without quotes, with its sign.
    pub text: String,
    /// Its tokens.
    pub span: Span,
}

#[derive(pest_derive::Parser)]
#[grammar = "statement/head.pest"]
struct Grammar;

/// The head of a statement that is not about rows: the words at `span` of `text`.
pub(super) fn read(text: &str, span: Span) -> Head {
    let words = text.get(span.range()).unwrap_or_default();
    let head = Grammar::parse(Rule::head, words).ok().and_then(|mut pairs| pairs.next()?.into_inner().next());
    let Some(head) = head else { return Head::Unknown };
    match head.as_rule() {
        Rule::pragma => pragma(head, span.start).map_or(Head::Unknown, Head::Pragma),
        Rule::attach => Head::Attach,
        Rule::maintenance => Head::Maintenance,
        Rule::transaction => Head::Transaction,
        Rule::schema => Head::Schema,
        _ => Head::Unknown,
    }
}

fn pragma(head: Pair<'_, Rule>, offset: usize) -> Option<PragmaHead> {
    let (mut names, mut argument) = (Vec::with_capacity(2), None);
    for part in head.into_inner() {
        match part.as_rule() {
            Rule::name => names.push((Name::from(unquote(part.as_str()).as_ref()), place(&part, offset))),
            Rule::argument => argument = Some(pragma_argument(part, offset)),
            _ => {}
        }
    }
    let (name, span) = names.pop()?;
    let schema = names.pop().map(|(schema, _)| schema);
    Some(PragmaHead { schema, name, span, argument })
}

/// SQLite passes on the text of a number with its minus, and all else without quotes. Where the
/// value is missing or no value, it will refuse the statement.
fn pragma_argument(part: Pair<'_, Rule>, offset: usize) -> PragmaArgument {
    let end = place(&part, offset).end;
    let Some(value) = part.into_inner().next() else {
        return PragmaArgument { text: String::new(), span: Span::new(end, end) };
    };
    let span = place(&value, offset);
    let mut text = String::new();
    for piece in value.into_inner() {
        match piece.as_rule() {
            Rule::sign if piece.as_str() == "-" => text.push('-'),
            Rule::number => text.push_str(piece.as_str()),
            Rule::name => text.push_str(&unquote(piece.as_str())),
            _ => {}
        }
    }
    PragmaArgument { text, span }
}

fn place(pair: &Pair<'_, Rule>, offset: usize) -> Span {
    let span = pair.as_span();
    Span::new(span.start(), span.end()).shifted(offset)
}
