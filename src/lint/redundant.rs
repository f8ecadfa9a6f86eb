//! Rules that never decide anything: another one is always there before them.

use super::{own, warning};
use crate::catalog::{Catalog, is_internal};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::{
    ACTING_PRAGMAS, Argument, ArgumentType, FunctionRule, Grant, Pattern, Policy, PragmaRule,
    REPORTING_ARGUMENT, RowRule, Rule, Target, TriggerPattern, Verb,
};
use crate::ruleset::Ruleset;

pub(super) fn check(policy: &Policy, ruleset: &Ruleset, catalog: &Catalog) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // A kept table is open to a rule that names it and to no glob.
    let kept = |target: &Target| {
        target.table.literal().is_some_and(|name| {
            is_internal(name)
                || catalog.schemas.iter().any(|schema| ruleset.kept_code(&schema.name, name).is_some())
        })
    };
    let opens = |rule: &RowRule, other: &RowRule| !rule.targets.iter().any(kept) && rows(rule, other);
    shadowed(&policy.rows.allow, &policy.rows.deny, rows, &mut found);
    repeated(&policy.rows.allow, opens, &mut found);
    repeated(&policy.rows.deny, rows, &mut found);
    let functions = |one: &FunctionRule, other: &FunctionRule| names(&one.name, &other.name);
    shadowed(&policy.functions.allow, &policy.functions.deny, functions, &mut found);
    repeated(&policy.functions.allow, functions, &mut found);
    repeated(&policy.functions.deny, functions, &mut found);
    policy.pragmas.iter().filter(|rule| own(rule)).for_each(|rule| closed_pragma(rule, &mut found));
    repeated(&policy.pragmas, pragma, &mut found);
    repeated(&policy.triggers, grant, &mut found);
    repeated(&policy.views, grant, &mut found);
    // One reason is enough.
    let mut told = Vec::new();
    found.retain(|found| match &found.place {
        Some(place) if told.contains(place) => false,
        place => {
            told.extend(place.clone());
            true
        }
    });
    found
}

/// Rules that open what a deny closes.
fn shadowed<T>(
    open: &[Rule<T>],
    closed: &[Rule<T>],
    within: impl Fn(&T, &T) -> bool,
    found: &mut Vec<Diagnostic>,
) {
    for rule in open.iter().filter(|rule| own(rule)) {
        if let Some(deny) = closed.iter().find(|deny| within(&rule.what, &deny.what)) {
            let message = "this rule opens nothing: all of it is denied";
            let warning = warning(Code::LintNeverDecides, message, rule.place.clone()).label("never decides");
            found.push(about(warning, deny, "this rule denies it"));
        }
    }
}

/// Rules that say no more than another one of their list.
fn repeated<T>(rules: &[Rule<T>], within: impl Fn(&T, &T) -> bool, found: &mut Vec<Diagnostic>) {
    for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| own(rule)) {
        // A deny with words of its own is there for the words.
        if rule.reason.is_some() || rule.fix.is_some() {
            continue;
        }
        let broader = rules.iter().enumerate().find(|(other, broader)| {
            // Of two that say the same, the first stays.
            *other != at
                && within(&rule.what, &broader.what)
                && (*other < at || !within(&broader.what, &rule.what))
        });
        if let Some((_, broader)) = broader {
            let message = "this rule says no more than another one";
            let warning = warning(Code::LintNeverDecides, message, rule.place.clone()).label("never decides");
            found.push(about(warning, broader, "this rule says it already").help("Remove one of them."));
        }
    }
}

fn about<T>(warning: Diagnostic, rule: &Rule<T>, label: &str) -> Diagnostic {
    match &rule.place {
        Some(place) => warning.related(place.clone(), label),
        None => warning,
    }
}

/// A pragma that no policy can open in this form.
fn closed_pragma(rule: &Rule<PragmaRule>, found: &mut Vec<Diagnostic>) {
    let Some(name) = rule.what.name.literal() else { return };
    let acts = ACTING_PRAGMAS.contains(&name.folded());
    let needs_argument = rule.what.argument.is_some_and(|argument| !argument.optional);
    let sets = needs_argument && !REPORTING_ARGUMENT.contains(&name.folded());
    if acts || sets {
        let why = if acts { "it acts when it is asked" } else { "its argument sets it" };
        let message = format!("no policy can open `{}`: {why}", rule.what);
        let warning = warning(Code::LintNeverDecides, message, rule.place.clone()).label("never decides");
        found.push(if acts {
            warning
        } else {
            warning.help(format!("Write `{name}` to open the question."))
        });
    }
}

/// Whether every name that fits `one` fits `other` too, as far as the patterns themselves tell.
fn names(one: &Pattern, other: &Pattern) -> bool {
    match (one.literal(), one, other) {
        (_, _, other) if other.is_any() => true,
        (Some(name), ..) => other.matches(name),
        (None, Pattern::Glob(one), Pattern::Glob(glob)) => {
            // Read as a name, a glob fits another one that has stars where it has them; `?` would let `*` in.
            one == glob || (!glob.as_str().contains('?') && other.matches(one))
        }
        (None, ..) => false,
    }
}

fn target(one: &Target, other: &Target) -> bool {
    names(&one.schema, &other.schema)
        && names(&one.table, &other.table)
        && match (&one.columns, &other.columns) {
            (_, None) => true,
            (Some(columns), Some(others)) => columns.iter().all(|c| others.iter().any(|o| names(c, o))),
            (None, Some(_)) => false,
        }
}

fn rows(one: &RowRule, other: &RowRule) -> bool {
    let verb = |verb: &Verb| other.verbs.contains(verb);
    one.verbs.iter().all(verb) && one.targets.iter().all(|t| other.targets.iter().any(|o| target(t, o)))
}

fn pragma(one: &PragmaRule, other: &PragmaRule) -> bool {
    let fits = |one: Argument, other: Argument| {
        (one.kind == other.kind || other.kind == ArgumentType::Text) && (other.optional || !one.optional)
    };
    let argument = match (one.argument, other.argument) {
        (None, None) => true,
        (None, Some(other)) => other.optional,
        (Some(_), None) => false,
        (Some(one), Some(other)) => fits(one, other),
    };
    argument && names(&one.name, &other.name)
}

fn grant(one: &Grant, other: &Grant) -> bool {
    let by = |one: &TriggerPattern, other: &TriggerPattern| {
        let schema = match (&one.schema, &other.schema) {
            (_, None) => true,
            (Some(one), Some(other)) => names(one, other),
            (None, Some(other)) => other.is_any(),
        };
        schema && names(&one.name, &other.name)
    };
    let on = other.targets.is_empty()
        || !one.targets.is_empty() && one.targets.iter().all(|t| other.targets.iter().any(|o| target(t, o)));
    on && one.powers.is_subset(&other.powers) && one.by.iter().all(|t| other.by.iter().any(|o| by(t, o)))
}
