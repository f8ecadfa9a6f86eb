//! Reading a rule.

use pest::Parser;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::Pair;

use super::rule::{
    Argument, ArgumentType, CommandRule, FunctionRule, Grant, Power, PragmaRule, RowRule, Target,
    TriggerPattern, Verb,
};
use super::{Columns, Pattern};
use crate::source::{Name, Span, floor, nearest};

mod parser {
    //! The derived parser; its `Rule` is the grammar's, not the policy's.
    #![allow(missing_docs, reason = "the derive documents nothing")]

    #[derive(pest_derive::Parser)]
    #[grammar = "policy/rule.pest"]
    pub(super) struct RuleParser;
}

use parser::{Rule as Part, RuleParser};

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleFault {
    /// Where, in bytes of the rule's text.
    pub(crate) span: Span,
    /// What is wrong.
    pub(crate) message: String,
    /// What was expected there.
    pub(crate) label: String,
    /// The way out.
    pub(crate) help: String,
}

/// A kind of rule.
pub(crate) trait Form: Sized + Clone + std::fmt::Display {
    /// An example, for messages.
    const EXAMPLE: &'static str;

    /// Reads the whole of `text`.
    fn read(text: &str) -> Result<Self, RuleFault>;
}

impl Form for RowRule {
    const EXAMPLE: &'static str = "read, write on main.users";

    fn read(text: &str) -> Result<Self, RuleFault> {
        let mut rule = Self { verbs: [].into(), targets: Vec::new() };
        let mut powers = Vec::new();
        for part in parse::<Self>(Part::row, text)?.into_inner() {
            match part.as_rule() {
                Part::verbs => powers = read_powers(part, false)?,
                Part::targets => rule.targets = read_targets(part, &powers)?,
                _ => {}
            }
        }
        rule.verbs.extend(powers.iter().filter_map(|power| match power {
            Power::Row(verb) => Some(*verb),
            Power::Call => None,
        }));
        Ok(rule)
    }
}

impl Form for Grant {
    const EXAMPLE: &'static str = "insert on audit_log by issues_audit";

    fn read(text: &str) -> Result<Self, RuleFault> {
        let mut grant = Self { powers: [].into(), targets: Vec::new(), by: Vec::new() };
        let mut powers = Vec::new();
        for part in parse::<Self>(Part::grant, text)?.into_inner() {
            match part.as_rule() {
                Part::verbs => powers = read_powers(part, true)?,
                Part::targets => {
                    if powers.iter().all(|power| *power == Power::Call) {
                        return Err(fault(
                            span(&part),
                            "a call is not on a table",
                            "no table is due here",
                            "Leave out `on` and the table: `call by *`.",
                        ));
                    }
                    grant.targets = read_targets(part, &powers)?;
                }
                Part::triggers => {
                    grant.by = part.into_inner().map(read_trigger).collect();
                    grant.by.sort();
                    grant.by.dedup();
                }
                _ => {}
            }
        }
        grant.powers.extend(powers);
        Ok(grant)
    }
}

impl Form for FunctionRule {
    const EXAMPLE: &'static str = "json_each";

    fn read(text: &str) -> Result<Self, RuleFault> {
        let mut names = parse::<Self>(Part::function, text)?.into_inner();
        Ok(Self { name: names.next().map_or_else(Pattern::any, read_name) })
    }
}

impl Form for PragmaRule {
    const EXAMPLE: &'static str = "table_info(table)";

    fn read(text: &str) -> Result<Self, RuleFault> {
        let mut rule = Self { name: Pattern::any(), argument: None };
        for part in parse::<Self>(Part::pragma, text)?.into_inner() {
            match part.as_rule() {
                Part::name => rule.name = read_name(part),
                Part::kind => rule.argument = Some(Argument { kind: read_kind(&part)?, optional: false }),
                Part::optional => rule.argument = rule.argument.map(|a| Argument { optional: true, ..a }),
                _ => {}
            }
        }
        Ok(rule)
    }
}

impl Form for CommandRule {
    const EXAMPLE: &'static str = "integrity-check";

    fn read(text: &str) -> Result<Self, RuleFault> {
        let words = parse::<Self>(Part::command, text)?.into_inner();
        let word = words.map(|word| word.as_str().to_ascii_lowercase()).next().unwrap_or_default();
        Ok(Self { command: Name::from(word) })
    }
}

fn parse<'t, F: Form>(part: Part, text: &'t str) -> Result<Pair<'t, Part>, RuleFault> {
    let mut pairs = RuleParser::parse(part, text).map_err(|error| syntax::<F>(text, &error))?;
    pairs.next().ok_or_else(|| fault(Span::new(0, text.len()), "the rule is empty", "a rule is due", ""))
}

fn fault(
    span: Span,
    message: impl Into<String>,
    label: impl Into<String>,
    help: impl Into<String>,
) -> RuleFault {
    RuleFault { span, message: message.into(), label: label.into(), help: help.into() }
}

