//! The statements of a run, as a judge reads them.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::engine::catalog;
use crate::engine::open::Hardened;
use crate::guard::{Judging, Piece, Script};
use crate::source::Name;
use crate::statement::Statement;

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
    let whole = script.is_whole();
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
