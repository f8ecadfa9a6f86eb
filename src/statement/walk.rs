//! Walking over the clauses of a statement on rows.
//!
//! A stack holds, for each open parenthesis, which clause the next token belongs to. That is enough
//! to tell a call from a list of columns and a table from an alias, without recursion and without
//! a parser's idea of what is legal.

use super::head::Head;
use super::keyword::Keyword;
use super::read::{Clauses, word};
use super::token::{Token, TokenKind};
use crate::source::Span;

/// What the next token of a parenthesis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The start of a query, or of the statement.
    Start,
    /// An operand of an expression.
    Operand,
    /// What can follow an operand: an operator, an alias, the next clause.
    Operator,
    /// The rest of a qualified name, an alias, a collation: a name that is no call.
    Name,
    /// A table.
    Source,
    /// What follows a table: its alias, its index, the next join.
    AfterSource,
    /// What follows IN.
    In,
    /// A column that SET assigns.
    Assigned,
    /// The name of a common table expression, what follows it, what follows its AS, and what
    /// follows its query.
    Cte,
    CteAs,
    CteQuery,
    CteNext,
    /// The start of a window's definition.
    Window,
    /// The list after WINDOW.
    Windows,
    /// Names alone: a list of columns or a type.
    Inert,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) state: State,
    /// Inside a FROM list, so that a comma means another table.
    pub(super) from: bool,
    /// Inside SET, so that a comma means another column.
    pub(super) set: bool,
    /// The parenthesis of a CAST, so that AS means a type.
    pub(super) cast: bool,
}

impl Frame {
    pub(super) const fn new(state: State) -> Self {
        Self { state, from: false, set: false, cast: false }
    }
}

/// How far the rows of `INSERT ... VALUES` have been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    None,
    Expected,
    /// Its running expression begins at this token.
    Open(usize),
    One,
    Many,
}

