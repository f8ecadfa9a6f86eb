//! Where in a text the name of a CTE means that CTE.

use crate::source::Span;
use crate::statement::{Statement, TableMention, Token};

/// Whether a bare name in a FROM stands where a CTE of that name hides every table.
pub(super) fn names_cte(statement: &Statement<'_>, source: &TableMention) -> bool {
    let ctes = statement.ctes.iter().filter(|cte| cte.name == source.table);
    ctes.map(|cte| scope(statement, cte.span))
        .any(|scope| scope.start <= source.span.start && source.span.end <= scope.end)
}

/// The query that the WITH with the name at `cte` belongs to: what is between the parentheses around
/// it, or the statement. A WITH behind the target of an INSERT ends before what follows its query.
fn scope(statement: &Statement<'_>, cte: Span) -> Span {
    let text = |token: &Token| statement.text.get(token.span.range()).unwrap_or_default();
    let tokens = &statement.tokens;
    let at = tokens.partition_point(|token| token.span.start < cte.start);
    let (before, after) = tokens.split_at(at);
    let mut depth = 0_usize;
    let mut start = statement.span.start;
    for token in before.iter().rev() {
        match (text(token), depth) {
            (")", _) => depth += 1,
            ("(", 0) => {
                start = token.span.end;
                break;
            }
            ("(", _) => depth -= 1,
            _ => {}
        }
    }
    let target = statement.target.as_ref().map_or(usize::MAX, |target| target.table.span.end);
    let behind_target = start == statement.span.start && cte.start > target;
    depth = 0;
    for token in after {
        let word = text(token);
        let ends = behind_target && ["returning", "conflict"].iter().any(|w| word.eq_ignore_ascii_case(w));
        match (word, depth) {
            ("(", _) => depth += 1,
            (")", 0) => return Span::new(start, token.span.start),
            (")", _) => depth -= 1,
            (_, 0) if ends => return Span::new(start, token.span.start),
            _ => {}
        }
    }
    Span::new(start, statement.span.end)
}
