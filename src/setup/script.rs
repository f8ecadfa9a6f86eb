//! The text of a run, and its statements as a judge reads them.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::engine::catalog;
use crate::engine::open::Hardened;
use crate::guard::{Guard, Judging, Piece};
use crate::source::{Name, Source, Span};
use crate::statement::Statement;

/// The text of a run.
pub(super) struct Script<'r> {
    pub(super) guard: &'r Guard,
    pub(super) source: &'r Source,
    pub(super) spans: &'r [Span],
    /// Every statement; read only where there is something to tell.
    statements: OnceCell<Vec<Statement<'r>>>,
}

impl<'r> Script<'r> {
    pub(super) const fn new(guard: &'r Guard, source: &'r Source, spans: &'r [Span]) -> Self {
        Self { guard, source, spans, statements: OnceCell::new() }
    }

    pub(super) fn statements(&self) -> &[Statement<'r>] {
        let read = |span: &Span| Statement::read(self.source.text(), *span);
        self.statements.get_or_init(|| self.spans.iter().map(read).collect())
    }

    pub(super) fn sql(&self, index: usize) -> &'r str {
        self.spans.get(index).map_or("", |span| self.source.slice(*span))
    }
}

/// A judge for the connection, and the statements of the text as it reads them. What the host has
/// registered matters only where a name is neither the schema's nor SQLite's own; reading that
/// takes longer than a short run.
pub(super) fn read<'r>(
    held: &'r Hardened<'r>,
    script: &Script<'r>,
) -> rusqlite::Result<(Judging<'r>, Vec<Piece<'r>>)> {
    let text = script.source.text();
    let judge = |rules| Judging::new(held.connection, held.recorder.clone(), rules);
    let mut judging = judge(script.guard.rules_on(held.connection)?)?;
    // SQLite reads nothing behind a NUL byte, so no shape tells what a statement with one is.
    let whole = !text.as_bytes().contains(&0);
    let pieces: Vec<Piece<'_>> = script.spans.iter().map(|span| judging.read(text, *span, whole)).collect();
    let known = judging.ruleset().catalog().map(Arc::clone).unwrap_or_default();
    let unknown = |piece: &Piece<'_>| match piece {
        Piece::Known(_) => false,
        Piece::Read { statement, .. } => names_unknown(statement, &known),
    };
    if !pieces.iter().any(unknown) {
        return Ok((judging, pieces));
    }
    let more = catalog::known_to(held.connection)?;
    judging = judge(script.guard.rules_for(Catalog { known: more, ..Catalog::clone(&known) }))?;
    let pieces = script.spans.iter().map(|span| judging.read(text, *span, whole)).collect();
    Ok((judging, pieces))
}

/// Whether the text uses a name that neither the schema nor SQLite itself has.
fn names_unknown(statement: &Statement<'_>, catalog: &Catalog) -> bool {
    let known = &catalog.known;
    let is_cte = |name: &Name| statement.ctes.iter().any(|cte| cte.name == *name);
    let targets = statement.target.iter().map(|target| &target.table);
    let mut tables = targets.chain(&statement.sources).map(|mention| &mention.table);
    statement.calls.iter().any(|call| !known.functions.contains(&call.name))
        || tables.any(|name| {
            !is_cte(name) && !known.modules.contains(name) && catalog.resolve(None, name).is_none()
        })
}
