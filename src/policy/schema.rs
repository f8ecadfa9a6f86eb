//! The JSON Schema of the policy file, from which editors complete and check.
//!
//! It says what can be said of a file by itself; parents, `remove` and duplicate keys are for the loader.

use serde_json::{Map, Value, json};

use super::scalars::{LIMITS, Unit};
use super::settings::{Advice, ForeignKeys, Level};
use super::{ArgumentType, Policy, Verb};

/// A name: a glob, or one in double quotes.
const NAME: &str = r#"(?:(?:[A-Za-z0-9_$*?]|[^\x00-\x7F])+|"(?:[^"]|"")*")"#;

impl Policy {
    /// The JSON Schema (draft-07) of the policy file, as `policy/seawall.schema.json` has it.
    pub fn json_schema() -> String {
        let mut text = serde_json::to_string_pretty(&schema()).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn schema() -> Value {
    let mut properties = Map::new();
    let mut key = |name: &str, value: Value| properties.insert(name.to_owned(), value);
    key("seawall", json!({ "description": "The format version.", "const": 1 }));
    key(
        "description",
        json!({ "description": "What the policy is for, in its author's words.", "type": "string" }),
    );
    key(
        "extends",
        json!({
            "description": "The parent: builtin:NAME for a shipped policy, or a path relative to this file. What it \
                denies stays denied; what it opens can be taken away with remove.",
            "type": "string",
            "examples": Policy::builtin_names().map(|name| format!("builtin:{name}")).collect::<Vec<_>>(),
        }),
    );
    for section in SECTIONS {
        key(section.name, section.schema());
    }
    let words = [ForeignKeys::Immediate, ForeignKeys::Deferred].map(ForeignKeys::word);
    key(
        "foreign_keys",
        json!({
            "description": "When foreign keys are checked: as each is declared, or all once at COMMIT.",
            "enum": words,
            "default": ForeignKeys::default().word(),
        }),
    );
    key("limits", limits());
    key("advice", advice());
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Seawall policy",
        "description": "What SQL may do at one door of a world. What is not allowed is refused.",
        "type": "object",
        "required": ["seawall"],
        "additionalProperties": false,
        "properties": properties,
        "definitions": definitions(),
    })
}

/// A section of rules.
struct Section {
    name: &'static str,
    description: &'static str,
    /// What kind of rule stands in it.
    rule: &'static str,
    opener: &'static str,
    opens: &'static str,
    deny: bool,
}

const SECTIONS: [Section; 6] = [
    Section {
        name: "rows",
        description: "Rows of tables and views that may be read and written.",
        rule: "row_rule",
        opener: "allow",
        opens: "What is open.",
        deny: true,
    },
    Section {
        name: "functions",
        description: "Functions, operators that are functions, and table functions that may be called.",
        rule: "function",
        opener: "allow",
        opens: "What may be called.",
        deny: true,
    },
    Section {
        name: "pragmas",
        description: "Pragmas that may be asked. The argument is typed, and nothing can be set.",
        rule: "pragma",
        opener: "allow",
        opens: "What may be asked; several entries for one pragma add up.",
        deny: false,
    },
    Section {
        name: "triggers",
        description: "What triggers of the world may do beyond what the caller may.",
        rule: "grant",
        opener: "trust",
        opens: "What is trusted, by name of the trigger.",
        deny: false,
    },
    Section {
        name: "views",
        description: "What views of the world may call beyond what the caller may.",
        rule: "call_grant",
        opener: "trust",
        opens: "What is trusted, by name of the view.",
        deny: false,
    },
    Section {
        name: "virtual_tables",
        description: "Commands that may be inserted into full-text tables.",
        rule: "command",
        opener: "allow",
        opens: "Which commands are open.",
        deny: false,
    },
];

impl Section {
    fn schema(&self) -> Value {
        let entries = |description: &str| {
            json!({
                "description": description,
                "type": "array",
                "items": { "$ref": format!("#/definitions/{}_entry", self.rule) },
            })
        };
        let mut properties = Map::new();
        properties.insert(self.opener.to_owned(), entries(self.opens));
        if self.deny {
            properties.insert("deny".to_owned(), entries("What is closed whatever else is open, for ever."));
        }
        properties.insert("remove".to_owned(), json!({ "$ref": "#/definitions/remove" }));
        json!({
            "description": self.description,
            "type": "object",
            "additionalProperties": false,
            "properties": properties,
        })
    }
}

