//! FROM lists and the SELECTs around them.

use sqlparser::ast::{
    Distinct, GroupByExpr, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, OrderBy, Select,
    SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind, TableAlias, TableFactor,
};

use super::collect::{Collector, Later, span_of};
use super::expression::bare_name;
use super::scope::{Offers, Scope, Source};
use crate::source::{Name, Span};

impl<'a> Collector<'a> {
    pub(super) fn select(&mut self, select: &'a Select, order_by: Option<&'a OrderBy>) -> Offers {
        if is_foreign(select) {
            self.unclear("a SELECT has a clause that is not known");
        }
        let mut scope = Scope::default();
        let mut later = Later::default();
        for item in &select.from {
            self.from(item, &mut scope, &mut later);
        }
        scope.aliases = select.projection.iter().filter_map(alias).collect();
        let aliases = scope.aliases.clone();
        self.scopes.push(scope);
        self.windows.push(&select.named_window);
        self.later(later);
        let columns = self.items(&select.projection);
        for expr in select.selection.iter().chain(&select.having) {
            self.expression(expr);
        }
        match &select.group_by {
            GroupByExpr::Expressions(terms, modifiers) if modifiers.is_empty() => {
                for term in terms {
                    self.expression(term);
                }
            }
            _ => self.unclear("a GROUP BY has a form that is not known"),
        }
        if let Some(order_by) = order_by {
            self.order_by(order_by, &aliases);
        }
        self.windows.pop();
        let scope = self.scopes.pop();
        // `SELECT * FROM t` has the columns of t, whatever they are.
        let passed_on = || match (select.projection.as_slice(), scope?.sources.as_slice()) {
            ([SelectItem::Wildcard(_)], [only]) => Some(only.offers.clone()),
            _ => None,
        };
        match columns {
            Some(columns) => Offers::Columns(Some(columns)),
            None => passed_on().unwrap_or(Offers::UNKNOWN),
        }
    }

    /// The results of a SELECT or RETURNING; answers their names, where they are known.
    pub(super) fn items(&mut self, items: &'a [SelectItem]) -> Option<Vec<Name>> {
        let mut columns = Some(Vec::new());
        for item in items {
            let named: Option<Vec<Name>> = match item {
                SelectItem::UnnamedExpr(expr) => {
                    self.expression(expr);
                    // What SQLite calls an expression is nothing that a text can rely on.
                    Some(vec![bare_name(expr).unwrap_or_else(|| Name::from(""))])
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    self.expression(expr);
                    Some(vec![Name::from(alias.value.as_str())])
                }
                SelectItem::Wildcard(options) => self.star(None, span_of(options.wildcard_token.0.span)),
                SelectItem::QualifiedWildcard(kind, options) => match kind {
                    SelectItemQualifiedWildcardKind::ObjectName(name) => {
                        self.star(Some(name), span_of(options.wildcard_token.0.span))
                    }
                    SelectItemQualifiedWildcardKind::Expr(_) => {
                        self.unclear("a wildcard has a form that is not known");
                        None
                    }
                },
                SelectItem::ExprWithAliases { .. } => {
                    self.unclear("a result has several names");
                    None
                }
            };
            columns = columns.zip(named).map(|(mut columns, named)| {
                columns.extend(named);
                columns
            });
        }
        columns
    }

    /// `*`, or `name.*`.
    fn star(&mut self, of: Option<&ObjectName>, span: Option<Span>) -> Option<Vec<Name>> {
        let wanted = of.and_then(|name| match name.0.last() {
            Some(ObjectNamePart::Identifier(ident)) => Some(Name::from(ident.value.as_str())),
            _ => None,
        });
        let scope = self.scopes.last()?;
        let fits = |source: &&Source| of.is_none() || source.name == wanted;
        let sources: Vec<Source> = scope.sources.iter().filter(fits).cloned().collect();
        let mut columns = Some(Vec::new());
        for source in sources {
            let visible = source.visible();
            for column in visible.iter().flatten() {
                self.read(source.read(column), span);
            }
            columns = columns.zip(visible).map(|(mut columns, more)| {
                columns.extend(more);
                columns
            });
        }
        columns
    }

