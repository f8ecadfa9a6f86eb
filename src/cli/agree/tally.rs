//! Counting what was compared.

use std::collections::BTreeMap;

use super::corpus::Block;
use crate::guard::agreement::{Agreement, Class, Compared, Difference, READINGS};
use crate::refusal::excerpt;
use crate::source::LineIndex;
use crate::statement::Statement;

/// Differences of no class that are shown whole.
pub(super) const SHOWN: usize = 20;

/// What was found, of both readings.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Statements on rows that SQLite prepares.
    pub(super) statements: u64,
    /// Pieces of SQL on whose database SQLite could not go on.
    pub(super) unreadable: u64,
    /// By the text alone, and with the schema.
    pub(super) readings: [Reading; 2],
    /// The first differences of no class.
    pub(super) unlisted: Vec<Unlisted>,
    /// Bytes of SQL.
    pub(super) bytes: u64,
}

/// What was found, of one reading.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    /// Statements that were understood to their end.
    pub(super) understood: u64,
    /// Statements of which both name the same tables and functions.
    pub(super) same: u64,
    /// Statements that the engine refuses for something that stands in their text.
    pub(super) engine_refuses: u64,
    /// Those that the text refuses too.
    pub(super) text_refuses: u64,
    /// Why statements were not understood to their end.
    pub(super) reasons: BTreeMap<&'static str, Counted>,
    /// Differences by their class.
    pub(super) classes: BTreeMap<Class, Differences>,
    /// Differences of no class.
    pub(super) unlisted: u64,
}

/// Something counted, and the first of it.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) count: u64,
    pub(super) example: Example,
}

/// The differences of one class.
#[derive(Clone, Debug)]
pub(super) struct Differences {
    /// Things that one side names and the other does not.
    pub(super) asked: u64,
    /// Things that one side refuses and the other does not.
    pub(super) refused: u64,
    pub(super) example: Example,
}

/// A difference of no class.
#[derive(Clone, Debug)]
pub(super) struct Unlisted {
    pub(super) reading: &'static str,
    pub(super) difference: Difference,
    pub(super) example: Example,
}

/// A statement, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Example {
    /// `file:line`.
    pub(super) place: String,
    /// Its text on one line, cut.
    pub(super) sql: String,
}

impl Example {
    pub(super) fn of(block: &Block, statement: &Statement<'_>) -> Self {
        let within = || LineIndex::new(&block.sql).position(&block.sql, statement.span.start).line - 1;
        let line = block.line + if block.is_plain { within() } else { 0 };
        Self { place: format!("{}:{line}", block.file), sql: excerpt(statement.sql()) }
    }
}

impl Tally {
    /// Whether every difference has a class.
    pub(super) fn is_closed(&self) -> bool {
        self.readings.iter().all(|reading| reading.unlisted == 0)
    }

    /// Counts one statement.
    pub(super) fn count(&mut self, agreement: &Agreement, example: &dyn Fn() -> Example) {
        self.statements += 1;
        let readings = self.readings.iter_mut().zip(agreement.readings());
        for ((reading, compared), name) in readings.zip(READINGS) {
            reading.count(compared, example);
            for difference in compared.differences.iter().filter(|one| one.class.is_none()) {
                if self.unlisted.len() < SHOWN {
                    let (difference, example) = (difference.clone(), example());
                    self.unlisted.push(Unlisted { reading: name, difference, example });
                }
            }
        }
    }

    /// Adds what was found later.
    pub(super) fn add(&mut self, later: &Self) {
        self.statements += later.statements;
        self.unreadable += later.unreadable;
        self.bytes += later.bytes;
        for (reading, more) in self.readings.iter_mut().zip(&later.readings) {
            reading.add(more);
        }
        self.unlisted.extend(later.unlisted.iter().take(SHOWN - self.unlisted.len()).cloned());
    }
}

impl Reading {
    fn count(&mut self, compared: &Compared, example: &dyn Fn() -> Example) {
        match compared.not_understood {
            None => self.understood += 1,
            Some(why) => {
                let first = || Counted { count: 0, example: example() };
                self.reasons.entry(why.reason).or_insert_with(first).count += 1;
            }
        }
        self.same += u64::from(compared.same);
        self.engine_refuses += u64::from(compared.engine_refuses);
        self.text_refuses += u64::from(compared.engine_refuses && compared.text_refuses);
        for difference in &compared.differences {
            let Some(class) = difference.class else {
                self.unlisted += 1;
                continue;
            };
            let first = || Differences { asked: 0, refused: 0, example: example() };
            let differences = self.classes.entry(class).or_insert_with(first);
            match difference.code {
                None => differences.asked += 1,
                Some(_) => differences.refused += 1,
            }
        }
    }

    fn add(&mut self, later: &Self) {
        self.understood += later.understood;
        self.same += later.same;
        self.engine_refuses += later.engine_refuses;
        self.text_refuses += later.text_refuses;
        self.unlisted += later.unlisted;
        for (reason, more) in &later.reasons {
            let first = || Counted { count: 0, ..more.clone() };
            self.reasons.entry(reason).or_insert_with(first).count += more.count;
        }
        for (class, more) in &later.classes {
            let first = || Differences { asked: 0, refused: 0, ..more.clone() };
            let differences = self.classes.entry(*class).or_insert_with(first);
            differences.asked += more.asked;
            differences.refused += more.refused;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::print;
    use super::*;
    use crate::diagnostic::Code;
    use crate::guard::agreement::{Asked, Side};
    use crate::request::Action;
    use crate::source::Name;

    #[test]
    fn a_difference_without_a_class_is_shown_and_leaves_the_list_open() {
        let asked = Asked { action: Action::Read, name: Name::from("vault") };
        let difference = Difference { side: Side::Text, code: Some(Code::ReadDenied), asked, class: None };
        let compared = Compared {
            not_understood: None,
            same: true,
            engine_refuses: false,
            text_refuses: false,
            differences: vec![difference],
        };
        let agreement = Agreement { alone: compared.clone(), with_schema: compared };
        let example = || Example { place: "a.sql:3".to_owned(), sql: "SELECT 1".to_owned() };
        let mut tally = Tally::default();
        assert!(tally.is_closed());
        let mut later = Tally::default();
        later.count(&agreement, &example);
        tally.add(&later);
        assert!(!tally.is_closed());
        let text = print::text(&tally);
        let shown =
            "  text alone: only the text asks read vault, refused as read-denied\n    a.sql:3: SELECT 1\n";
        assert!(
            text.contains("differences of no class that is listed: 2\n") && text.contains(shown),
            "{text}"
        );
        assert_eq!(print::json(&tally)["unlisted"][0]["code"], "read-denied");
    }
}
