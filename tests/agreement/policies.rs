//! Policies that hide some tables, columns and functions of a world.

use seawall::policy::{Advice, Level, Limits, Policy, PolicyError};

use crate::tape::Tape;
use crate::worlds::World;
use crate::writer::quoted;

const FUNCTIONS: &[&str] = &[
    "abs",
    "hex",
    "lower",
    "upper",
    "count",
    "json_each",
    "max",
    "l*",
    "coalesce",
    "like",
    "glob",
    "->>",
    "sum",
];

/// The rules of a policy, for `build` and for the eye.
pub(crate) fn rules(tape: &mut Tape<'_>, world: &World) -> Vec<(&'static str, String)> {
    let mut rules = vec![("rows.allow", "read, write on *.*".to_owned())];
    if tape.one_in(2) {
        rules.push(("functions.allow", "*".to_owned()));
    }
    for _ in 0..tape.below(6) {
        let table = &world.tables[tape.below(world.tables.len())];
        let name = format!("{}.{}", table.schema, quoted(table.name));
        let column = quoted(tape.pick(&table.columns));
        rules.push(match tape.below(7) {
            0 => ("rows.deny", format!("read on {name}")),
            1 => ("rows.deny", format!("write on {name}")),
            2 => ("rows.deny", format!("read on {name}({column})")),
            3 => ("rows.deny", format!("update on {name}({column})")),
            4 => ("rows.deny", tape.pick(&["read on aux.*", "read on *.s*", "write on temp.*"]).to_owned()),
            5 => ("functions.deny", tape.pick(FUNCTIONS).to_owned()),
            _ => ("triggers.trust", "read, call, write by *".to_owned()),
        });
    }
    rules
}

pub(crate) fn build(rules: &[(&'static str, String)]) -> Result<Policy, PolicyError> {
    let limits = Limits { steps: Some(200_000), value: Some(1_000_000), ..Limits::default() };
    let mut builder = Policy::builder().extends(Policy::builtin("base")?).limits(limits);
    for (list, rule) in rules {
        builder = match *list {
            "rows.allow" => builder.allow_rows(rule),
            "rows.deny" => builder.deny_rows(rule),
            "functions.allow" => builder.allow_functions(rule),
            "functions.deny" => builder.deny_functions(rule),
            _ => builder.trust_triggers(rule),
        }?;
    }
    for advice in [Advice::NoWhere, Advice::DoubleQuotedString, Advice::BareName] {
        builder = builder.advice(advice, Level::Allow);
    }
    builder.build()
}
