//! The three forms, as snapshots.

use crate::{Stand, snapshot};

fn stand() -> Stand {
    Stand::new(&[
        (
            "scenarios.yaml",
            "- id: late-refund\n  setup_sql: |\n    INSERT INTO issues(title) VALUES ('Refund is late');\n    UPDATE issues SET number = last_insert_rowid();\n- id: empty\n  setup_sql: null\n- id: folded\n  setup_sql: >\n    PRAGMA\n    foreign_keys = off\n",
        ),
        (
            "set/more.jsonl",
            "{\"id\":\"a\",\"setup_sql\":\"DELETE FROM issues\"}\n{\"id\":\"b\",\"setup_sql\":\"SELECT 1;\\nCREATE TABLE x(a)\"}\n",
        ),
        ("fine.sql", "INSERT INTO issues(title) VALUES ('a');\n"),
    ])
}

#[test]
fn text_json_and_annotations_are_as_they_were() {
    let stand = stand();
    for format in ["text", "json", "github"] {
        let ran = stand.check(&["scenarios.yaml", "set", "fine.sql", "--format", format]);
        assert_eq!((ran.status, ran.stderr.as_str()), (4, ""));
        let shown = match format {
            "json" => serde_json::to_string_pretty(&ran.json()).unwrap(),
            _ => ran.stdout,
        };
        snapshot(format, &shown);
    }
}

#[test]
fn where_all_is_well_one_line_says_so() {
    let ran = stand().check(&["fine.sql"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "1 file, 1 statement: 0 refused, 0 with advice\n"));
    assert_eq!(stand().check(&["fine.sql", "--format", "github"]).stdout, "");
}
