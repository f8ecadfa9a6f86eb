//! Leaving out tokens that ask for nothing, so that long and deep texts stay cheap to parse:
//! parentheses around parentheses, and rows of VALUES that hold nothing but literals.

use crate::statement::{Statement, Token, TokenKind};

/// The tokens of `statement` that are worth parsing.
pub(super) fn trimmed(statement: &Statement<'_>) -> Vec<Token> {
    let tokens = statement.unexplained();
    let text = |at: usize| tokens.get(at).map_or("", |token| statement.word(*token));
    let closings = closings(statement, tokens);
    let mut kept = vec![true; tokens.len()];
    for (open, close) in closings.iter().enumerate() {
        let Some(close) = *close else { continue };
        let inner = closings.get(open + 1).copied().flatten();
        // A query keeps its own parentheses: behind a name, another pair is that of a call.
        let query = ["select", "values", "with"].iter().any(|word| text(open + 2).eq_ignore_ascii_case(word));
        if inner == Some(close - 1) && !query {
            kept[open + 1] = false;
            kept[close - 1] = false;
        }
    }
    for at in 0..tokens.len() {
        if tokens[at].kind == TokenKind::Word && text(at).eq_ignore_ascii_case("values") {
            leave_out_literal_rows(statement, tokens, &closings, at + 1, &mut kept);
        }
    }
    let mut kept = kept.into_iter();
    let mut tokens = tokens.to_vec();
    tokens.retain(|_| kept.next().unwrap_or(true));
    tokens
}

/// For each opening parenthesis, where it is closed.
fn closings(statement: &Statement<'_>, tokens: &[Token]) -> Vec<Option<usize>> {
    let mut closings = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Mark) {
        match statement.word(*token) {
            "(" => open.push(at),
            ")" => {
                if let Some(opened) = open.pop() {
                    closings[opened] = Some(at);
                }
            }
            _ => {}
        }
    }
    closings
}

/// Leaves out the rows of the VALUES clause whose first row begins at `at`, but for that first one.
fn leave_out_literal_rows(
    statement: &Statement<'_>,
    tokens: &[Token],
    closings: &[Option<usize>],
    at: usize,
    kept: &mut [bool],
) {
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| statement.word(*token) == mark);
    let literal = |token: &Token| match token.kind {
        TokenKind::Word => {
            let word = statement.word(*token);
            ["null", "true", "false"].iter().any(|literal| word.eq_ignore_ascii_case(literal))
        }
        TokenKind::Quoted | TokenKind::Parameter => false,
        TokenKind::String | TokenKind::Blob | TokenKind::Number => true,
        TokenKind::Mark => !matches!(statement.word(*token), "->" | "->>"),
    };
    let Some(mut close) = closings.get(at).copied().flatten() else { return };
    while is(close + 1, ",") {
        let Some(next) = closings.get(close + 2).copied().flatten() else { return };
        if tokens[close + 2..next].iter().all(literal) {
            kept[close + 1..=next].fill(false);
        }
        close = next;
    }
}
