//! How a query or a statement begins, and what it writes.

use super::head::Head;
use super::keyword::Keyword;
use super::token::{Token, TokenKind};
use super::walk::{Frame, Row, State, Walk};
use super::{Conflict, Target};
use crate::policy::Verb;
use crate::source::Span;

impl Keyword {
    /// Whether a statement on rows can begin with it.
    pub(super) const fn starts_rows(self) -> bool {
        self.starts_query() || matches!(self, Self::Insert | Self::Replace | Self::Update | Self::Delete)
    }

    /// Whether it begins a query after a parenthesis.
    pub(super) const fn starts_query(self) -> bool {
        matches!(self, Self::Select | Self::Values | Self::With)
    }
}

impl Walk<'_> {
    /// A word where a query or the statement begins.
    pub(super) fn start(&mut self, keyword: Keyword) {
        use Keyword as K;
        let outermost = self.frames.len() == 1;
        match keyword {
            K::With => {
                if self.keyword_at(1) == Some(K::Recursive) {
                    self.at += 1;
                }
                self.set_state(State::Cte);
            }
            K::Select | K::Values => {
                if outermost {
                    self.query(keyword);
                }
                *self.frame_mut() = Frame::new(State::Operand);
            }
            K::Insert | K::Replace if outermost && self.head == Head::Unknown => self.insert(keyword),
            K::Update if outermost && self.head == Head::Unknown => {
                self.head = Head::Update;
                let conflict = self.conflict();
                self.at += 1;
                self.written(Verb::Update, conflict);
                self.set_state(State::AfterSource);
            }
            K::Delete if outermost && self.head == Head::Unknown => {
                self.head = Head::Delete;
                if self.keyword_at(1) == Some(K::From) {
                    self.at += 2;
                    self.written(Verb::Delete, None);
                }
                self.set_state(State::AfterSource);
            }
            // DEFAULT VALUES
            K::Default => {
                if self.keyword_at(1) == Some(K::Values) {
                    self.at += 1;
                }
                self.set_state(State::Operator);
            }
            // ON CONFLICT after nothing, or nothing legal.
            _ => self.set_state(State::Operator),
        }
    }

    /// SELECT or VALUES outside all parentheses.
    fn query(&mut self, keyword: Keyword) {
        if self.head == Head::Unknown {
            self.head = Head::Select;
        }
        if self.head == Head::Insert && self.row == Row::None {
            self.row = if keyword == Keyword::Values { Row::Expected } else { Row::Many };
        }
    }

    fn insert(&mut self, keyword: Keyword) {
        self.head = Head::Insert;
        let conflict = if keyword == Keyword::Replace {
            self.tokens.get(self.at).map(|token| (Conflict::Replace, token.span))
        } else {
            self.conflict()
        };
        if self.keyword_at(1) == Some(Keyword::Into) {
            self.at += 2;
            self.written(Verb::Insert, conflict);
            if self.keyword_at(1) == Some(Keyword::As) {
                self.at += 2;
            }
            if self.mark_at(1, b'(') {
                self.at += 1;
                self.column_list();
            }
        }
        self.set_state(State::Start);
    }

    /// `OR` and the word after it; leaves `at` there.
    fn conflict(&mut self) -> Option<(Conflict, Span)> {
        if self.keyword_at(1) != Some(Keyword::Or) {
            return None;
        }
        let or = *self.tokens.get(self.at + 1)?;
        let how = *self.tokens.get(self.at + 2)?;
        let all = [Conflict::Rollback, Conflict::Abort, Conflict::Fail, Conflict::Ignore, Conflict::Replace];
        let text = self.text_of(how);
        let conflict = all.into_iter().find(|conflict| conflict.word().eq_ignore_ascii_case(text))?;
        self.at += 2;
        Some((conflict, Span::new(or.span.start, how.span.end)))
    }

    /// The table at this token, as the statement's target.
    fn written(&mut self, verb: Verb, conflict: Option<(Conflict, Span)>) {
        let Some(&token) = self.tokens.get(self.at) else { return };
        if !self.is_name(token) {
            // Let the walk see the token again.
            self.at -= 1;
            return;
        }
        if let Some(mut table) = self.table() {
            // The parenthesis after an INSERT's table holds columns.
            table.called = false;
            self.found.target = Some(Target {
                verb,
                table,
                conflict,
                columns: Vec::with_capacity(8),
                has_where: false,
                single_row: None,
            });
        }
    }

    /// A column that a SET assigns.
    pub(super) fn assigned(&mut self, token: Token) {
        if self.frames.len() == 1 && self.head == Head::Update {
            self.column(token);
        }
    }

    /// The columns between parentheses that a SET assigns together.
    pub(super) fn assigned_list(&mut self) {
        self.set_state(State::Operator);
        if self.frames.len() == 1 && self.head == Head::Update {
            self.column_list();
        } else {
            self.frames.push(Frame::new(State::Inert));
        }
    }

    /// The columns after the parenthesis at this token; leaves `at` at the closing one.
    fn column_list(&mut self) {
        loop {
            let Some(&token) = self.tokens.get(self.at + 1) else { return };
            if token.kind == TokenKind::Mark && !matches!(self.text_of(token), "," | ")") {
                // No list of columns: SQLite will refuse it, whatever it holds.
                self.frames.push(Frame::new(State::Operand));
                return;
            }
            self.at += 1;
            if token.kind != TokenKind::Mark {
                self.column(token);
            } else if self.text_of(token) == ")" {
                return;
            }
        }
    }

    fn column(&mut self, token: Token) {
        let mention = self.mention(token);
        if let Some(target) = &mut self.found.target {
            target.columns.push(mention);
        }
    }
}
