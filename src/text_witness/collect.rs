//! What the tree of a statement asks: tables, columns and functions that are reached when it runs.
//!
//! An allow-list of nodes: whatever is not named here ends the understanding of the statement,
//! never its judgement.

use std::collections::BTreeMap;

use sqlparser::ast::{
    Cte, Ident, LimitClause, NamedWindowDefinition, ObjectName, ObjectNamePart, OrderBy, OrderByKind, Query,
    SetExpr, Statement as Ast, TableWithJoins, Values, With,
};
use sqlparser::tokenizer::Span as Location;

use super::NotUnderstood;
use super::parse::Parsed;
use super::scope::{Found, Offers, Scope};
use crate::catalog::{Catalog, Known, is_internal};
use crate::request::{Action, Request, Resource};
use crate::source::{Name, Span};
use crate::statement::Statement;

/// A common table expression, walked when it is first named.
struct Common<'a> {
    name: Name,
    cte: &'a Cte,
    /// The common table expressions that its query can name.
    visible: Vec<usize>,
    walked: bool,
    offers: Offers,
}

/// Collects what a tree asks.
pub(super) struct Collector<'a> {
    pub(super) statement: &'a Statement<'a>,
    known: &'a Known,
    catalog: Option<&'a Catalog>,
    asked: BTreeMap<(Action, Resource), Option<Span>>,
    commons: Vec<Common<'a>>,
    /// The common table expressions that can be named here, innermost last.
    visible: Vec<usize>,
    /// What names mean here, innermost last.
    pub(super) scopes: Vec<Scope>,
    /// The named windows of the SELECTs around, innermost last.
    pub(super) windows: Vec<&'a [NamedWindowDefinition]>,
    not_understood: Option<NotUnderstood>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(statement: &'a Statement<'a>, known: &'a Known, catalog: Option<&'a Catalog>) -> Self {
        Self {
            statement,
            known,
            catalog,
            asked: BTreeMap::new(),
            commons: Vec::new(),
            visible: Vec::new(),
            scopes: Vec::new(),
            windows: Vec::new(),
            not_understood: None,
        }
    }

    /// The requests, and why there may be more.
    pub(super) fn finish(self) -> (Vec<Request>, Option<NotUnderstood>) {
        let request = |((action, resource), span)| Request::caller(action, resource, span);
        (self.asked.into_iter().map(request).collect(), self.not_understood)
    }

    /// Notes the first node that is not known.
    pub(super) fn unclear(&mut self, reason: &'static str) {
        self.not_understood.get_or_insert(NotUnderstood { reason, span: None });
    }

    pub(super) fn ask(&mut self, action: Action, resource: Resource, span: Option<Span>) {
        let kept = self.asked.entry((action, resource)).or_insert(span);
        if kept.is_none() || span.is_some_and(|span| kept.is_some_and(|kept| span < kept)) {
            *kept = span;
        }
    }

    /// Asks for a call, if there is such a function.
    pub(super) fn call(&mut self, name: Name, span: Option<Span>) {
        if self.known.functions.contains(&name) {
            self.ask(Action::Call, Resource::Function(name), span);
        }
    }

    /// Asks for the call that an operator is; the text tells where the first one stands.
    pub(super) fn call_operator(&mut self, name: &str) {
        let name = Name::from(name);
        let span = self.statement.calls.iter().find(|call| call.name == name).map(|call| call.span);
        self.call(name, span);
    }

    /// Asks for the reading of what a name was found to be.
    pub(super) fn read(&mut self, found: Found, span: Option<Span>) {
        match found {
            Found::Column { schema, table, column } => {
                self.ask(Action::Read, Resource::Column { schema, table, column }, span);
            }
            Found::Rowid { schema, table } => self.ask(Action::Read, Resource::Table { schema, table }, span),
            Found::Nothing => {}
        }
    }

    /// The whole statement.
    pub(super) fn statement(&mut self, parsed: &'a Parsed, alias: Option<Span>) {
        match &parsed.statement {
            Ast::Query(query) => {
                let visible = self.visible.len();
                if let Some(with) = &query.with {
                    self.with(with);
                }
                match query.body.as_ref() {
                    SetExpr::Insert(inner) | SetExpr::Update(inner) | SetExpr::Delete(inner) => {
                        self.writing(inner, &parsed.upserts, alias);
                    }
                    _ => {
                        self.body(query);
                    }
                }
                self.visible.truncate(visible);
            }
            other => self.writing(other, &parsed.upserts, alias),
        }
    }

    /// A table that a schema holds, or would hold, were there one.
    pub(super) fn table(&self, schema: Option<&Name>, table: &Name) -> Option<Offers> {
        let assumed = || schema.cloned().unwrap_or_else(|| super::tokens::home(table));
        let offers = |schema: Name, columns| Offers::Table { schema, table: table.clone(), columns };
        match self.catalog {
            None => Some(offers(assumed(), None)),
            Some(catalog) => match catalog.resolve(schema, table) {
                Some((holder, found)) => Some(offers(holder.name.clone(), found.details.clone())),
                None if is_internal(table) => Some(offers(assumed(), None)),
                None => None,
            },
        }
    }

    /// A table, view, table function or common table expression that is read by its name.
    pub(super) fn source(&mut self, name: &ObjectName, called: bool) -> Offers {
        let Some((schema, ident)) = table_name(name) else {
            self.unclear("a table's name has more than two parts");
            return Offers::UNKNOWN;
        };
        let table = Name::from(ident.value.as_str());
        let start = schema.unwrap_or(ident).span;
        let span = span_of(start).zip(span_of(ident.span)).map(|(a, b)| Span::new(a.start, b.end));
        let schema = schema.map(|schema| Name::from(schema.value.as_str()));
        if schema.is_none()
            && !called
            && let Some(id) = self.visible.iter().rev().copied().find(|id| self.commons[*id].name == table)
        {
            return self.common(id);
        }
        let held = self.catalog.is_some_and(|catalog| catalog.resolve(schema.as_ref(), &table).is_some());
        if !held && self.known.is_table_function(&table) {
            self.ask(Action::Call, Resource::Function(table), span);
            return Offers::UNKNOWN;
        }
        match self.table(schema.as_ref(), &table) {
            Some(Offers::Table { schema, table, columns }) => {
                self.ask(Action::Read, Resource::table(schema.clone(), table.clone()), span);
                Offers::Table { schema, table, columns }
            }
            _ => Offers::UNKNOWN,
        }
    }

    fn with(&mut self, with: &'a With) {
        let first = self.commons.len();
        for cte in &with.cte_tables {
            if cte.from.is_some() {
                self.unclear("a common table expression has a clause that is not known");
            }
            let name = Name::from(cte.alias.name.value.as_str());
            self.commons.push(Common {
                name,
                cte,
                visible: Vec::new(),
                walked: false,
                offers: Offers::UNKNOWN,
            });
        }
        // They see each other, whatever their order, and themselves.
        self.visible.extend(first..self.commons.len());
        for common in &mut self.commons[first..] {
            common.visible.clone_from(&self.visible);
        }
    }

    /// Walks a common table expression when it is first named; answers what it offers.
    fn common(&mut self, id: usize) -> Offers {
        let Common { cte, walked, offers, visible, .. } = &mut self.commons[id];
        if *walked {
            return offers.clone();
        }
        *walked = true;
        let cte = *cte;
        let given = cte.alias.columns.iter().map(|column| Name::from(column.name.value.as_str()));
        let given: Vec<Name> = given.collect();
        let given = if given.is_empty() { None } else { Some(Offers::Columns(Some(given))) };
        if let Some(given) = &given {
            // Known while its own query is walked, which may name it.
            *offers = given.clone();
        }
        let visible = std::mem::replace(&mut self.visible, visible.clone());
        let found = self.query(&cte.query);
        self.visible = visible;
        let offers = given.unwrap_or(found);
        self.commons[id].offers = offers.clone();
        offers
    }

    /// A query; answers what it offers to one around it.
    pub(super) fn query(&mut self, query: &'a Query) -> Offers {
        let visible = self.visible.len();
        if let Some(with) = &query.with {
            self.with(with);
        }
        let offers = self.body(query);
        self.visible.truncate(visible);
        offers
    }

    fn body(&mut self, query: &'a Query) -> Offers {
        if query.fetch.is_some()
            || !query.locks.is_empty()
            || query.for_clause.is_some()
            || query.settings.is_some()
            || query.format_clause.is_some()
            || !query.pipe_operators.is_empty()
        {
            self.unclear("a query has a clause that is not known");
        }
        let offers = self.set(&query.body, query.order_by.as_ref());
        match &query.limit_clause {
            None => {}
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) => {
                for expr in limit.iter().chain(offset.iter().map(|offset| &offset.value)).chain(limit_by) {
                    self.expression(expr);
                }
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
                self.expression(offset);
                self.expression(limit);
            }
        }
        offers
    }

    /// The body of a query. What a compound query is ordered by are columns of its result.
    fn set(&mut self, body: &'a SetExpr, order_by: Option<&'a OrderBy>) -> Offers {
        match body {
            SetExpr::Select(select) => self.select(select, order_by),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, right, .. } => {
                let offers = self.set(left, None);
                self.set(right, None);
                offers
            }
            SetExpr::Values(values) => {
                self.values(values);
                Offers::UNKNOWN
            }
            SetExpr::Insert(_)
            | SetExpr::Update(_)
            | SetExpr::Delete(_)
            | SetExpr::Merge(_)
            | SetExpr::Table(_) => {
                self.unclear("a query's kind is not known");
                Offers::UNKNOWN
            }
        }
    }

    fn values(&mut self, values: &'a Values) {
        for row in &values.rows {
            for expr in &row.content {
                self.expression(expr);
            }
        }
    }

    /// The terms of ORDER BY; a bare alias is that result.
    pub(super) fn order_by(&mut self, order_by: &'a OrderBy, aliases: &[Name]) {
        match &order_by.kind {
            OrderByKind::Expressions(terms) if order_by.interpolate.is_none() => {
                for term in terms {
                    let alias = super::expression::bare_name(&term.expr);
                    if !alias.is_some_and(|name| aliases.contains(&name)) {
                        self.expression(&term.expr);
                    }
                }
            }
            _ => self.unclear("an ORDER BY has a form that is not known"),
        }
    }

    pub(super) fn later(&mut self, later: Later<'a>) {
        for expr in later.expressions {
            self.expression(expr);
        }
        for argument in later.arguments {
            self.argument(argument);
        }
    }

    /// The tables of one item of a FROM list.
    pub(super) fn from(&mut self, item: &'a TableWithJoins, scope: &mut Scope, later: &mut Later<'a>) {
        self.factor(&item.relation, scope, later);
        for join in &item.joins {
            self.join(join, scope, later);
        }
    }
}

/// What is read when all tables of a FROM list are known: conditions, arguments of table functions.
#[derive(Default)]
pub(super) struct Later<'a> {
    pub(super) expressions: Vec<&'a sqlparser::ast::Expr>,
    pub(super) arguments: Vec<&'a sqlparser::ast::FunctionArg>,
}

/// The schema and the table of a name.
fn table_name(name: &ObjectName) -> Option<(Option<&Ident>, &Ident)> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(table)] => Some((None, table)),
        [ObjectNamePart::Identifier(schema), ObjectNamePart::Identifier(table)] => {
            Some((Some(schema), table))
        }
        _ => None,
    }
}

/// The bytes of a token, as the stream wrote them into its location.
pub(super) fn span_of(location: Location) -> Option<Span> {
    let at = |column: u64| usize::try_from(column).ok();
    let (start, end) = (at(location.start.column)?, at(location.end.column)?);
    (location.start.line != 0 && start < end).then_some(Span::new(start, end))
}
