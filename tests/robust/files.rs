//! Where the copies go: directories that cannot be written, and no space.

use std::process::Command;

use serde_json::json;

use crate::{Ran, Stand};

#[test]
fn out_keeps_the_copies_and_a_refusal_leaves_them_rolled_back() {
    let stand = Stand::new("CREATE TABLE t(a)");
    stand.database("other.db", "CREATE TABLE x(a)");
    let attach = ["--attach", "other=other.db"];
    let out = |directory| [&attach[..], &["--out", directory]].concat();
    stand.sql("INSERT INTO t VALUES (1); INSERT INTO x VALUES (1)", &out("kept"));
    stand.sql("INSERT INTO t VALUES (1); DROP TABLE t", &out("refused"));
    let count = |file: &str, table: &str| -> i64 {
        let connection = rusqlite::Connection::open(stand.path(file)).unwrap();
        connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    assert_eq!((count("kept/main.db", "t"), count("kept/other.db", "x")), (1, 1));
    assert_eq!((count("refused/main.db", "t"), count("refused/other.db", "x")), (0, 0));
    let mut names: Vec<_> =
        std::fs::read_dir(stand.path("kept")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["main.db", "other.db"]);
}

#[test]
fn an_earlier_runs_files_are_not_written_over() {
    let stand = Stand::new("CREATE TABLE t(a)");
    let args = ["--db", "given.db", "--sql", "INSERT INTO t VALUES (1)", "--out", "out"];
    assert_eq!(stand.run(&args).status, 0);
    let before = std::fs::read(stand.path("out/main.db")).unwrap();
    stand.run(&args).tool_failed("main.db is there already");
    assert_eq!(std::fs::read(stand.path("out/main.db")).unwrap(), before);
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let stand = Stand::new("CREATE TABLE t(a)");
    stand.write("file", "");
    let args = ["--db", "given.db", "--sql", "SELECT 1", "--out"];
    stand.run(&[&args[..], &["file/below"]].concat()).tool_failed("file/below");
    stand.run(&[&args[..], &["file"]].concat()).tool_failed("file");
}

#[cfg(unix)]
#[test]
fn a_directory_that_is_read_only_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let stand = Stand::new("CREATE TABLE t(a)");
    std::fs::create_dir(stand.path("out")).unwrap();
    std::fs::set_permissions(stand.path("out"), std::fs::Permissions::from_mode(0o555)).unwrap();
    // Whoever may write everywhere is not stopped by the mode; then there is nothing to see.
    if std::fs::write(stand.path("out/probe"), "").is_ok() {
        return;
    }
    stand.run(&["--db", "given.db", "--sql", "SELECT 1", "--out", "out"]).tool_failed("ermission denied");
}

#[cfg(unix)]
#[test]
fn a_read_only_fixture_is_copied_and_its_copy_written() {
    use std::os::unix::fs::PermissionsExt;
    let stand = Stand::new("CREATE TABLE t(a)");
    std::fs::set_permissions(stand.path("given.db"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let outcome =
        stand.sql("INSERT INTO t VALUES (1)", &["--query", "SELECT count(*) FROM t", "--out", "out"]);
    assert_eq!((&outcome["outcome"], &outcome["query"]["rows"]), (&json!("ok"), &json!([[1]])));
    let mode = |name: &str| std::fs::metadata(stand.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("given.db"), mode("out/main.db") & 0o200), (0o444, 0o200));
}

/// The command with a bound on the size of files that it writes, in blocks of 512 or 1,024 bytes;
/// the signal that such a write raises is ignored, as a full disk raises none.
#[cfg(unix)]
fn without_space(stand: &Stand, blocks: u32, args: &[&str]) -> Ran {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_seawall"), "run"]).args(args);
    command.current_dir(stand.directory.path());
    Ran::of(&command.output().unwrap(), stand.directory.path())
}

#[cfg(unix)]
#[test]
fn no_space_for_the_copy_is_the_tools_failure_and_leaves_no_file() {
    let stand = Stand::new("CREATE TABLE t(a); INSERT INTO t VALUES (randomblob(200000))");
    let ran = without_space(&stand, 20, &["--db", "given.db", "--sql", "SELECT 1", "--out", "out"]);
    ran.tool_failed("given.db: ");
    assert_eq!(std::fs::read_dir(stand.path("out")).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn no_space_for_the_rows_fails_and_the_rows_are_as_before() {
    let stand = Stand::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO t SELECT hex(randomblob(1000)) FROM n";
    let args = ["--db", "given.db", "--sql", fill, "--out", "out", "--format", "json"];
    let ran = without_space(&stand, 200, &args);
    let outcome = ran.json();
    assert_eq!(
        (&outcome["outcome"], &outcome["code"], ran.status),
        (&json!("failed"), &json!("sqlite-error"), 4)
    );
    let kept = rusqlite::Connection::open(stand.path("out/main.db")).unwrap();
    assert_eq!(kept.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)), Ok(1));
}
