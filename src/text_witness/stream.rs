//! The tokens that the parser is given: SQLite's own, mended where the parser's language is another.
//!
//! Nothing that is left out or rewritten here holds a name that a statement asks for. Every token
//! keeps its bytes: a location's column is the offset in the text.

mod around;
mod marks;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Span as Place, Token, TokenWithSpan, Word};

use super::NotUnderstood;
use super::nesting::trimmed;
use super::words::{keyword, may_name};
use crate::source::Span;
use crate::statement::{self, Head, Statement, TokenKind};
use marks::{named, operator, plain};

/// Operators in one run at most. SQLite's own bound on the depth of an expression is as large.
const MOST_OPERATORS: usize = 1_000;
/// Tokens that are given to the parser at most; a statement of that size is judged by its tokens.
const MOST_TOKENS: usize = 200_000;
/// The longest text literal that is handed on; only an alias needs its text at all.
const LONGEST_LITERAL: usize = 256;

/// Words that can stand before JOIN.
const JOIN: [Keyword; 7] = [
    Keyword::NATURAL,
    Keyword::LEFT,
    Keyword::RIGHT,
    Keyword::FULL,
    Keyword::INNER,
    Keyword::OUTER,
    Keyword::CROSS,
];

/// The mended tokens of a statement, in the parts that are parsed one by one.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The statement without its ON CONFLICT clauses.
    pub(super) main: Vec<TokenWithSpan>,
    /// Its ON CONFLICT clauses, from the token behind CONFLICT on.
    pub(super) upserts: Vec<Vec<TokenWithSpan>>,
    /// The name that an INSERT gives its table.
    pub(super) alias: Option<Span>,
}

/// Mends the tokens of `statement`.
pub(super) fn of(statement: &Statement<'_>) -> Result<Stream, NotUnderstood> {
    let mut mending = Mending {
        statement,
        tokens: trimmed(statement),
        out: Vec::new(),
        frames: vec![Frame::default()],
        at: 0,
        names: names(statement),
        stream: Stream::default(),
    };
    mending.run()?;
    Ok(mending.stream)
}

/// The tokens that are strings and stand where SQLite takes one for a name.
fn names(statement: &Statement<'_>) -> Vec<Span> {
    let tables = statement.sources.iter().chain(statement.target.iter().map(|target| &target.table));
    let columns = statement.target.iter().flat_map(|target| &target.columns).chain(&statement.ctes);
    let mut names: Vec<Span> = tables.map(|table| table.span).chain(columns.map(|m| m.span)).collect();
    names.sort();
    names
}

/// What is known of one open parenthesis.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    /// Operators since the expression began.
    operators: usize,
    /// CASEs that are not closed yet.
    cases: usize,
    /// Whether only results came since SELECT.
    results: bool,
    /// Opened by CAST, so that AS means a type.
    cast: bool,
    /// A row of VALUES that became a SELECT: its parentheses are left out.
    row: bool,
}

struct Mending<'s, 't> {
    statement: &'s Statement<'t>,
    tokens: Vec<statement::Token>,
    out: Vec<TokenWithSpan>,
    frames: Vec<Frame>,
    at: usize,
    names: Vec<Span>,
    stream: Stream,
}

