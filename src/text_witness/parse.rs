//! The parser's answer for a statement: the AST of its body and of each ON CONFLICT clause.

use sqlparser::ast::{Expr, OrderByExpr, Statement as Ast, Update};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::NotUnderstood;
use super::stream::Stream;
use crate::source::Span;

/// Levels of nesting at most; beyond SQLite's own bound.
const DEEPEST: usize = 2_500;

/// The tree of a statement.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) statement: Ast,
    pub(super) upserts: Vec<Upsert>,
}

/// An ON CONFLICT clause.
#[derive(Debug, Default)]
pub(super) struct Upsert {
    /// The expressions of the unique key that it is about.
    pub(super) target: Vec<OrderByExpr>,
    pub(super) target_where: Option<Expr>,
    /// What DO UPDATE assigns, as an UPDATE of its own.
    pub(super) update: Option<Update>,
}

/// Parses a stream of tokens. What the parser does not take is no fault of the author's.
pub(super) fn parse(stream: Stream) -> Result<Parsed, NotUnderstood> {
    let statement = whole(stream.main, |parser| parser.parse_statement())?;
    let upserts = stream.upserts.into_iter().map(upsert).collect::<Result<_, _>>()?;
    Ok(Parsed { statement, upserts })
}

/// What `parse` makes of all of `tokens`.
fn whole<T>(
    tokens: Vec<TokenWithSpan>,
    parse: impl FnOnce(&mut Parser<'_>) -> Result<T, ParserError>,
) -> Result<T, NotUnderstood> {
    let dialect = SQLiteDialect {};
    let mut parser = Parser::new(&dialect).with_recursion_limit(DEEPEST).with_tokens_with_locations(tokens);
    let parsed = parse(&mut parser);
    let next = parser.peek_token();
    match parsed {
        Ok(parsed) if next.token == Token::EOF => Ok(parsed),
        Err(ParserError::RecursionLimitExceeded) => {
            Err(NotUnderstood { reason: "it is nested too deeply", span: None })
        }
        _ => Err(NotUnderstood { reason: "its form is not known to the parser", span: span(&next) }),
    }
}

fn span(token: &TokenWithSpan) -> Option<Span> {
    let (start, end) = (token.span.start, token.span.end);
    let at = |column: u64| usize::try_from(column).ok();
    if start.line == 0 { None } else { Some(Span::new(at(start.column)?, at(end.column)?)) }
}

/// `[(a, b) [WHERE ..]] DO NOTHING | DO UPDATE SET .. [WHERE ..]`
fn upsert(tokens: Vec<TokenWithSpan>) -> Result<Upsert, NotUnderstood> {
    let mut found = Upsert::default();
    let unknown = NotUnderstood { reason: "its ON CONFLICT clause is not known", span: None };
    let mut depth = 0_usize;
    let mut close = None;
    let mut action = None;
    for (at, token) in tokens.iter().enumerate() {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => {
                depth = depth.checked_sub(1).ok_or(unknown)?;
                close = close.or((depth == 0).then_some(at));
            }
            Token::Word(word) if depth == 0 && is_plain(word, "do") => {
                action = Some(at);
                break;
            }
            _ => {}
        }
    }
    let action = action.ok_or(unknown)?;
    if action > 0 {
        let close = close.filter(|close| *close < action).ok_or(unknown)?;
        let target = tokens.get(1..close).unwrap_or_default().to_vec();
        found.target = whole(target, |parser| parser.parse_comma_separated(Parser::parse_order_by_expr))?;
        match tokens.get(close + 1..action).unwrap_or_default() {
            [] => {}
            [first, rest @ ..] if is_keyword(first, Keyword::WHERE) => {
                found.target_where = Some(whole(rest.to_vec(), |parser| parser.parse_expr())?);
            }
            _ => return Err(unknown),
        }
    }
    match tokens.get(action + 1..).unwrap_or_default() {
        [only] if matches!(&only.token, Token::Word(word) if is_plain(word, "nothing")) => {}
        [update, rest @ ..] if is_keyword(update, Keyword::UPDATE) => {
            let table = Word { value: "t".to_owned(), quote_style: None, keyword: Keyword::NoKeyword };
            let mut tokens = vec![update.clone(), TokenWithSpan::wrap(Token::Word(table))];
            tokens.extend_from_slice(rest);
            match whole(tokens, |parser| parser.parse_statement())? {
                Ast::Update(update) => found.update = Some(update),
                _ => return Err(unknown),
            }
        }
        _ => return Err(unknown),
    }
    Ok(found)
}

fn is_plain(word: &Word, text: &str) -> bool {
    word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text)
}

fn is_keyword(token: &TokenWithSpan, keyword: Keyword) -> bool {
    matches!(&token.token, Token::Word(word) if word.keyword == keyword)
}
