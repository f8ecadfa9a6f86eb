//! SQL inside scenario files: where it stands, byte by byte.
//!
//! A scenario is a YAML or JSON value with setup SQL in a named field, at any depth. The SQL is what a
//! reader of that format gets; a [`Map`] says which bytes of the file hold which bytes of it, so that words
//! are underlined where their author wrote them.

mod json;
mod map;
mod scalar;

pub use map::Map;

use std::path::Path;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Place, Source, Span};
use crate::yaml;

pub use crate::yaml::Without;

/// The formats that hold setup SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `.sql`: nothing but SQL.
    Sql,
    /// `.yaml`, `.yml`: one or more documents.
    Yaml,
    /// `.json`: one value.
    Json,
    /// `.jsonl`, `.ndjson`: one value a line.
    JsonLines,
}

impl Kind {
    /// The format of a file, by its name.
    pub fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "sql" => Some(Self::Sql),
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }
}

/// SQL of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The SQL, as a reader of the format gets it.
    pub sql: String,
    /// Where it stands in the file.
    pub map: Map,
}

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(Box<Told>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Yaml(yaml::Fault),
    Own { code: Code, message: String, span: Span, help: &'static str },
}

impl Fault {
    fn syntax(message: impl Into<String>, span: Span) -> Self {
        Self::own(Code::ScenarioSyntax, message, span, "")
    }

    /// The field holds something that is not SQL.
    fn no_text(field: &str, what: &str, span: Span) -> Self {
        let message = format!("`{field}` holds {what} where SQL is due");
        Self::own(Code::ScenarioField, message, span, "Write text, or a list of texts.")
    }

    fn own(code: Code, message: impl Into<String>, span: Span, help: &'static str) -> Self {
        Self(Box::new(Told::Own { code, message: message.into(), span, help }))
    }

    /// The fault as a diagnostic of the file.
    pub fn diagnostic(self, source: &Source) -> Diagnostic {
        match *self.0 {
            Told::Yaml(fault) => fault.diagnostic(source, Code::ScenarioSyntax),
            Told::Own { code, message, span, help } => {
                let place = Place { source: source.clone(), span };
                let diagnostic = Diagnostic::error(code, message, Some(place));
                if help.is_empty() { diagnostic } else { diagnostic.help(help) }
            }
        }
    }
}

/// What a file, or a line of it, holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The texts, in the order of the file.
    pub texts: Vec<Text>,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
    /// Whether the field was there, even if it holds nothing.
    pub has_field: bool,
    /// Scenarios without the field: documents beside one with it, or else entries of an outermost list.
    pub without: Without,
}

/// The texts under `field` in a YAML file, at any depth.
pub fn in_yaml(text: &str, field: &str) -> Found {
    let read = yaml::texts(text, field);
    let mut found = Found { has_field: read.has_field, without: read.without, ..Found::default() };
    for scalar in read.scalars {
        let map = scalar::map(text, &scalar).unwrap_or_else(|| Map::whole(scalar.text.len(), scalar.span));
        found.texts.push(Text { sql: scalar.text, map });
    }
    found.faults.extend(read.odd.into_iter().map(|(what, span)| Fault::no_text(field, what, span)));
    found.faults.extend(read.faults.into_iter().map(|fault| Fault(Box::new(Told::Yaml(fault)))));
    found
}

/// The texts under `field` in one JSON value, at any depth.
pub fn in_json(text: &str, field: &str) -> Found {
    json::texts(text, field)
}
