//! Expressions.

use sqlparser::ast::{
    AssignmentTarget, BinaryOperator, CastKind, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArguments, Ident, InTarget, NamedWindowDefinition, NamedWindowExpr,
    ObjectName, ObjectNamePart, UnaryOperator, WindowFrameBound, WindowSpec, WindowType,
};
use sqlparser::keywords::Keyword;

use super::collect::{Collector, span_of};
use super::scope::{self, Bare, Source};
use super::words::{keyword, may_name};
use crate::source::Name;

impl<'a> Collector<'a> {
    pub(super) fn expressions(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) {
        for expr in exprs {
            self.expression(expr);
        }
    }

    pub(super) fn expression(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Identifier(ident) => self.identifier(ident),
            Expr::CompoundIdentifier(idents) => self.compound(idents),
            Expr::Value(_) => {}
            Expr::Nested(inner)
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::Cast { kind: CastKind::Cast, expr: inner, format: None, .. } => self.expression(inner),
            Expr::UnaryOp {
                op:
                    UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not | UnaryOperator::BitwiseNot,
                expr,
            } => self.expression(expr),
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.expression(left);
                self.expression(right);
            }
            Expr::BinaryOp { left, op, right } => {
                self.expression(left);
                self.operator(op);
                self.expression(right);
            }
            Expr::Like { any: false, expr, pattern, escape_char, .. } => {
                self.call_operator("like");
                self.expressions([expr.as_ref(), pattern.as_ref()]);
                self.expressions(escape_char.as_deref());
            }
            Expr::RLike { expr, pattern, regexp: true, .. } => {
                self.call_operator("regexp");
                self.expressions([expr.as_ref(), pattern.as_ref()]);
            }
            Expr::Between { expr, low, high, .. } => self.expressions([expr.as_ref(), low, high]),
            Expr::In { expr, target, global: false, .. } => {
                self.expression(expr);
                self.in_target(target);
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                self.expressions(operand.as_deref());
                for when in conditions {
                    self.expressions([&when.condition, &when.result]);
                }
                self.expressions(else_result.as_deref());
            }
            Expr::Exists { subquery, .. } | Expr::Subquery(subquery) => {
                self.query(subquery);
            }
            Expr::Tuple(exprs) => self.expressions(exprs),
            Expr::Function(function) => self.function(function),
            _ => self.unclear("an expression's kind is not known"),
        }
    }

    fn identifier(&mut self, ident: &Ident) {
        let name = Name::from(ident.value.as_str());
        let span = span_of(ident.span);
        let quoted = ident.quote_style.is_some();
        if !quoted && ["current_date", "current_time", "current_timestamp"].contains(&name.folded()) {
            return self.call(name, span);
        }
        let literal =
            ident.quote_style == Some('"') || (!quoted && ["true", "false"].contains(&name.folded()));
        let found = scope::bare(&self.scopes, Bare { name: &name, perhaps_literal: literal });
        self.read(found, span);
    }

    fn compound(&mut self, idents: &[Ident]) {
        let names: Vec<Name> = idents.iter().map(|ident| Name::from(ident.value.as_str())).collect();
        let found = match names.as_slice() {
            [table, column] => scope::qualified(&self.scopes, None, table, column),
            [schema, table, column] => scope::qualified(&self.scopes, Some(schema), table, column),
            _ => return self.unclear("a column's name has more than three parts"),
        };
        self.read(found, idents.last().and_then(|ident| span_of(ident.span)));
    }

    fn operator(&mut self, op: &BinaryOperator) {
        use BinaryOperator as Op;
        match op {
            Op::Plus
            | Op::Minus
            | Op::Multiply
            | Op::Divide
            | Op::Modulo
            | Op::StringConcat
            | Op::Gt
            | Op::Lt
            | Op::GtEq
            | Op::LtEq
            | Op::Eq
            | Op::NotEq
            | Op::And
            | Op::Or
            | Op::BitwiseOr
            | Op::BitwiseAnd
            | Op::PGBitwiseShiftLeft
            | Op::PGBitwiseShiftRight
            | Op::Is
            | Op::IsNot => {}
            Op::Match => self.call_operator("match"),
            Op::Regexp => self.call_operator("regexp"),
            Op::Glob => self.call_operator("glob"),
            Op::Arrow => self.call_operator("->"),
            Op::LongArrow => self.call_operator("->>"),
            _ => self.unclear("an operator is not known"),
        }
    }

    fn in_target(&mut self, target: &'a InTarget) {
        match target {
            InTarget::List(exprs) => self.expressions(exprs),
            InTarget::Subquery(query) => {
                self.query(query);
            }
            InTarget::Table { name, args } => {
                let offers = self.source(name, args.is_some());
                // It stands for `(SELECT * FROM name)`.
                let source = Source { name: None, schema: None, offers };
                let span = name.0.last().and_then(|part| match part {
                    ObjectNamePart::Identifier(ident) => span_of(ident.span),
                    ObjectNamePart::Function(_) => None,
                });
                for column in source.visible().iter().flatten() {
                    self.read(source.read(column), span);
                }
                for argument in args.iter().flatten() {
                    self.argument(argument);
                }
            }
            InTarget::Unnest(_) => self.unclear("what follows an IN is not known"),
        }
    }

    fn function(&mut self, function: &'a Function) {
        let Some(ident) = function_name(&function.name) else {
            return self.unclear("a function's name has several parts");
        };
        // What the parser took for a call may be something else.
        let reserved = match keyword(&ident.value) {
            Keyword::NoKeyword | Keyword::LIKE | Keyword::GLOB | Keyword::REGEXP | Keyword::MATCH => false,
            keyword => !may_name(keyword),
        };
        if ident.quote_style.is_none() && reserved {
            self.unclear("a call is named like a keyword");
        }
        if function.uses_odbc_syntax
            || function.parameters != FunctionArguments::None
            || !function.within_group.is_empty()
            || function.null_treatment.is_some()
        {
            self.unclear("a call has a clause that is not known");
        }
        self.call(Name::from(ident.value.as_str()), span_of(ident.span));
        match &function.args {
            FunctionArguments::None => {}
            FunctionArguments::Subquery(query) => {
                self.query(query);
            }
            FunctionArguments::List(list) => {
                for argument in &list.args {
                    self.argument(argument);
                }
                for clause in &list.clauses {
                    match clause {
                        FunctionArgumentClause::OrderBy(terms) => {
                            self.expressions(terms.iter().map(|term| &term.expr));
                        }
                        _ => self.unclear("a call has a clause that is not known"),
                    }
                }
            }
        }
        self.expressions(function.filter.as_deref());
        match &function.over {
            None => {}
            Some(WindowType::WindowSpec(spec)) => {
                let named = self.windows.last().copied().unwrap_or_default();
                self.window(spec, named);
            }
            Some(WindowType::NamedWindow(name)) => {
                let named = self.windows.last().copied().unwrap_or_default();
                self.named_window(name, named);
            }
        }
    }

    pub(super) fn argument(&mut self, argument: &'a FunctionArg) {
        match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => self.expression(expr),
            FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => {}
            _ => self.unclear("an argument has a form that is not known"),
        }
    }

    /// A window by its name. One can build on those before it, so that none builds on itself.
    fn named_window(&mut self, name: &Ident, named: &'a [NamedWindowDefinition]) {
        let wanted = Name::from(name.value.as_str());
        let is = |definition: &NamedWindowDefinition| wanted == *definition.0.value.as_str();
        let Some(at) = named.iter().position(is) else { return };
        match &named[at].1 {
            NamedWindowExpr::WindowSpec(spec) => self.window(spec, &named[..at]),
            NamedWindowExpr::NamedWindow(name) => self.named_window(name, &named[..at]),
        }
    }

    fn window(&mut self, spec: &'a WindowSpec, named: &'a [NamedWindowDefinition]) {
        if let Some(base) = &spec.window_name {
            self.named_window(base, named);
        }
        self.expressions(&spec.partition_by);
        self.expressions(spec.order_by.iter().map(|term| &term.expr));
        let Some(frame) = &spec.window_frame else { return };
        for bound in std::iter::once(&frame.start_bound).chain(&frame.end_bound) {
            match bound {
                WindowFrameBound::Preceding(Some(expr)) | WindowFrameBound::Following(Some(expr)) => {
                    self.expression(expr);
                }
                WindowFrameBound::CurrentRow
                | WindowFrameBound::Preceding(None)
                | WindowFrameBound::Following(None) => {}
            }
        }
    }
}

fn function_name(name: &ObjectName) -> Option<&Ident> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => Some(ident),
        _ => None,
    }
}

/// The name that an expression is, if it is nothing else.
pub(super) fn bare_name(expr: &Expr) -> Option<Name> {
    match expr {
        Expr::Identifier(ident) => Some(Name::from(ident.value.as_str())),
        Expr::CompoundIdentifier(idents) => idents.last().map(|ident| Name::from(ident.value.as_str())),
        _ => None,
    }
}

/// The columns that an assignment sets.
pub(super) fn assigned(target: &AssignmentTarget) -> Vec<&Ident> {
    let names = match target {
        AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
        AssignmentTarget::Tuple(names) => names.as_slice(),
    };
    let last = names.iter().filter_map(|name| name.0.last());
    last.filter_map(|part| match part {
        ObjectNamePart::Identifier(ident) => Some(ident),
        ObjectNamePart::Function(_) => None,
    })
    .collect()
}
