//! A Rust program guards its own connection, and runs an author's setup SQL on it.

#![expect(clippy::print_stdout, reason = "an example shows what it answers")]

use seawall::rusqlite::Connection;
use seawall::source::Source;
use seawall::{Guard, GuardError, Policy, setup};

const POLICY: &str = "
seawall: 1
extends: builtin:setup_sql
rows:
  deny:
    - rule: write on audit_log
      reason: the audit log is written by the world's triggers
      fix: change the row it describes; the trigger writes the entry
triggers:
  trust: [insert on audit_log by issues_audit]
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(
        "CREATE TABLE issues(id INTEGER PRIMARY KEY, title TEXT);
         CREATE TABLE audit_log(n INTEGER PRIMARY KEY, what TEXT);
         CREATE TRIGGER issues_audit AFTER INSERT ON issues BEGIN
           INSERT INTO audit_log(what) VALUES ('opened ' || new.id);
         END;",
    )?;
    let guard = Guard::new(Policy::parse("example.yaml", POLICY)?, "setup_sql");

    // A whole text: one transaction, kept or undone as a whole.
    let text = "INSERT INTO issues(title) VALUES ('Webhook retries');\nDELETE FROM audit_log;";
    let outcome = setup::run(&mut connection, &guard, &Source::new("setup.sql", text))?;
    println!("{}: {}", outcome.word(), outcome.message().unwrap_or_default());

    // Single statements, judged one by one.
    let mut door = guard.open(&mut connection)?;
    door.execute("INSERT INTO issues(title) VALUES ('Webhook retries')")?;
    let rows = door.query("SELECT what FROM audit_log")?;
    println!("{:?}", rows.rows);
    match door.execute("DELETE FROM audit_log") {
        Err(GuardError::Refused(refusals)) => println!("{}", refusals[0]),
        other => println!("unexpected: {other:?}"),
    }
    Ok(())
}
