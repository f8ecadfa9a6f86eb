//! Which table a column of the text belongs to.

use std::sync::Arc;

use crate::catalog::Details;
use crate::source::Name;

/// A table, view, subquery or table function whose columns can be named.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The name before a column: its alias, or its own.
    pub(super) name: Option<Name>,
    /// The schema that may stand before the name too.
    pub(super) schema: Option<Name>,
    pub(super) offers: Offers,
}

/// What a source gives.
#[derive(Clone, Debug)]
pub(super) enum Offers {
    /// A table or view of a schema; its columns, where a catalog tells them.
    Table { schema: Name, table: Name, columns: Option<Arc<Details>> },
    /// The columns of a query or a table function, where they are known.
    Columns(Option<Vec<Name>>),
}

impl Offers {
    /// Columns that the text does not tell.
    pub(super) const UNKNOWN: Self = Self::Columns(None);
}

/// What the names of one SELECT, UPDATE or DELETE can mean.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) sources: Vec<Source>,
    /// The names that AS gives to results; a column goes first.
    pub(super) aliases: Vec<Name>,
}

/// What a name of the text was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A column of a table.
    Column { schema: Name, table: Name, column: Name },
    /// The rowid of a table, where it may be the key under another name.
    Rowid { schema: Name, table: Name },
    /// Something that is no column of a table, or that the text does not tell.
    Nothing,
}

/// A bare name, and what is known about how it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bare<'n> {
    pub(super) name: &'n Name,
    /// Whether SQLite may read it as text, because it is in double quotes, or as TRUE or FALSE.
    pub(super) perhaps_literal: bool,
}

/// What `column` means; scopes are given outermost first.
pub(super) fn bare(scopes: &[Scope], column: Bare<'_>) -> Found {
    for (depth, scope) in scopes.iter().enumerate().rev() {
        let mut unknown = 0;
        for source in &scope.sources {
            match source.has(column.name) {
                Some(true) => return source.read(column.name),
                Some(false) => {}
                None => unknown += 1,
            }
        }
        if unknown > 0 {
            // Without a schema, a name beside a single table is its column, unless it is a name
            // from elsewhere.
            let elsewhere = scopes.iter().take(depth).any(|outer| !outer.sources.is_empty());
            return match scope.sources.as_slice() {
                [only] if !elsewhere && !column.perhaps_literal && !scope.aliases.contains(column.name) => {
                    only.read(column.name)
                }
                _ => Found::Nothing,
            };
        }
        if scope.sources.len() == 1
            && let Some(source) = scope.sources.first()
            && is_rowid(column.name)
        {
            return source.read(column.name);
        }
        if scope.aliases.contains(column.name) {
            return Found::Nothing;
        }
    }
    Found::Nothing
}

/// What `schema.name.column` means.
pub(super) fn qualified(scopes: &[Scope], schema: Option<&Name>, name: &Name, column: &Name) -> Found {
    for scope in scopes.iter().rev() {
        let fits = |source: &&Source| {
            source.name.as_ref() == Some(name) && (schema.is_none() || source.schema.as_ref() == schema)
        };
        let mut named = scope.sources.iter().filter(fits).peekable();
        if named.peek().is_none() {
            continue;
        }
        return named
            .find(|source| source.has(column) != Some(false) || is_rowid(column))
            .map_or(Found::Nothing, |source| source.read(column));
    }
    Found::Nothing
}

impl Source {
    /// Whether it has the column, where that is known.
    pub(super) fn has(&self, column: &Name) -> Option<bool> {
        match &self.offers {
            Offers::Table { columns, .. } => {
                columns.as_ref().map(|details| details.columns.iter().any(|c| c.name == *column))
            }
            Offers::Columns(columns) => columns.as_ref().map(|columns| columns.contains(column)),
        }
    }

    /// The reading of the column, where it is a table's.
    pub(super) fn read(&self, column: &Name) -> Found {
        let Offers::Table { schema, table, columns } = &self.offers else { return Found::Nothing };
        let mut column = column.clone();
        if is_rowid(&column) && self.has(&column) != Some(true) {
            // An INTEGER PRIMARY KEY is read under its own name.
            let Some(details) = columns else {
                return Found::Rowid { schema: schema.clone(), table: table.clone() };
            };
            let key = details.columns.iter().find(|column| column.is_rowid);
            column = key.map_or_else(|| Name::from("ROWID"), |key| key.name.clone());
        }
        Found::Column { schema: schema.clone(), table: table.clone(), column }
    }

    /// The columns that `*` stands for, where they are known.
    pub(super) fn visible(&self) -> Option<Vec<Name>> {
        match &self.offers {
            Offers::Table { columns, .. } => {
                let columns = columns.as_ref()?.columns.iter();
                Some(columns.filter(|column| !column.hidden).map(|column| column.name.clone()).collect())
            }
            Offers::Columns(columns) => columns.clone(),
        }
    }
}

fn is_rowid(name: &Name) -> bool {
    ["rowid", "oid", "_rowid_"].contains(&name.folded())
}
