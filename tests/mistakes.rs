//! The mistakes of `docs/mistakes.md`: what is printed, and that the mended SQL is fine.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

#[path = "cases/literate.rs"]
#[expect(dead_code, reason = "the cases themselves use more of it")]
mod literate;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use literate::{Part, parts};

const PAGE: &str = include_str!("../docs/mistakes.md");
const HEADS: [&str; 2] = [
    "What the message says, and the SQL after it was mended.",
    "seawall run --schema fixtures/tracker/schema.sql --policy fixtures/tracker/policy.yaml --sql-file setup.sql",
];

/// A mistake of the page: its heading, the wrong SQL, what is printed, the mended SQL.
struct Mistake {
    name: String,
    wrong: String,
    printed: String,
    mended: String,
}

fn mistakes() -> Vec<Mistake> {
    let mut found: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for part in parts(PAGE).unwrap() {
        match part {
            Part::Heading(2, name) => found.push((name, Vec::new())),
            Part::Block(block) => {
                if let Some((_, blocks)) = found.last_mut() {
                    blocks.push((block.info, block.text));
                }
            }
            _ => {}
        }
    }
    let mistake = |(name, blocks): (String, Vec<(String, String)>)| {
        let infos: Vec<&str> = blocks.iter().map(|(info, _)| info.as_str()).collect();
        assert_eq!(infos, ["sql", "text", "sql"], "{name}");
        let [wrong, printed, mended] = <[_; 3]>::try_from(blocks).unwrap().map(|(_, text)| text);
        Mistake { name, wrong, printed, mended }
    };
    found.into_iter().map(mistake).collect()
}

/// Exit code and output of a command on `sql`, in the tracker's world.
fn seawall(command: &[&str], sql: &str) -> (i32, String) {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("setup.sql"), sql).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_seawall"))
        .args(command)
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    (done.status.code().unwrap(), String::from_utf8(done.stdout).unwrap())
}

/// The tracker's schema and policy.
fn world() -> [String; 4] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tracker");
    let file = |name: &str| root.join(name).display().to_string();
    ["--schema".to_owned(), file("schema.sql"), "--policy".to_owned(), file("policy.yaml")]
}

fn run(sql: &str) -> (i32, String) {
    let world = world();
    let world = world.each_ref().map(String::as_str);
    seawall(&[&["run", "--sql-file", "setup.sql"][..], &world].concat(), sql)
}

#[test]
fn each_mistake_of_the_page_is_told_as_shown_and_its_mended_sql_is_fine() {
    assert!(HEADS.iter().all(|head| PAGE.contains(head)));
    let all = mistakes();
    assert_eq!(all.len(), 10);
    for mistake in all {
        let (status, printed) = run(&mistake.wrong);
        assert_eq!(printed, mistake.printed, "{}", mistake.name);
        assert_eq!(status, if printed.starts_with("warning") { 0 } else { 4 }, "{}", mistake.name);
        // A place, and a way out, for each finding.
        let findings = printed.matches("error[").count() + printed.matches("warning[").count();
        assert_eq!(printed.matches("  = help: ").count(), findings, "{}", mistake.name);
        assert_eq!(printed.matches(" --> setup.sql:").count(), findings, "{}", mistake.name);
        let (status, printed) = run(&mistake.mended);
        assert_eq!((status, printed.starts_with("ok: ")), (0, true), "{}\n{printed}", mistake.name);
    }
}

/// What `check` makes of each, without a schema and with it.
#[test]
fn check_tells_what_it_can_of_each_mistake() {
    let world = world();
    let world = world.each_ref().map(String::as_str);
    let mut shown = String::new();
    for mistake in mistakes() {
        writeln!(shown, "## {}\n", mistake.name).unwrap();
        let alone = seawall(&["check", "setup.sql"], &mistake.wrong).1;
        let full = seawall(&[&["check", "setup.sql"][..], &world].concat(), &mistake.wrong).1;
        let same = alone == full;
        writeln!(shown, "{}\n{alone}", if same { "with and without a schema" } else { "without a schema" })
            .unwrap();
        if !same {
            writeln!(shown, "with the schema\n{full}").unwrap();
        }
    }
    snapshot("check", &shown);
}

/// Others of their kind.
#[test]
fn a_mistake_like_them_has_a_message_like_theirs() {
    let texts = [
        "UPDATE issues SET title = Buoy light is out WHERE id = 2",
        "UPDATE issues SET status = \"done\" WHERE id = 2",
        "UPDATE issues SET title = 'Ines's issue' WHERE id = 2",
        "UPDATE issues SET title = \u{2018}late\u{2019} WHERE id = 2",
        "UPDATE issues SET title = 'late WHERE id = 2",
        "SELECT i.titel FROM issues AS i",
        "SELECT titel FROM issues WHERE titel = open",
        "INSERT INTO issues (project_id, number, titel) VALUES (1, 9, 'late')",
        "INSERT INTO labels (id, name) VALUES (7, night)",
        "INSERT INTO labels (id, name) VALUES (7)",
        "INSERT INTO labels (id name) VALUES (7, 'night')",
        "DELETE FROM mian.labels WHERE id = 1",
        "DELETE FROM tracker.labels WHERE id = 1",
        "DELETE FROM labels",
        "DELETE FROM labels WHERE name = 'gone' RETURNING id",
        "INSERT INTO comments (issue_id, author_id, body) VALUES (9, 2, 'Seen again.')",
        "UPDATE issues SET assignee_id = 9 WHERE id = 1; INSERT INTO users (id, handle, email, password_hash) \
         VALUES (9, 'noor', 'noor@harbour.example', '')",
        "DELETE FROM users WHERE id = 1",
        "INSERT INTO labels (id, name) VALUES (7, 'bug')",
        "INSERT INTO labels (id, name, color) VALUES (7, 'night', 'black')",
        "INSERT INTO labels (name) VALUES (NULL)",
        "SELECT now()",
    ];
    let mut shown = String::new();
    for text in texts {
        let printed = run(text).1;
        assert!(!printed.starts_with("ok") || text.starts_with("SELECT"), "{text}");
        writeln!(shown, "## {text}\n\n{printed}").unwrap();
    }
    snapshot("alike", &shown);
}

/// Compares with the snapshot `mistakes-NAME`.
fn snapshot(name: &str, shown: &str) {
    insta::with_settings!({
        snapshot_path => "../snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(format!("mistakes-{name}"), shown);
    });
}