pub(super) struct Walk<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token],
    pub(super) at: usize,
    pub(super) frames: Vec<Frame>,
    pub(super) head: Head,
    pub(super) found: Clauses,
    pub(super) row: Row,
    pub(super) values: Vec<Span>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(text: &'a str, tokens: &'a [Token], at: usize) -> Self {
        let mut frames = Vec::with_capacity(8);
        frames.push(Frame::new(State::Start));
        Self {
            text,
            tokens,
            at,
            frames,
            head: Head::Unknown,
            found: Clauses::default(),
            row: Row::None,
            values: Vec::new(),
        }
    }

    pub(super) fn run(&mut self) {
        while let Some(&token) = self.tokens.get(self.at) {
            // Each arm may read further tokens; `at` is then the last one it has read.
            match token.kind {
                TokenKind::Word => self.word(token),
                TokenKind::Quoted => self.name(token, true),
                TokenKind::String => self.name(token, false),
                TokenKind::Blob | TokenKind::Number | TokenKind::Parameter => self.operand(),
                TokenKind::Mark => self.mark(token),
            }
            self.at += 1;
        }
        if self.row == Row::One
            && let Some(target) = &mut self.found.target
        {
            target.single_row = Some(std::mem::take(&mut self.values));
        }
    }

    pub(super) fn word(&mut self, token: Token) {
        use Keyword as K;
        let keyword = token.keyword;
        let frame = self.frame();
        match frame.state {
            State::Start | State::CteNext => return self.start(keyword),
            State::Inert => return,
            State::Name if keyword.can_name() => return self.set_state(State::Operator),
            State::CteAs => {
                if keyword == K::As {
                    self.set_state(State::CteQuery);
                }
                return;
            }
            // [NOT] MATERIALIZED
            State::CteQuery => return,
            State::Cte | State::Assigned => return self.name(token, true),
            State::Source | State::In if keyword.can_name() => return self.name(token, true),
            State::Window if !matches!(keyword, K::Partition | K::Order | K::Frame) => {
                return self.set_state(State::Operator);
            }
            _ => {}
        }
        if self.clause(keyword) {
            return;
        }
        match frame.state {
            State::Operand => self.operand_word(token, keyword),
            State::Operator | State::Window => self.operator_word(token, keyword),
            // An alias, a join's kind, INDEXED BY.
            _ => {}
        }
    }

    /// A keyword that begins a clause wherever it stands.
    fn clause(&mut self, keyword: Keyword) -> bool {
        use Keyword as K;
        let state = match keyword {
            K::From | K::Join => State::Source,
            K::Select | K::Where | K::Clause => State::Operand,
            K::Values => State::Operand,
            K::Order => {
                if self.keyword_at(1) == Some(K::By) {
                    self.at += 1;
                }
                State::Operand
            }
            K::Compound => {
                if self.keyword_at(1) == Some(K::Quantifier) {
                    self.at += 1;
                }
                if self.frames.len() == 1 {
                    self.row = Row::Many;
                }
                State::Start
            }
            K::Set => State::Assigned,
            K::On => return self.on(),
            K::Using if self.frame().from => {
                if self.mark_at(1, b'(') {
                    self.at += 1;
                    self.set_state(State::Operator);
                    self.frames.push(Frame::new(State::Inert));
                }
                return true;
            }
            K::Window if self.defines_windows() => State::Windows,
            _ => return false,
        };
        if keyword == K::Where
            && self.frames.len() == 1
            && self.head != Head::Insert
            && let Some(target) = &mut self.found.target
        {
            target.has_where = true;
        }
        let frame = self.frame_mut();
        frame.state = state;
        frame.from = state == State::Source;
        frame.set = state == State::Assigned;
        true
    }

    /// ON is a join's condition right behind its table, and ON CONFLICT anywhere else.
    fn on(&mut self) -> bool {
        let frame = self.frame();
        let join = frame.from && frame.state == State::AfterSource;
        if !join && self.keyword_at(1) == Some(Keyword::Conflict) {
            self.at += 1;
            *self.frame_mut() = Frame::new(State::Operator);
        } else {
            self.set_state(State::Operand);
        }
        true
    }

    /// Whether the word WINDOW here begins the list of windows, by SQLite's own test.
    fn defines_windows(&self) -> bool {
        self.name_follows() && self.keyword_at(2) == Some(Keyword::As)
    }

    fn operand_word(&mut self, token: Token, keyword: Keyword) {
        use Keyword as K;
        match keyword {
            // IS [NOT] DISTINCT FROM is an operator.
            K::Quantifier if self.keyword_at(1) == Some(K::From) => self.at += 1,
            K::Quantifier | K::Not | K::Exists | K::Infix | K::Or => {}
            K::In => self.set_state(State::In),
            K::Cast if self.mark_at(1, b'(') => {
                self.at += 1;
                self.set_state(State::Operator);
                self.frames.push(Frame { cast: true, ..Frame::new(State::Operand) });
            }
            K::Current => {
                self.call(token);
                self.set_state(State::Operator);
            }
            K::Raise => self.set_state(State::Operator),
            _ if keyword.can_name() => self.name(token, true),
            _ => self.set_state(State::Operator),
        }
    }

    fn operator_word(&mut self, token: Token, keyword: Keyword) {
        use Keyword as K;
        let state = match keyword {
            K::Infix | K::Or => State::Operand,
            K::Frame => State::Operand,
            K::Not => State::Operator,
            K::Quantifier if self.keyword_at(1) == Some(K::From) => {
                self.at += 1;
                State::Operand
            }
            K::In => State::In,
            K::Like => {
                self.call(token);
                State::Operand
            }
            K::Collate => State::Name,
            K::As if self.frame().cast => State::Inert,
            K::As => State::Name,
            // SQLite's own test: anywhere else, `over` is an alias.
            K::Over if self.behind_parenthesis() && self.mark_at(1, b'(') => {
                self.at += 1;
                self.frames.push(Frame::new(State::Window));
                return;
            }
            K::Over if self.behind_parenthesis() && self.name_follows() => State::Name,
            K::Filter if self.behind_parenthesis() => State::Operator,
            K::Partition if self.keyword_at(1) == Some(K::By) => {
                self.at += 1;
                State::Operand
            }
            // An alias; nothing legal puts a parenthesis behind one, so this is on the safe side.
            K::Name if self.mark_at(1, b'(') => {
                self.call(token);
                State::Operator
            }
            _ => State::Operator,
        };
        self.set_state(state);
    }

    /// A name, or a string where SQLite takes one as a name. A string is never a call.
    fn name(&mut self, token: Token, callable: bool) {
        match self.frame().state {
            State::Operand | State::Operator | State::Window => {
                if callable && self.mark_at(1, b'(') {
                    self.call(token);
                }
                self.set_state(State::Operator);
            }
            State::Name => self.set_state(State::Operator),
            State::Source => {
                self.source();
                self.set_state(State::AfterSource);
                self.arguments();
            }
            State::In => {
                self.source();
                self.set_state(State::Operator);
                self.arguments();
            }
            State::Assigned => {
                self.assigned(token);
                self.set_state(State::Operator);
            }
            State::Cte => {
                let mention = self.mention(token);
                self.found.ctes.push(mention);
                self.set_state(State::CteAs);
            }
            State::Start
            | State::AfterSource
            | State::CteAs
            | State::CteQuery
            | State::CteNext
            | State::Windows
            | State::Inert => {}
        }
    }

    fn operand(&mut self) {
        if matches!(self.frame().state, State::Operand | State::Name | State::In | State::Assigned) {
            self.set_state(State::Operator);
        }
    }

    pub(super) fn text_of(&self, token: Token) -> &'a str {
        word(self.text, &token)
    }

    pub(super) fn frame(&self) -> Frame {
        self.frames.last().copied().unwrap_or(Frame::new(State::Operand))
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn set_state(&mut self, state: State) {
        self.frame_mut().state = state;
    }
}