/// What pest expected, in the words of the policy language.
fn syntax<F: Form>(text: &str, error: &pest::error::Error<Part>) -> RuleFault {
    let start = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => floor(text, at),
    };
    let found: &str = text.get(start..).unwrap_or_default();
    let word = found.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '*' | '?')));
    let end = match word.unwrap_or(found.len()) {
        0 => found.chars().next().map_or(0, char::len_utf8),
        length => length,
    };
    let found = found.get(..end).unwrap_or_default();
    let mut expected: Vec<&str> = Vec::new();
    if let ErrorVariant::ParsingError { positives, .. } = &error.variant {
        for part in positives {
            let word = match part {
                Part::on => "`on` and a table",
                Part::by => "`by` and a name",
                Part::verbs | Part::verb => "a verb",
                Part::kind => "table, index, integer or text",
                Part::columns => "columns in parentheses",
                Part::EOI => "the end of the rule",
                Part::command_word | Part::command => "a command's word",
                _ => "a name",
            };
            if !expected.contains(&word) {
                expected.push(word);
            }
        }
    }
    let message = match found {
        "" => "the rule ends too early".to_owned(),
        found => format!("the rule cannot be read from `{found}` on"),
    };
    let label =
        if expected.is_empty() { String::new() } else { format!("expected {}", expected.join(" or ")) };
    let help = match found {
        "on" => "One rule has one `on`; write another entry for the rest.".to_owned(),
        "\"" => "A quoted name ends with `\"`; a quote inside it is doubled.".to_owned(),
        "`" | "[" | "'" => "A name that needs quotes stands in double ones: \"order lines\".".to_owned(),
        "-" | "/" | ":" => {
            format!("A name with `{found}` in it stands in double quotes. {}", example::<F>())
        }
        "." => "A column stands in parentheses behind its table: `users(email)`.".to_owned(),
        _ => example::<F>(),
    };
    fault(Span::new(start, start + end), message, label, help)
}

fn example<F: Form>() -> String {
    format!("An entry here reads like `{}`.", F::EXAMPLE)
}

/// The words of a part; where it may repeat, pest counts the spaces behind it too.
fn span(part: &Pair<'_, Part>) -> Span {
    let start = part.as_span().start();
    Span::new(start, start + part.as_str().trim_end().len())
}

fn read_powers(verbs: Pair<'_, Part>, call: bool) -> Result<Vec<Power>, RuleFault> {
    const KNOWN: [&str; 7] = ["read", "insert", "update", "delete", "replace", "write", "call"];
    let known = KNOWN.get(..if call { 7 } else { 6 }).unwrap_or_default();
    let mut powers = Vec::new();
    for verb in verbs.into_inner() {
        match verb.as_str() {
            "read" => powers.push(Power::Row(Verb::Read)),
            "insert" => powers.push(Power::Row(Verb::Insert)),
            "update" => powers.push(Power::Row(Verb::Update)),
            "delete" => powers.push(Power::Row(Verb::Delete)),
            "replace" => powers.push(Power::Row(Verb::Replace)),
            "write" => powers.extend(Verb::WRITE.map(Power::Row)),
            "call" if call => powers.push(Power::Call),
            word => return Err(unknown(span(&verb), "verb", word, known)),
        }
    }
    Ok(powers)
}

/// A word that is none of `known`.
fn unknown(span: Span, what: &str, word: &str, known: &[&str]) -> RuleFault {
    let label = match nearest(word, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if word == "call" => "`call` is for triggers and views".to_owned(),
        None => "not known here".to_owned(),
    };
    fault(span, format!("unknown {what} `{word}`"), label, format!("Possible: {}.", known.join(", ")))
}

fn read_kind(kind: &Pair<'_, Part>) -> Result<ArgumentType, RuleFault> {
    match kind.as_str() {
        "table" => Ok(ArgumentType::Table),
        "index" => Ok(ArgumentType::Index),
        "integer" => Ok(ArgumentType::Integer),
        "text" => Ok(ArgumentType::Text),
        word => Err(unknown(span(kind), "argument type", word, &["table", "index", "integer", "text"])),
    }
}

fn read_targets(targets: Pair<'_, Part>, powers: &[Power]) -> Result<Vec<Target>, RuleFault> {
    let by_column =
        powers.iter().all(|power| matches!(power, Power::Row(Verb::Read | Verb::Update) | Power::Call));
    let mut read = Vec::new();
    for part in targets.into_inner() {
        let mut names = Vec::new();
        let mut columns = None;
        for part in part.into_inner() {
            if part.as_rule() == Part::columns {
                if !by_column {
                    return Err(fault(
                        span(&part),
                        "only `read` and `update` can be given column by column",
                        "no columns are due here",
                        "Write one entry for `read` and `update` with the columns, another for the other verbs.",
                    ));
                }
                let mut names: Columns = part.into_inner().map(read_name).collect();
                names.sort();
                names.dedup();
                columns = Some(names);
            } else {
                names.push(read_name(part));
            }
        }
        let mut names = names.into_iter().rev();
        let table = names.next().unwrap_or_else(Pattern::any);
        let schema = names.next().unwrap_or_else(|| Pattern::exactly(&Name::from("main")));
        read.push(Target { schema, table, columns });
    }
    read.sort();
    read.dedup();
    Ok(read)
}

fn read_trigger(part: Pair<'_, Part>) -> TriggerPattern {
    let names: Vec<Pattern> = part.into_inner().map(read_name).collect();
    let mut names = names.into_iter().rev();
    TriggerPattern { name: names.next().unwrap_or_else(Pattern::any), schema: names.next() }
}

fn read_name(part: Pair<'_, Part>) -> Pattern {
    let text = part.as_str();
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => Pattern::exactly(&Name::from(quoted.replace("\"\"", "\""))),
        None if part.as_rule() == Part::operator => Pattern::exactly(&Name::from(text)),
        None => Pattern::Glob(Name::from(text)),
    }
}