    pub(super) fn factor(&mut self, factor: &'a TableFactor, scope: &mut Scope, later: &mut Later<'a>) {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
                json_path: None,
                sample: None,
                index_directives: _,
                inheritance: None,
            } if with_hints.is_empty() && partitions.is_empty() => {
                let offers = self.source(name, args.is_some());
                if let Some(args) = args {
                    later.arguments.extend(&args.args);
                }
                let ident = |part: Option<&ObjectNamePart>| match part {
                    Some(ObjectNamePart::Identifier(ident)) => Some(Name::from(ident.value.as_str())),
                    _ => None,
                };
                let schema = if name.0.len() > 1 { ident(name.0.first()) } else { None };
                let schema = schema.or_else(|| match &offers {
                    Offers::Table { schema, .. } => Some(schema.clone()),
                    Offers::Columns(_) => None,
                });
                let given = self.alias(alias.as_ref());
                scope.sources.push(Source { name: given.or_else(|| ident(name.0.last())), schema, offers });
            }
            TableFactor::Derived { lateral: false, subquery, alias, sample: None } => {
                let offers = self.query(subquery);
                let name = self.alias(alias.as_ref());
                scope.sources.push(Source { name, schema: None, offers });
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let name = self.alias(alias.as_ref());
                let mut inner = Scope::default();
                self.from(table_with_joins, &mut inner, later);
                // Unless it comes first and bare, SQLite makes a `SELECT *` of it.
                if inner.sources.len() > 1 && (name.is_some() || !scope.sources.is_empty()) {
                    for source in &inner.sources {
                        for column in source.visible().iter().flatten() {
                            self.read(source.read(column), None);
                        }
                    }
                }
                if name.is_some() {
                    // They are known by the one name from now on.
                    for source in &mut inner.sources {
                        source.name.clone_from(&name);
                        source.schema = None;
                    }
                }
                scope.sources.extend(inner.sources);
            }
            _ => {
                self.unclear("a FROM list has an item that is not known");
                scope.sources.push(Source { name: None, schema: None, offers: Offers::UNKNOWN });
            }
        }
    }

    fn alias(&mut self, alias: Option<&TableAlias>) -> Option<Name> {
        let alias = alias?;
        if !alias.columns.is_empty() || alias.at.is_some() {
            self.unclear("an alias has columns");
        }
        Some(Name::from(alias.name.value.as_str()))
    }

    pub(super) fn join(&mut self, join: &'a Join, scope: &mut Scope, later: &mut Later<'a>) {
        let left = scope.sources.len();
        self.factor(&join.relation, scope, later);
        let constraint = match &join.join_operator {
            JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::Left(constraint)
            | JoinOperator::LeftOuter(constraint)
            | JoinOperator::Right(constraint)
            | JoinOperator::RightOuter(constraint)
            | JoinOperator::FullOuter(constraint)
            | JoinOperator::CrossJoin(constraint)
                if !join.global =>
            {
                constraint
            }
            _ => return self.unclear("a join's kind is not known"),
        };
        match constraint {
            JoinConstraint::None => {}
            JoinConstraint::On(condition) => later.expressions.push(condition),
            JoinConstraint::Using(columns) => {
                for column in columns {
                    if let [ObjectNamePart::Identifier(ident)] = column.0.as_slice() {
                        let name = Name::from(ident.value.as_str());
                        self.joined(&scope.sources, left, &name, span_of(ident.span));
                    }
                }
            }
            JoinConstraint::Natural => {
                let right = scope.sources.get(left..).unwrap_or_default();
                let columns: Vec<Name> = right.iter().filter_map(Source::visible).flatten().collect();
                let shared = |column: &&Name| {
                    scope.sources.iter().take(left).any(|source| source.has(column) == Some(true))
                };
                for column in columns.iter().filter(shared) {
                    self.joined(&scope.sources, left, column, None);
                }
            }
            JoinConstraint::UsingAlias(..) => self.unclear("a join has an alias"),
        }
    }

    /// A column by which the sources from `left` on are joined with those before.
    fn joined(&mut self, sources: &[Source], left: usize, column: &Name, span: Option<Span>) {
        let (before, after) = sources.split_at(left);
        for side in [before, after] {
            let sure = side.iter().find(|source| source.has(column) == Some(true));
            // A single table of an unknown schema must have the column.
            let only = || if let [only] = side { Some(only) } else { None };
            if let Some(source) = sure.or_else(|| only().filter(|source| source.has(column).is_none())) {
                self.read(source.read(column), span);
            }
        }
    }
}

fn alias(item: &SelectItem) -> Option<Name> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(Name::from(alias.value.as_str())),
        _ => None,
    }
}

/// Whether a SELECT has a clause of another language.
fn is_foreign(select: &Select) -> bool {
    !select.optimizer_hints.is_empty()
        || matches!(select.distinct, Some(Distinct::On(_)))
        || select.select_modifiers.is_some()
        || select.top.is_some()
        || select.exclude.is_some()
        || select.into.is_some()
        || !select.lateral_views.is_empty()
        || select.prewhere.is_some()
        || !select.connect_by.is_empty()
        || !select.cluster_by.is_empty()
        || !select.distribute_by.is_empty()
        || !select.sort_by.is_empty()
        || select.qualify.is_some()
        || select.value_table_mode.is_some()
        || select.flavor != SelectFlavor::Standard
}
