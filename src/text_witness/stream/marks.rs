//! Tokens of the parser.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, Word};

use crate::statement;

/// A name without quotes.
pub(super) fn plain(text: &str) -> Token {
    Token::Word(Word { value: text.to_owned(), quote_style: None, keyword: Keyword::NoKeyword })
}

/// A name in quotes; which ones, only matters for double ones.
pub(super) fn named(text: &str) -> Token {
    let quote = if text.starts_with('"') { '"' } else { '`' };
    let value = statement::unquote(text).into_owned();
    Token::Word(Word { value, quote_style: Some(quote), keyword: Keyword::NoKeyword })
}

pub(super) fn operator(text: &str) -> Option<Token> {
    Some(match text {
        "+" => Token::Plus,
        "-" => Token::Minus,
        "*" => Token::Mul,
        "/" => Token::Div,
        "%" => Token::Mod,
        "," => Token::Comma,
        "." => Token::Period,
        ";" => Token::SemiColon,
        "=" | "==" => Token::Eq,
        "<>" | "!=" => Token::Neq,
        "<" => Token::Lt,
        "<=" => Token::LtEq,
        ">" => Token::Gt,
        ">=" => Token::GtEq,
        "||" => Token::StringConcat,
        "|" => Token::Pipe,
        "&" => Token::Ampersand,
        "<<" => Token::ShiftLeft,
        ">>" => Token::ShiftRight,
        "~" => Token::Tilde,
        "->" => Token::Arrow,
        "->>" => Token::LongArrow,
        _ => return None,
    })
}
