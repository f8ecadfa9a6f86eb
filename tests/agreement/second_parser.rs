//! The tables and functions that a statement names, as `turso_parser` reads it.

use std::collections::BTreeSet;

use seawall::catalog::{Known, is_internal};
use seawall::source::Name;
use turso_parser::ast;

/// A name with what it is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Table,
    Function,
}

pub(crate) type Names = BTreeSet<(Kind, Name)>;

/// What the second parser finds; `None` where it does not parse `sql`.
pub(crate) fn names(sql: &str, known: &Known) -> Option<Names> {
    let mut parser = turso_parser::parser::Parser::new(sql.as_bytes());
    let (ast::Cmd::Stmt(statement)
    | ast::Cmd::Explain(statement)
    | ast::Cmd::ExplainQueryPlan { stmt: statement, .. }) = parser.next_cmd().ok()??;
    let mut walk =
        Walk { known, found: Names::new(), commons: Vec::new(), visible: Vec::new(), windows: Vec::new() };
    walk.statement(&statement);
    Some(walk.found)
}

/// A common table expression, walked when it is first named.
struct Common<'a> {
    cte: &'a ast::CommonTableExpr,
    visible: Vec<usize>,
    walked: bool,
}

struct Walk<'a> {
    known: &'a Known,
    found: Names,
    commons: Vec<Common<'a>>,
    visible: Vec<usize>,
    windows: Vec<&'a [ast::WindowDef]>,
}

fn name(name: &ast::Name) -> Name {
    Name::from(name.as_str())
}

impl<'a> Walk<'a> {
    fn call(&mut self, name: Name) {
        if self.known.functions.contains(&name) {
            self.found.insert((Kind::Function, name));
        }
    }

    fn table(&mut self, table: &ast::QualifiedName, called: bool) {
        let wanted = name(&table.name);
        if table.db_name.is_none() && !called {
            let is = |id: &usize| name(&self.commons[*id].cte.tbl_name) == wanted;
            if let Some(id) = self.visible.iter().rev().copied().find(is) {
                let common = &mut self.commons[id];
                if !std::mem::replace(&mut common.walked, true) {
                    let cte = common.cte;
                    let visible = std::mem::replace(&mut self.visible, common.visible.clone());
                    self.select(&cte.select);
                    self.visible = visible;
                }
                return;
            }
        }
        let kind = if self.known.modules.contains(&wanted) && !is_internal(&wanted) {
            Kind::Function
        } else {
            Kind::Table
        };
        self.found.insert((kind, wanted));
    }

    fn target(&mut self, table: &ast::QualifiedName) {
        self.found.insert((Kind::Table, name(&table.name)));
    }

    fn statement(&mut self, statement: &'a ast::Stmt) {
        match statement {
            ast::Stmt::Select(select) => self.select(select),
            ast::Stmt::Insert { with, tbl_name, body, returning, .. } => {
                self.with(with.as_ref());
                self.target(tbl_name);
                if let ast::InsertBody::Select(select, upsert) = body {
                    self.select(select);
                    let mut next = upsert.as_deref();
                    while let Some(upsert) = next {
                        self.upsert(upsert);
                        next = upsert.next.as_deref();
                    }
                }
                self.results(returning);
            }
            ast::Stmt::Update(update) => {
                self.with(update.with.as_ref());
                self.target(&update.tbl_name);
                self.sets(&update.sets);
                self.from(update.from.as_ref());
                self.all(update.where_clause.as_deref());
                self.results(&update.returning);
            }
            ast::Stmt::Delete { with, tbl_name, where_clause, returning, .. } => {
                self.with(with.as_ref());
                self.target(tbl_name);
                self.all(where_clause.as_deref());
                self.results(returning);
            }
            _ => {}
        }
    }

    fn with(&mut self, with: Option<&'a ast::With>) {
        let first = self.commons.len();
        for cte in with.iter().flat_map(|with| &with.ctes) {
            self.commons.push(Common { cte, visible: Vec::new(), walked: false });
        }
        self.visible.extend(first..self.commons.len());
        for common in &mut self.commons[first..] {
            common.visible.clone_from(&self.visible);
        }
    }

    fn upsert(&mut self, upsert: &'a ast::Upsert) {
        if let Some(index) = &upsert.index {
            self.sorted(&index.targets);
            self.all(index.where_clause.as_deref());
        }
        if let ast::UpsertDo::Set { sets, where_clause } = &upsert.do_clause {
            self.sets(sets);
            self.all(where_clause.as_deref());
        }
    }

    fn sets(&mut self, sets: &'a [ast::Set]) {
        self.all(sets.iter().map(|set| set.expr.as_ref()));
    }

    fn sorted(&mut self, terms: &'a [ast::SortedColumn]) {
        self.all(terms.iter().map(|term| term.expr.as_ref()));
    }

    fn results(&mut self, results: &'a [ast::ResultColumn]) {
        for result in results {
            if let ast::ResultColumn::Expr(expr, _) = result {
                self.expr(expr);
            }
        }
    }

    fn select(&mut self, select: &'a ast::Select) {
        let visible = self.visible.len();
        self.with(select.with.as_ref());
        self.core(&select.body.select, &select.order_by);
        for compound in &select.body.compounds {
            self.core(&compound.select, &[]);
        }
        if let Some(limit) = &select.limit {
            self.expr(&limit.expr);
            self.all(limit.offset.as_deref());
        }
        self.visible.truncate(visible);
    }