impl<'t> Mending<'_, 't> {
    fn run(&mut self) -> Result<(), NotUnderstood> {
        while let Some(&token) = self.tokens.get(self.at) {
            match token.kind {
                TokenKind::Word => self.word(token)?,
                TokenKind::Quoted => self.emit(named(self.text(token)), token.span),
                TokenKind::String => self.string(token),
                TokenKind::Number => self.emit(Token::Number(self.text(token).to_owned(), false), token.span),
                TokenKind::Blob => self.emit(Token::HexStringLiteral(String::new()), token.span),
                TokenKind::Parameter => self.emit(Token::Placeholder("?".to_owned()), token.span),
                TokenKind::Mark => self.mark(token)?,
            }
            self.at += 1;
            if self.out.len() > MOST_TOKENS {
                return Err(NotUnderstood { reason: "it is too long to be parsed", span: None });
            }
        }
        self.finish();
        Ok(())
    }

    /// Puts what was collected where it belongs.
    fn finish(&mut self) {
        let part = std::mem::take(&mut self.out);
        if self.stream.main.is_empty() {
            self.stream.main = part;
        } else {
            self.stream.upserts.push(part);
        }
    }

    fn string(&mut self, token: statement::Token) {
        let known =
            self.names.iter().any(|span| span.start <= token.span.start && token.span.end <= span.end);
        let text = self.text(token);
        let given = if known || self.is_qualified() || self.is_window() {
            named(text)
        } else if matches!(self.keyword_at(1), Keyword::PRECEDING | Keyword::FOLLOWING) {
            // The parser would take it for an interval.
            Token::Number("0".to_owned(), false)
        } else if text.len() > LONGEST_LITERAL {
            Token::SingleQuotedString(String::new())
        } else {
            Token::SingleQuotedString(statement::unquote(text).into_owned())
        };
        self.emit(given, token.span);
    }

    fn word(&mut self, token: statement::Token) -> Result<(), NotUnderstood> {
        let text = self.text(token);
        let keyword = if self.is_qualified() { Keyword::NoKeyword } else { keyword(text) };
        match keyword {
            // Where no CASE is to be closed, and where an operand is due, SQLite takes it for a name.
            Keyword::END if self.frame().cases == 0 || !self.behind_operand() => {
                self.emit(plain(text), token.span);
            }
            Keyword::CASE | Keyword::END => {
                let frame = self.frame_mut();
                frame.cases = if keyword == Keyword::CASE { frame.cases + 1 } else { frame.cases - 1 };
                self.keyword(keyword, token.span);
            }
            Keyword::COLLATE => self.at += 1,
            // SQLite's own test: anywhere else the word is a name.
            Keyword::WINDOW if self.keyword_at(2) != Keyword::AS || self.mark_at(1).is_some() => {
                self.emit(plain(text), token.span);
            }
            Keyword::WINDOW if self.frame().results => {
                // Right behind a result the parser would take it for an alias.
                self.keyword(Keyword::WHERE, token.span);
                self.emit(Token::Number("1".to_owned(), false), token.span);
                self.keyword(keyword, token.span);
            }
            Keyword::NoKeyword if text.eq_ignore_ascii_case("isnull") && self.behind_operand() => {
                self.words(&[Keyword::IS, Keyword::NULL], token.span);
            }
            Keyword::NOTNULL if self.behind_operand() => {
                self.words(&[Keyword::IS, Keyword::NOT, Keyword::NULL], token.span);
            }
            Keyword::NOT => self.not(token),
            Keyword::MATERIALIZED if self.last_is(Keyword::AS) && self.mark_at(1) == Some("(") => {}
            Keyword::INDEXED if self.keyword_at(1) == Keyword::BY => self.at += 2,
            Keyword::EXCLUDE => self.exclude(token),
            keyword if JOIN.contains(&keyword) => self.join(token),
            Keyword::CAST if self.mark_at(1) == Some("(") => {
                self.keyword(keyword, token.span);
                self.at += 1;
                self.emit(Token::LParen, self.span());
                self.frames.push(Frame { cast: true, ..Frame::default() });
            }
            Keyword::AS if self.frame().cast => self.data_type(token),
            Keyword::REPLACE if self.out.is_empty() || self.last_closes_with() => {
                self.keyword(Keyword::INSERT, token.span);
            }
            // Elsewhere it is a name, and the parser knows a clause of that word.
            Keyword::REPLACE => self.emit(plain(text), token.span),
            Keyword::OR if self.last_is(Keyword::INSERT) || self.last_is(Keyword::UPDATE) => self.at += 1,
            Keyword::LIKE | Keyword::GLOB | Keyword::REGEXP | Keyword::MATCH => {
                if self.behind_operand() {
                    self.operator()?;
                    self.keyword(keyword, token.span);
                } else {
                    self.emit(plain(text), token.span);
                }
            }
            Keyword::ON if self.begins_upsert() => {
                self.at += 1;
                self.finish();
            }
            Keyword::RETURNING if self.frames.len() == 1 && !self.stream.main.is_empty() => {
                self.returning();
            }
            Keyword::VALUES if self.out.last().is_some_and(|last| last.token == Token::LParen) => {
                self.values(token);
            }
            Keyword::AS if self.is_alias_of_insert() => {
                self.at += 1;
                self.stream.alias = Some(self.span());
            }
            Keyword::AND | Keyword::OR | Keyword::IS => {
                self.operator()?;
                self.keyword(keyword, token.span);
            }
            Keyword::WHEN
            | Keyword::THEN
            | Keyword::ELSE
            | Keyword::SELECT
            | Keyword::WHERE
            | Keyword::GROUP
            | Keyword::HAVING
            | Keyword::FROM => {
                let within = matches!(keyword, Keyword::WHEN | Keyword::THEN | Keyword::ELSE)
                    || self.last_is(Keyword::DISTINCT);
                let frame = self.frame_mut();
                frame.operators = 0;
                frame.results = keyword == Keyword::SELECT || within && frame.results;
                self.keyword(keyword, token.span);
            }
            Keyword::NoKeyword => self.emit(plain(text), token.span),
            _ => self.keyword(keyword, token.span),
        }
        Ok(())
    }

    /// Postfix NOT NULL, NOT before an operator, NOT INDEXED and NOT MATERIALIZED; else the operator.
    fn not(&mut self, token: statement::Token) {
        use Keyword as K;
        let next = self.keyword_at(1);
        match next {
            K::NULL if self.behind_operand() => {
                self.at += 1;
                self.words(&[K::IS, K::NOT, K::NULL], token.span);
            }
            K::GLOB | K::REGEXP | K::MATCH | K::LIKE if self.behind_operand() => {}
            K::INDEXED if self.behind_operand() => self.at += 1,
            K::MATERIALIZED if self.last_is(K::AS) => self.at += 1,
            _ => self.keyword(K::NOT, token.span),
        }
    }

    /// The EXCLUDE clause of a window's frame, which names nothing.
    fn exclude(&mut self, token: statement::Token) {
        let frame = [Keyword::ROW, Keyword::PRECEDING, Keyword::FOLLOWING];
        if !frame.into_iter().any(|word| self.last_is(word)) {
            return self.emit(plain(self.text(token)), token.span);
        }
        let next = self.word_at(1);
        let two = ["no", "current"].iter().any(|word| next.eq_ignore_ascii_case(word));
        self.at += if two { 2 } else { 1 };
    }

    /// The words before JOIN, in the one order that the parser knows. A condition may follow any join.
    fn join(&mut self, token: statement::Token) {
        let words: Vec<Keyword> = (0..4).map(|ahead| self.keyword_at(ahead)).collect();
        let join = |word: &Keyword| JOIN.contains(word);
        let length = words.iter().take_while(|word| join(word)).count();
        // Where a table is due, the word is its name.
        if words.get(length) != Some(&Keyword::JOIN) || !self.behind_operand() {
            return self.emit(plain(self.text(token)), token.span);
        }
        let has = |wanted| words.iter().take(length).any(|word| *word == wanted);
        for word in [Keyword::NATURAL, Keyword::LEFT, Keyword::RIGHT, Keyword::FULL] {
            // LEFT and RIGHT together are FULL.
            let both = has(Keyword::LEFT) && has(Keyword::RIGHT);
            let wanted = match word {
                Keyword::LEFT | Keyword::RIGHT if both => false,
                Keyword::FULL if both => true,
                word => has(word),
            };
            if wanted {
                self.keyword(word, token.span);
            }
        }
        // LEFT OUTER and plain OUTER are what LEFT is.
        if has(Keyword::OUTER) && ![Keyword::LEFT, Keyword::RIGHT, Keyword::FULL].into_iter().any(has) {
            self.keyword(Keyword::LEFT, token.span);
        }
        self.at += length;
        self.keyword(Keyword::JOIN, self.span());
    }

    /// The type of a CAST: any words, a length too.
    fn data_type(&mut self, token: statement::Token) {
        self.keyword(Keyword::AS, token.span);
        self.keyword(Keyword::TEXT, token.span);
        let mut depth = 0_usize;
        while let Some(next) = self.mark_or_word_at(1) {
            match next {
                "(" => depth += 1,
                ")" if depth == 0 => return,
                ")" => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// RETURNING behind ON CONFLICT clauses belongs to the statement.
    fn returning(&mut self) {
        let rest = std::mem::take(&mut self.out);
        self.stream.upserts.push(rest);
        self.out = std::mem::take(&mut self.stream.main);
        self.keyword(Keyword::RETURNING, self.span());
    }

    /// Whether ON begins an ON CONFLICT clause of the INSERT, not a join's condition.
    fn begins_upsert(&self) -> bool {
        self.statement.head == Head::Insert
            && self.frames.len() == 1
            && self.word_at(1).eq_ignore_ascii_case("conflict")
            && (self.mark_at(2) == Some("(") || self.word_at(2).eq_ignore_ascii_case("do"))
    }

    fn is_alias_of_insert(&self) -> bool {
        let target = self.statement.target.as_ref().map(|target| target.table.span);
        self.statement.head == Head::Insert
            && self.stream.main.is_empty()
            && self.frames.len() == 1
            && self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map(|token| token.span.end)
                == target.map(|span| span.end)
    }

    /// `(VALUES (..), (..))` as the parser knows it: `(SELECT .. UNION ALL SELECT ..`.
    fn values(&mut self, token: statement::Token) {
        if self.mark_at(1) != Some("(") {
            return self.keyword(Keyword::VALUES, token.span);
        }
        self.keyword(Keyword::SELECT, token.span);
        self.at += 1;
        self.frames.push(Frame { row: true, ..Frame::default() });
    }

    fn mark(&mut self, token: statement::Token) -> Result<(), NotUnderstood> {
        let text = self.text(token);
        match text {
            "(" => {
                self.frames.push(Frame::default());
                self.emit(Token::LParen, token.span);
                return Ok(());
            }
            ")" => {
                let closed = if self.frames.len() > 1 { self.frames.pop() } else { None };
                if !closed.is_some_and(|frame| frame.row) {
                    self.emit(Token::RParen, token.span);
                } else if self.mark_at(1) == Some(",") && self.mark_at(2) == Some("(") {
                    self.words(&[Keyword::UNION, Keyword::ALL, Keyword::SELECT], token.span);
                    self.at += 2;
                    self.frames.push(Frame { row: true, ..Frame::default() });
                }
                return Ok(());
            }
            "," => self.frame_mut().operators = 0,
            "." | ";" => {}
            _ => self.operator()?,
        }
        let Some(mark) = operator(text) else {
            return Err(NotUnderstood { reason: "it holds an unknown operator", span: Some(token.span) });
        };
        self.emit(mark, token.span);
        Ok(())
    }

    /// Counts an operator; a parser builds a tree as deep as the run is long.
    fn operator(&mut self) -> Result<(), NotUnderstood> {
        let span = self.span();
        let frame = self.frame_mut();
        frame.operators += 1;
        if frame.operators > MOST_OPERATORS {
            let reason = "an expression has more than 1,000 operators";
            return Err(NotUnderstood { reason, span: Some(span) });
        }
        Ok(())
    }

    fn words(&mut self, keywords: &[Keyword], span: Span) {
        for word in keywords {
            self.keyword(*word, span);
        }
    }

    fn keyword(&mut self, keyword: Keyword, span: Span) {
        // The parser looks at the keyword alone, unless it may be a name.
        let text = if may_name(keyword) { self.statement.text.get(span.range()) } else { None };
        let value = text.unwrap_or_default().to_owned();
        self.emit(Token::Word(Word { value, quote_style: None, keyword }), span);
    }

    fn emit(&mut self, token: Token, span: Span) {
        let place = |offset: usize| Location { line: 1, column: offset as u64 };
        self.out
            .push(TokenWithSpan { token, span: Place { start: place(span.start), end: place(span.end) } });
    }
}
