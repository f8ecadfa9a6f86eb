//! What INSERT, UPDATE and DELETE ask beside what the tokens tell of their target.

use sqlparser::ast::{
    Delete, FromTable, Insert, SelectItem, Statement as Ast, TableFactor, Update, UpdateTableFromKind,
};

use super::collect::{Collector, Later, span_of};
use super::parse::Upsert;
use super::scope::{Offers, Scope, Source};
use crate::request::{Action, Resource};
use crate::source::{Name, Span};
use crate::statement;

impl<'a> Collector<'a> {
    pub(super) fn writing(&mut self, statement: &'a Ast, upserts: &'a [Upsert], alias: Option<Span>) {
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
        let order = update.order_by.iter().map(|term| &term.expr);
        for expression in update.selection.iter().chain(order).chain(&update.limit) {
            self.expression(expression);
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
        let order = delete.order_by.iter().map(|term| &term.expr);
        for expression in delete.selection.iter().chain(order).chain(&delete.limit) {
            self.expression(expression);
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
}

/// The own or given name of a table that is written.
fn alias_of(factor: &TableFactor) -> Option<Name> {
    match factor {
        TableFactor::Table { alias, .. } => alias.as_ref().map(|alias| Name::from(alias.name.value.as_str())),
        _ => None,
    }
}
