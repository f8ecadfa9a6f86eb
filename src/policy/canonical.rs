//! The canonical form of each rule: verbs in fixed order, the implied schema written, lower case, quotes
//! only where a name needs them. It reads back as the same rule.

use std::fmt::{self, Display, Formatter};

use super::rule::{
    Argument, ArgumentType, CommandRule, FunctionRule, Grant, Power, PragmaRule, RowRule, Target,
    TriggerPattern, Verb,
};

impl Verb {
    /// The word for it in rules.
    pub const fn word(self) -> &'static str {
        self.action().word()
    }
}

impl ArgumentType {
    /// The word for it in rules.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Index => "index",
            Self::Integer => "integer",
            Self::Text => "text",
        }
    }
}

impl Display for RowRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        list(f, words(|verb| self.verbs.contains(&verb), false))?;
        f.write_str(" on ")?;
        list(f, &self.targets)
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.table)?;
        if let Some(columns) = &self.columns {
            f.write_str("(")?;
            list(f, columns)?;
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl Display for Grant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let call = self.powers.contains(&Power::Call);
        list(f, words(|verb| self.powers.contains(&Power::Row(verb)), call))?;
        if !self.targets.is_empty() {
            f.write_str(" on ")?;
            list(f, &self.targets)?;
        }
        f.write_str(" by ")?;
        list(f, &self.by)
    }
}

impl Display for TriggerPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write!(f, "{schema}.")?;
        }
        write!(f, "{}", self.name)
    }
}

impl Display for FunctionRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.name.literal().map(crate::source::Name::as_str) {
            Some(operator @ ("->" | "->>")) => f.write_str(operator),
            _ => write!(f, "{}", self.name),
        }
    }
}

impl Display for PragmaRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        match self.argument {
            Some(Argument { kind, optional }) => {
                write!(f, "({}{})", kind.word(), if optional { "?" } else { "" })
            }
            None => Ok(()),
        }
    }
}

impl Display for CommandRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.command.folded())
    }
}

/// The verbs of a rule in their order, `write` standing for all four.
fn words(has: impl Fn(Verb) -> bool, call: bool) -> Vec<&'static str> {
    let mut words = Vec::new();
    if has(Verb::Read) {
        words.push(Verb::Read.word());
    }
    if Verb::WRITE.into_iter().all(&has) {
        words.push("write");
    } else {
        words.extend(Verb::WRITE.into_iter().filter(|verb| has(*verb)).map(Verb::word));
    }
    if call {
        words.push("call");
    }
    words
}

fn list<T: Display>(f: &mut Formatter<'_>, items: impl IntoIterator<Item = T>) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}