fn definitions() -> Value {
    let mut all = Map::new();
    for (rule, description, pattern, examples) in rules() {
        let text =
            json!({ "type": "string", "description": description, "pattern": pattern, "examples": examples });
        all.insert(rule.to_owned(), text);
        all.insert(format!("{rule}_entry"), entry(rule));
    }
    all.insert(
        "remove".to_owned(),
        json!({
            "description": "Entries to take away from what the parent opens in this section, as `seawall policy \
                show` prints them; * stands for any text. Each must match something.",
            "type": "array",
            "items": { "type": "string" },
        }),
    );
    Value::Object(all)
}

/// A rule, or a rule with its author's words.
fn entry(rule: &str) -> Value {
    let rule = json!({ "$ref": format!("#/definitions/{rule}") });
    json!({
        "anyOf": [
            rule,
            {
                "type": "object",
                "required": ["rule"],
                "additionalProperties": false,
                "properties": {
                    "rule": rule,
                    "reason": { "description": "Why, for the refusal: a clause without a period.", "type": "string" },
                    "fix": { "description": "What to do instead, for the refusal.", "type": "string" },
                },
            },
        ],
    })
}

type Rule = (&'static str, &'static str, String, &'static [&'static str]);

/// The kinds of rules with their grammar.
fn rules() -> [Rule; 6] {
    let list = |one: &str| format!(r"{one}(?:\s*,\s*{one})*");
    let whole = |rule: String| format!(r"^\s*{rule}\s*$");
    let verbs = format!("(?:{}|write)", Verb::ALL.map(Verb::word).join("|"));
    let powers = format!("(?:{}|write|call)", Verb::ALL.map(Verb::word).join("|"));
    let kinds = ArgumentType::ALL.map(ArgumentType::word).join("|");
    let qualified = format!(r"{NAME}(?:\s*\.\s*{NAME})?");
    let targets = list(&format!(r"{qualified}(?:\s*\(\s*{}\s*\))?", list(NAME)));
    let by = format!(r"by\s*{}", list(&qualified));
    [
        (
            "row_rule",
            "Verbs, `on`, and schema.table(columns); a table without a schema is main's, * stands for any part of \
                a name.",
            whole(format!(r"{}\s+on\s*{targets}", list(&verbs))),
            &["read on *.*", "read, write on main.users", "read on users(password_hash)"],
        ),
        (
            "function",
            "A function, an operator such as ->, or a table function; * stands for any part of a name.",
            whole(format!("(?:->>|->|{NAME})")),
            &["json_each", "json_*"],
        ),
        (
            "pragma",
            "A pragma and the type of its argument: table, index, integer or text, with ? if it may be left out.",
            whole(format!(r"{NAME}(?:\s*\(\s*(?:{kinds})\s*\??\s*\))?")),
            &["table_info(table)", "foreign_key_check(table?)", "user_version"],
        ),
        (
            "grant",
            "Verbs or call, on what, and by which triggers; without `on`, on everything.",
            whole(format!(r"{}\s+(?:on\s*{targets}\s*)?{by}", list(&powers))),
            &["read, call by *", "insert on audit_log by issues_audit"],
        ),
        (
            "call_grant",
            "`call by` and the views.",
            whole(format!(r"{}\s+{by}", list("call"))),
            &["call by *", "call by open_issues"],
        ),
        (
            "command",
            "A command of a full-text table.",
            whole(r"[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*".to_owned()),
            &["rebuild", "optimize", "merge", "integrity-check"],
        ),
    ]
}

fn limits() -> Value {
    let properties: Map<String, Value> = LIMITS
        .iter()
        .map(|(name, unit, description)| {
            let units: Vec<&str> = unit.factors().iter().map(|(name, _)| *name).collect();
            let text = format!(r"^[1-9][0-9]*\s*(?:{})$", units.join("|"));
            let mut limit = match unit {
                Unit::Count => json!({ "type": "integer", "minimum": 1 }),
                Unit::Bytes => json!({ "type": ["integer", "string"], "minimum": 1, "pattern": text }),
                Unit::Time => json!({ "type": "string", "pattern": text }),
            };
            limit["description"] = json!(description);
            ((*name).to_owned(), limit)
        })
        .collect();
    json!({
        "description": "Bounds of a run; what is left out has no bound but SQLite's own.",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn advice() -> Value {
    let levels = Level::WORDS.map(|(word, _)| word);
    let properties: Map<String, Value> = Advice::ALL
        .into_iter()
        .map(|advice| {
            let level = json!({
                "description": advice.description(),
                "enum": levels,
                "default": Level::Warn.word(),
            });
            (advice.code().word().to_owned(), level)
        })
        .collect();
    json!({
        "description": "What to do where a statement runs but is probably a mistake: allow says nothing, warn \
            reports it, deny refuses the statement.",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}
