//! What parentheses, commas and operators do to the walk.

use super::keyword::Keyword;
use super::token::Token;
use super::walk::{Frame, Row, State, Walk};
use crate::source::Span;

impl Walk<'_> {
    pub(super) fn mark(&mut self, token: Token) {
        let mark = self.text.as_bytes().get(token.span.range()).unwrap_or_default();
        let state = self.frame().state;
        match mark {
            b"(" => self.open(state),
            b")" => self.close(),
            b"," => self.comma(),
            b"." if state == State::Operator => self.set_state(State::Name),
            b"*" if matches!(state, State::Operand | State::Name) => self.set_state(State::Operator),
            b"->" | b"->>" => {
                self.call(token);
                self.set_state(State::Operand);
            }
            _ if matches!(state, State::Operand | State::Operator | State::Name | State::Assigned) => {
                self.set_state(State::Operand);
            }
            _ => {}
        }
    }

    fn open(&mut self, state: State) {
        if self.frames.len() == 1 && self.row == Row::Expected {
            self.row = Row::Open(self.at + 1);
            self.values.reserve(8);
        }
        let query = self.keyword_at(1).is_some_and(Keyword::starts_query);
        let inner = |other: State| if query { State::Start } else { other };
        let (outer, frame) = match state {
            State::Operand | State::Operator | State::Name | State::In => {
                (State::Operator, Frame::new(inner(State::Operand)))
            }
            State::Source => {
                let state = inner(State::Source);
                (State::AfterSource, Frame { from: state == State::Source, ..Frame::new(state) })
            }
            State::Assigned => return self.assigned_list(),
            State::CteAs | State::Cte => (State::CteAs, Frame::new(State::Inert)),
            State::CteQuery => (State::CteNext, Frame::new(State::Start)),
            State::Windows => (State::Windows, Frame::new(State::Window)),
            State::Inert => (State::Inert, Frame::new(State::Inert)),
            // Nothing legal: on the safe side.
            State::Start | State::AfterSource | State::CteNext | State::Window => {
                (state, Frame::new(inner(State::Operand)))
            }
        };
        self.set_state(outer);
        self.frames.push(frame);
    }

    fn close(&mut self) {
        if self.frames.len() > 1 {
            self.frames.pop();
        }
        if self.frames.len() == 1
            && let Row::Open(start) = self.row
        {
            self.value(start);
            self.row = if self.mark_at(1, b',') { Row::Many } else { Row::One };
        }
    }

    fn comma(&mut self) {
        if self.frames.len() == 2
            && let Row::Open(start) = self.row
        {
            self.value(start);
            self.row = Row::Open(self.at + 1);
        }
        let frame = self.frame();
        let state = match frame.state {
            State::CteNext => State::Cte,
            State::Inert | State::Windows | State::Cte | State::CteAs | State::CteQuery => return,
            _ if frame.from => State::Source,
            _ if frame.set => State::Assigned,
            _ => State::Operand,
        };
        self.set_state(state);
    }

    /// The expression of a VALUES row from token `start` to the one before this.
    fn value(&mut self, start: usize) {
        let ends = (self.tokens.get(start), self.at.checked_sub(1).and_then(|at| self.tokens.get(at)));
        if let (Some(first), Some(last)) = ends
            && first.span.start < last.span.end
        {
            self.values.push(Span::new(first.span.start, last.span.end));
        }
    }
}