    fn core(&mut self, core: &'a ast::OneSelect, order_by: &'a [ast::SortedColumn]) {
        match core {
            ast::OneSelect::Select { columns, from, where_clause, group_by, window_clause, .. } => {
                self.windows.push(window_clause);
                self.from(from.as_ref());
                self.results(columns);
                self.all(where_clause.as_deref());
                if let Some(group_by) = group_by {
                    self.all(group_by.exprs.iter().map(AsRef::as_ref));
                    self.all(group_by.having.as_deref());
                }
                self.sorted(order_by);
                self.windows.pop();
            }
            ast::OneSelect::Values(rows) => {
                self.all(rows.iter().flatten().map(AsRef::as_ref));
                self.sorted(order_by);
            }
        }
    }

    fn from(&mut self, from: Option<&'a ast::FromClause>) {
        let Some(from) = from else { return };
        self.source(&from.select);
        for join in &from.joins {
            self.source(&join.table);
            if let Some(ast::JoinConstraint::On(condition)) = &join.constraint {
                self.expr(condition);
            }
        }
    }

    fn source(&mut self, source: &'a ast::SelectTable) {
        match source {
            ast::SelectTable::Table(table, ..) => self.table(table, false),
            ast::SelectTable::TableCall(table, arguments, _) => {
                self.table(table, true);
                self.all(arguments.iter().map(AsRef::as_ref));
            }
            ast::SelectTable::Select(select, _) => self.select(select),
            ast::SelectTable::Sub(from, _) => self.from(Some(from)),
        }
    }

    fn tail(&mut self, tail: &'a ast::FunctionTail) {
        self.all(tail.filter_clause.as_deref());
        match &tail.over_clause {
            None => {}
            Some(ast::Over::Window(window)) => self.window(window),
            Some(ast::Over::Name(window)) => self.named_window(window),
        }
    }

    fn named_window(&mut self, wanted: &ast::Name) {
        let named = self.windows.last().copied().unwrap_or_default();
        if let Some(found) = named.iter().find(|window| name(&window.name) == name(wanted)) {
            self.window(&found.window);
        }
    }

    fn window(&mut self, window: &'a ast::Window) {
        if let Some(base) = &window.base {
            self.named_window(base);
        }
        self.all(window.partition_by.iter().map(AsRef::as_ref));
        self.sorted(&window.order_by);
        let Some(frame) = &window.frame_clause else { return };
        for bound in std::iter::once(&frame.start).chain(&frame.end) {
            if let ast::FrameBound::Following(expr) | ast::FrameBound::Preceding(expr) = bound {
                self.expr(expr);
            }
        }
    }

    fn all(&mut self, exprs: impl IntoIterator<Item = &'a ast::Expr>) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &'a ast::Expr) {
        use ast::Expr as E;
        match expr {
            E::Between { lhs, start, end, .. } => self.all([lhs.as_ref(), start, end]),
            E::Binary(left, operator, right) => {
                match operator {
                    ast::Operator::ArrowRight => self.call(Name::from("->")),
                    ast::Operator::ArrowRightShift => self.call(Name::from("->>")),
                    _ => {}
                }
                self.all([left.as_ref(), right]);
            }
            E::Case { base, when_then_pairs, else_expr } => {
                self.all(base.as_deref());
                for (when, then) in when_then_pairs {
                    self.all([when.as_ref(), then]);
                }
                self.all(else_expr.as_deref());
            }
            E::Cast { expr, .. }
            | E::Collate(expr, _)
            | E::IsNull(expr)
            | E::NotNull(expr)
            | E::Unary(_, expr)
            | E::FieldAccess { base: expr, .. } => self.expr(expr),
            E::Exists(select) | E::Subquery(select) => self.select(select),
            E::FunctionCall { name: called, args, order_by, within_group, filter_over, .. } => {
                self.call(name(called));
                self.all(args.iter().map(AsRef::as_ref));
                self.sorted(order_by);
                self.sorted(within_group);
                self.tail(filter_over);
            }
            E::FunctionCallStar { name: called, filter_over } => {
                self.call(name(called));
                self.tail(filter_over);
            }
            E::InList { lhs, rhs, .. } => {
                self.expr(lhs);
                self.all(rhs.iter().map(AsRef::as_ref));
            }
            E::InSelect { lhs, rhs, .. } => {
                self.expr(lhs);
                self.select(rhs);
            }
            E::InTable { lhs, rhs, args, .. } => {
                self.expr(lhs);
                self.table(rhs, !args.is_empty());
                self.all(args.iter().map(AsRef::as_ref));
            }
            E::Like { lhs, op, rhs, escape, .. } => {
                self.call(Name::from(match op {
                    ast::LikeOperator::Glob => "glob",
                    ast::LikeOperator::Like => "like",
                    ast::LikeOperator::Match => "match",
                    ast::LikeOperator::Regexp => "regexp",
                }));
                self.all([lhs.as_ref(), rhs]);
                self.all(escape.as_deref());
            }
            E::Literal(ast::Literal::CurrentDate) => self.call(Name::from("current_date")),
            E::Literal(ast::Literal::CurrentTime) => self.call(Name::from("current_time")),
            E::Literal(ast::Literal::CurrentTimestamp) => self.call(Name::from("current_timestamp")),
            E::Parenthesized(exprs) | E::Array { elements: exprs } => {
                self.all(exprs.iter().map(AsRef::as_ref))
            }
            E::Raise(_, message) => self.all(message.as_deref()),
            E::Subscript { base, index } => self.all([base.as_ref(), index]),
            E::Register(_)
            | E::DoublyQualified(..)
            | E::Id(_)
            | E::Column { .. }
            | E::RowId { .. }
            | E::Literal(_)
            | E::Name(_)
            | E::Qualified(..)
            | E::Variable(_)
            | E::SubqueryResult { .. }
            | E::Default => {}
        }
    }
}
