//! The JSON Schema says of a policy file what the loader says, as far as a schema can.

#![cfg(feature = "schema")]
#![expect(clippy::panic, clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use std::path::{Path, PathBuf};

use regex::Regex;
use seawall::policy::Policy;
use serde_json::Value;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn schema() -> Value {
    serde_json::from_str(&Policy::json_schema()).unwrap()
}

/// Whether `value` fits `schema`: the keywords that ours uses, and a panic for any other.
fn fits(whole: &Value, schema: &Value, value: &Value) -> bool {
    schema.as_object().unwrap().iter().all(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "title" | "description" | "examples" | "default" | "definitions" => true,
        "$ref" => fits(whole, whole.pointer(rule.as_str().unwrap().trim_start_matches('#')).unwrap(), value),
        "anyOf" => rule.as_array().unwrap().iter().any(|one| fits(whole, one, value)),
        "const" => rule == value,
        "enum" => rule.as_array().unwrap().contains(value),
        "type" => match rule {
            Value::Array(kinds) => kinds.iter().any(|kind| is(kind, value)),
            kind => is(kind, value),
        },
        "minimum" => value.as_i64().is_none_or(|number| number >= rule.as_i64().unwrap()),
        "pattern" => {
            value.as_str().is_none_or(|text| Regex::new(rule.as_str().unwrap()).unwrap().is_match(text))
        }
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| fits(whole, rule, item))),
        "required" => value.as_object().is_none_or(|object| {
            rule.as_array().unwrap().iter().all(|key| object.contains_key(key.as_str().unwrap()))
        }),
        "properties" => value.as_object().is_none_or(|object| {
            object.iter().all(|(key, value)| rule.get(key).is_none_or(|rule| fits(whole, rule, value)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|object| {
            let known = &schema["properties"];
            rule == &Value::Bool(true) || object.keys().all(|key| known.get(key).is_some())
        }),
        other => panic!("the test does not know the keyword {other}"),
    })
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("the test does not know the type {other}"),
    }
}

/// Whether a file fits; `None` where it is no YAML that turns into JSON.
fn file_fits(path: &Path) -> Option<bool> {
    let text = std::fs::read_to_string(path).ok()?;
    let value: Value = serde_yaml::from_str(&text).ok()?;
    let schema = schema();
    Some(fits(&schema, &schema, &value))
}

#[test]
fn the_committed_schema_is_the_generated_one() {
    let path = root("policy/seawall.schema.json");
    let generated = Policy::json_schema();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == generated, "run `UPDATE_SCHEMA=1 cargo test` and commit policy/seawall.schema.json");
}

#[test]
fn every_policy_that_ships_fits() {
    for name in Policy::builtin_names() {
        assert_eq!(file_fits(&root(&format!("policy/{name}.yaml"))), Some(true), "{name}");
        let shown: Value = serde_yaml::from_str(&Policy::builtin(name).unwrap().show()).unwrap();
        assert!(fits(&schema(), &schema(), &shown), "what show prints of {name}");
    }
    assert_eq!(file_fits(&root("fixtures/tracker/policy.yaml")), Some(true));
}

#[test]
fn every_key_has_a_description() {
    fn walk(schema: &Value, path: &str) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let described = property.get("description").or_else(|| property.get("$ref")).is_some();
            assert!(described, "{path}.{key} has no description");
            walk(property, &format!("{path}.{key}"));
        }
    }
    walk(&schema(), "");
}

/// What only the loader can know of a file that the schema takes.
#[test]
fn a_faulty_file_fits_only_where_a_schema_cannot_tell() {
    let mut fitting = Vec::new();
    for entry in std::fs::read_dir(root("fixtures/bad-policies")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && file_fits(&path) == Some(true) {
            fitting.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    fitting.sort();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("policy-schema-cannot-tell", fitting.join("\n")));
}
