//! A policy file as written, before its parent is looked up.

use std::collections::BTreeMap;

use super::grammar::Form;
use super::reader::Reader;
use super::rule::{CommandRule, FunctionRule, Grant, Power, PragmaRule, RowRule, Rule};
use super::settings::{Advice, ForeignKeys, Level, Limits};
use super::{entries, scalars};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Place, Source, Span};
use crate::yaml::{self, Entry, FaultKind, Node, Value};

/// What one file says.
#[derive(Clone, Debug, Default)]
pub(super) struct Document {
    pub(super) description: Option<String>,
    pub(super) extends: Option<(String, Place)>,
    pub(super) rows: Part<RowRule>,
    pub(super) functions: Part<FunctionRule>,
    pub(super) pragmas: Part<PragmaRule>,
    pub(super) triggers: Part<Grant>,
    pub(super) views: Part<Grant>,
    pub(super) virtual_tables: Part<CommandRule>,
    pub(super) foreign_keys: Option<ForeignKeys>,
    pub(super) limits: Limits,
    pub(super) advice: BTreeMap<Advice, Level>,
}

/// What one file says in one section.
#[derive(Clone, Debug)]
pub(super) struct Part<T> {
    /// What it allows or trusts.
    pub(super) open: Vec<Rule<T>>,
    /// What it denies.
    pub(super) deny: Vec<Rule<T>>,
    /// What it takes away from the parent.
    pub(super) remove: Vec<Remove>,
}

/// An entry of `remove`.
#[derive(Clone, Debug)]
pub(super) struct Remove {
    /// Matched with the canonical form of entries, `*` for any text.
    pub(super) glob: String,
    /// Where it stands; `None` where it was built in code.
    pub(super) place: Option<Place>,
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self { open: Vec::new(), deny: Vec::new(), remove: Vec::new() }
    }
}

/// The keys of a policy file.
pub(super) const KEYS: [&str; 12] = [
    "seawall",
    "description",
    "extends",
    "rows",
    "functions",
    "pragmas",
    "triggers",
    "views",
    "virtual_tables",
    "foreign_keys",
    "limits",
    "advice",
];

/// Reads a file; the faults are all that can be known without its parent.
pub(super) fn read(source: &Source) -> (Document, Vec<Diagnostic>) {
    let (tree, faults) = yaml::read(source);
    let code = |kind| match kind {
        FaultKind::Empty => Code::PolicyEmpty,
        FaultKind::Syntax => Code::PolicyYaml,
        FaultKind::DuplicateKey => Code::PolicyDuplicateKey,
    };
    let faults = faults.into_iter().map(|fault| {
        let code = code(fault.kind);
        let fault = fault.diagnostic(source, code);
        if code == Code::PolicyEmpty { fault.help("A policy begins with `seawall: 1`.") } else { fault }
    });
    let mut reader = Reader { source: source.clone(), faults: faults.collect() };
    let broken = reader.faults.iter().any(|fault| fault.code == Code::PolicyYaml);
    let mut document = Document::default();
    match tree {
        Some(Node { value: Value::Mapping { entries, .. }, .. }) => {
            if scalars::version(&mut reader, &entries, broken) {
                for entry in &entries {
                    document.take(&mut reader, entry);
                }
            }
        }
        Some(Node { value: Value::Unreadable, .. }) | None => {}
        Some(node) => {
            let message = format!("the file is {}", super::reader::kind(&node.value));
            let help = "A policy begins with `seawall: 1`.";
            reader.fault(Code::PolicyType, node.span, message, "a mapping is due", help);
        }
    }
    (document, reader.faults)
}

impl Document {
    fn take(&mut self, reader: &mut Reader, entry: &Entry) {
        match entry.key.text.as_str() {
            "seawall" => {}
            "description" => self.description = reader.text(entry, "text").map(str::to_owned),
            "extends" => {
                let parent = reader.text(entry, "`builtin:NAME` or a path").map(str::to_owned);
                self.extends = parent.map(|parent| (parent, reader.place(entry.value.span)));
            }
            "rows" => self.rows = Part::read(reader, entry, Opener::Allow, true),
            "functions" => self.functions = Part::read(reader, entry, Opener::Allow, true),
            "pragmas" => self.pragmas = Part::read(reader, entry, Opener::Allow, false),
            "triggers" => self.triggers = Part::read(reader, entry, Opener::Trust, false),
            "views" => {
                self.views = Part::read(reader, entry, Opener::Trust, false);
                self.views.open.retain(|rule| calls_alone(reader, rule));
            }
            "virtual_tables" => self.virtual_tables = Part::read(reader, entry, Opener::Allow, false),
            "foreign_keys" => {
                let words = [("immediate", ForeignKeys::Immediate), ("deferred", ForeignKeys::Deferred)];
                self.foreign_keys = reader.choice(entry, &words);
            }
            "limits" => self.limits = scalars::limits(reader, entry),
            "advice" => self.advice = scalars::advice(reader, entry),
            _ => reader.unknown_key(entry, "the policy", &KEYS),
        }
    }
}

/// The key under which a section opens something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opener {
    Allow,
    Trust,
}

impl<T: Form> Part<T> {
    fn read(reader: &mut Reader, section: &Entry, opener: Opener, deny: bool) -> Self {
        let known: &[&'static str] = match (opener, deny) {
            (Opener::Allow, true) => &["allow", "deny", "remove"],
            (Opener::Allow, false) => &["allow", "remove"],
            (Opener::Trust, _) => &["trust", "remove"],
        };
        let mut part = Self::default();
        for entry in reader.mapping(section, &super::reader::list(known.iter().copied())).unwrap_or_default()
        {
            match entry.key.text.as_str() {
                key if !known.contains(&key) => {
                    let owner = format!("`{}`", section.key.text);
                    reader.unknown_key(entry, &owner, known);
                }
                "deny" => part.deny = entries::rules(reader, entry),
                "remove" => part.remove = entries::removals(reader, entry),
                _ => part.open = entries::rules(reader, entry),
            }
        }
        part
    }
}

/// Views are trusted for calls and nothing else.
fn calls_alone(reader: &mut Reader, rule: &Rule<Grant>) -> bool {
    let calls = rule.what.powers.iter().all(|power| *power == Power::Call);
    if !calls && let Some(place) = &rule.place {
        let label = "only `call` is due here";
        let help = "What a view reads is judged as if the statement read it; open it under `rows`.";
        reader.fault(Code::PolicyRule, place.span, "a view can be trusted for calls alone", label, help);
    }
    calls
}

/// The span of a value, or of its key where there is none.
pub(super) fn shown(entry: &Entry) -> Span {
    if entry.value.span.start == entry.value.span.end { entry.span } else { entry.value.span }
}
