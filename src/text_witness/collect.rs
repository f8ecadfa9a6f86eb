//! What the tree of a statement asks: tables, columns and functions that are reached when it runs.
//!
//! An allow-list of nodes: whatever is not named here ends the understanding of the statement,
//! never its judgement.

use std::collections::BTreeMap;

use sqlparser::ast::{
    Cte, Delete, FromTable, Ident, Insert, LimitClause, NamedWindowDefinition, ObjectName, ObjectNamePart,
    OrderBy, OrderByKind, Query, SelectItem, SetExpr, Statement as Ast, TableFactor, TableWithJoins, Update,
    UpdateTableFromKind, Values, With,
};
use sqlparser::tokenizer::Span as Location;

use super::NotUnderstood;
use super::parse::{Parsed, Upsert};
use super::scope::{Found, Offers, Scope, Source};
use crate::catalog::{Catalog, Known, is_internal};
use crate::request::{Action, Request, Resource};
use crate::source::{Name, Span};
use crate::statement::{self, Statement};

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
    statement: &'a Statement<'a>,
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

    fn writing(&mut self, statement: &'a Ast, upserts: &'a [Upsert], alias: Option<Span>) {
        match statement {
            Ast::Insert(insert) => self.insert(insert, upserts, alias),
            Ast::Update(update) => self.update(update),
            Ast::Delete(delete) => self.delete(delete),
            Ast::Query(query) => {
                self.query(query);
            }
            _ => self.unclear("its kind is not known"),
        }
    }

    fn insert(&mut self, insert: &'a Insert, upserts: &'a [Upsert], alias: Option<Span>) {
        if insert.on.is_some() || !insert.assignments.is_empty() || insert.insert_alias.is_some() {
            self.unclear("its INSERT has a clause that is not known");
        }
        if let Some(source) = &insert.source {
            self.query(source);
        }
        let alias = alias.and_then(|span| self.statement.text.get(span.range())).map(statement::unquote);
        let Some(target) = self.target(alias.map(|alias| Name::from(&*alias))) else { return };
        for upsert in upserts {
            self.upsert(upsert, &target);
        }
        self.returning(insert.returning.as_deref(), target);
    }

    fn upsert(&mut self, upsert: &'a Upsert, target: &Source) {
        let excluded = Source { name: Some(Name::from("excluded")), schema: None, offers: Offers::UNKNOWN };
        let key = Scope { sources: vec![target.clone()], aliases: Vec::new() };
        self.scopes.push(key);
        for term in &upsert.target {
            self.expression(&term.expr);
        }
        if let Some(condition) = &upsert.target_where {
            self.expression(condition);
        }
        self.scopes.pop();
        let Some(update) = &upsert.update else { return };
        // A bare name is the target's; `excluded` has to be named.
        self.scopes.push(Scope { sources: vec![excluded], aliases: Vec::new() });
        self.scopes.push(Scope { sources: vec![target.clone()], aliases: Vec::new() });
        for assignment in &update.assignments {
            if let Offers::Table { schema, table, .. } = &target.offers {
                for column in super::expression::assigned(&assignment.target) {
                    let resource = Resource::column(schema.clone(), table.clone(), column.value.as_str());
                    self.ask(Action::Update, resource, span_of(column.span));
                }
            }
            self.expression(&assignment.value);
        }
        if let Some(condition) = &update.selection {
            self.expression(condition);
        }
        self.scopes.truncate(self.scopes.len() - 2);
    }

    fn update(&mut self, update: &'a Update) {
        if !update.table.joins.is_empty() || update.output.is_some() {
            self.unclear("its UPDATE has a clause that is not known");
        }
        let Some(target) = self.target(alias_of(&update.table.relation)) else { return };
        if update.from.is_some()
            && let Offers::Table { schema, table, .. } = &target.offers
        {
            // It is joined with the others to find its rows.
            let span = self.statement.target.as_ref().map(|target| target.table.span);
            self.ask(Action::Read, Resource::table(schema.clone(), table.clone()), span);
        }
        let mut scope = Scope { sources: vec![target.clone()], aliases: Vec::new() };
        let mut later = Later::default();
        match &update.from {
            None => {}
            Some(UpdateTableFromKind::AfterSet(tables)) => {
                // SQLite looks for the rows in a join that the target is part of.
                if let (Offers::Table { schema, table, .. }, Some(written)) =
                    (&target.offers, &self.statement.target)
                {
                    let span = Some(written.table.span);
                    self.ask(Action::Read, Resource::table(schema.clone(), table.clone()), span);
                }
                for table in tables {
                    self.from(table, &mut scope, &mut later);
                }
            }
            Some(UpdateTableFromKind::BeforeSet(_)) => self.unclear("its UPDATE has FROM before SET"),
        }
        // Several tables behind FROM are read as `(SELECT * FROM ..)`.
        let from = scope.sources.get(1..).unwrap_or_default();
        for source in from.iter().filter(|_| from.len() > 1) {
            for column in source.visible().iter().flatten() {
                self.read(source.read(column), None);
            }
        }
        self.scopes.push(scope);
        self.later(later);
        for assignment in &update.assignments {
            self.expression(&assignment.value);
        }
        if let Some(condition) = &update.selection {
            self.expression(condition);
        }
        for term in &update.order_by {
            self.expression(&term.expr);
        }
        if let Some(limit) = &update.limit {
            self.expression(limit);
        }
        self.scopes.pop();
        self.returning(update.returning.as_deref(), target);
    }

    fn delete(&mut self, delete: &'a Delete) {
        let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &delete.from;
        let [table] = tables.as_slice() else { return self.unclear("its DELETE names several tables") };
        if !delete.tables.is_empty() || delete.using.is_some() || !table.joins.is_empty() {
            self.unclear("its DELETE has a clause that is not known");
        }
        let Some(target) = self.target(alias_of(&table.relation)) else { return };
        self.scopes.push(Scope { sources: vec![target.clone()], aliases: Vec::new() });
        if let Some(condition) = &delete.selection {
            self.expression(condition);
        }
        for term in &delete.order_by {
            self.expression(&term.expr);
        }
        if let Some(limit) = &delete.limit {
            self.expression(limit);
        }
        self.scopes.pop();
        self.returning(delete.returning.as_deref(), target);
    }

    fn returning(&mut self, items: Option<&'a [SelectItem]>, target: Source) {
        let Some(items) = items else { return };
        self.scopes.push(Scope { sources: vec![target], aliases: Vec::new() });
        self.items(items);
        self.scopes.pop();
    }

    /// What the statement writes, as a source of columns. The tokens tell its name.
    fn target(&mut self, alias: Option<Name>) -> Option<Source> {
        let Some(target) = &self.statement.target else {
            self.unclear("what it writes is not known");
            return None;
        };
        let (schema, table) = (&target.table.schema, &target.table.table);
        let offers = self.table(schema.as_ref(), table).unwrap_or(Offers::UNKNOWN);
        Some(Source { name: Some(alias.unwrap_or_else(|| table.clone())), schema: schema.clone(), offers })
    }

    /// A table that a schema holds, or would hold, were there one.
    fn table(&self, schema: Option<&Name>, table: &Name) -> Option<Offers> {
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
        if !held && self.known.modules.contains(&table) {
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

/// The own or given name of a table that is written.
fn alias_of(factor: &TableFactor) -> Option<Name> {
    match factor {
        TableFactor::Table { alias, .. } => alias.as_ref().map(|alias| Name::from(alias.name.value.as_str())),
        _ => None,
    }
}

/// The bytes of a token, as the stream wrote them into its location.
pub(super) fn span_of(location: Location) -> Option<Span> {
    let at = |column: u64| usize::try_from(column).ok();
    let (start, end) = (at(location.start.column)?, at(location.end.column)?);
    (location.start.line != 0 && start < end).then_some(Span::new(start, end))
}
