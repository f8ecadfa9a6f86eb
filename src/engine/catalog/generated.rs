//! Which columns a generated column is made from, read from the text that created the table.

use crate::catalog::Column;
use crate::source::{Name, Span};
use crate::statement::{self, TokenKind};

/// Fills in `generated_from` of each generated column.
///
/// A column counts as made from every column whose name its definition mentions: one too many hides
/// more, never less.
pub(super) fn trace(sql: &str, columns: &mut [Column]) {
    let names: Vec<Name> = columns.iter().map(|column| column.name.clone()).collect();
    for definition in definitions(sql) {
        let Some((first, rest)) = definition.split_first() else { continue };
        let Some(column) = columns.iter_mut().find(|column| column.name == *first) else { continue };
        if let Some(from) = &mut column.generated_from {
            from.extend(rest.iter().filter(|word| **word != *first && names.contains(word)).cloned());
        }
    }
}

/// The words and names of each column definition, the column's own name first.
fn definitions(sql: &str) -> Vec<Vec<Name>> {
    let (tokens, _) = statement::tokens(sql, Span::new(0, sql.len()));
    let mut definitions = Vec::new();
    let mut current = Vec::new();
    let mut depth = 0;
    for token in tokens {
        let word = sql.get(token.span.range()).unwrap_or_default();
        match word {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 1 => definitions.push(std::mem::take(&mut current)),
            _ if depth >= 1 && is_name(token.kind) => current.push(Name::from(&*statement::unquote(word))),
            _ => {}
        }
    }
    definitions.push(current);
    definitions
}

const fn is_name(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Word | TokenKind::Quoted | TokenKind::String)
}
