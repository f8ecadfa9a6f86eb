//! What every witness saw of a statement, whatever is decided.
//!
//! It asks by the same steps as the judgement, so that what is shown is what was judged. Nothing is
//! stepped.

use rusqlite::{Error, Result};

use super::attribute::of_caller;
use super::first_pass::Why;
use super::full_way::{self, Asked};
use super::judging::{Judging, Pass, is_denial, is_for_text_alone, unreadable};
use super::mentions::locate;
use crate::refusal::one_name;
use crate::request::{Origin, Request, Resource, Witness};
use crate::ruleset::{Decision, Ruleset};
use crate::statement::{Head, Statement};
use crate::text_witness::Reading;

/// One request, who saw it, and what was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The request. One of the caller's has the place where the text names it, if it does.
    pub request: Request,
    /// Who saw it, in their order.
    pub witnesses: Vec<Witness>,
    /// What was decided.
    pub decision: Decision,
}

/// How a statement was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// By its text alone: there is no database, or SQLite must not see it or does not prepare it.
    TextAlone,
    /// By its text and one pass.
    Short,
    /// By its text, both passes and, where something could be silent, EXPLAIN.
    Full(Why),
}

/// What each witness saw of a statement.
#[derive(Debug)]
pub struct Examined {
    /// The caller's requests by their place in the text, then the world's.
    pub seen: Vec<Seen>,
    /// What the text alone was understood to ask.
    pub text: Reading,
    /// How it is judged.
    pub way: Way,
    /// Why SQLite does not prepare it; then the text is the only witness.
    pub error: Option<Error>,
}

impl Judging<'_> {
    /// What every witness sees of `statement`, whether it is allowed or not. As in a judgement,
    /// what could act while being prepared is not prepared where its text is refused.
    pub fn examine(&mut self, statement: &Statement<'_>) -> Examined {
        let text = self.read_whole(statement);
        let mut seen = Collected::new(&self.ruleset, statement);
        for request in &text.requests {
            seen.add(request.clone(), Witness::Text);
        }
        let refused = !self.text_findings(statement).is_empty();
        if refused && is_for_text_alone(statement) {
            return Examined { seen: seen.ordered(), text, way: Way::TextAlone, error: None };
        }
        let mut way = Way::Short;
        let error = self.ask(statement, &mut seen, &mut way).err();
        Examined { seen: seen.ordered(), text, way, error }
    }

    /// What SQLite's witnesses see of `statement`; its text is none of them. It takes the full way,
    /// and the audit looks at every table and call that the text mentions.
    ///
    /// # Errors
    ///
    /// SQLite's, where it does not prepare the statement.
    pub fn examine_by_engine(&mut self, statement: &Statement<'_>) -> Result<Vec<Seen>> {
        let before = (self.always_full, self.audits_all);
        (self.always_full, self.audits_all) = (true, true);
        let mut seen = Collected::new(&self.ruleset, statement);
        let asked = self.ask(statement, &mut seen, &mut Way::Short);
        (self.always_full, self.audits_all) = before;
        asked?;
        let mut seen = seen.ordered();
        seen.retain_mut(|one| {
            one.witnesses.retain(|witness| *witness != Witness::Text);
            !one.witnesses.is_empty()
        });
        Ok(seen)
    }

    /// Collects what SQLite's witnesses see; also that the callback denied what it could not read.
    fn ask(&mut self, statement: &Statement<'_>, seen: &mut Collected<'_>, way: &mut Way) -> Result<()> {
        match self.ask_passes(statement, seen, way) {
            Err(error) if is_denial(&error) => {
                seen.add(unreadable(statement), Witness::Authorizer);
                Ok(())
            }
            asked => asked,
        }
    }

    /// Collects what the passes and the audit see. Also where the short way is enough, both passes are asked:
    /// they alone tell whose each request is.
    fn ask_passes(
        &mut self,
        statement: &Statement<'_>,
        seen: &mut Collected<'_>,
        way: &mut Way,
    ) -> Result<()> {
        if !statement.head.is_row() {
            let pass = self.other_pass(statement);
            let is_pragma = matches!(statement.head, Head::Pragma(_));
            // Whatever a pragma reads is SQLite's own.
            let of_statement = |request: &Request| {
                !is_pragma || !matches!(request.resource, Resource::Table { .. } | Resource::Column { .. })
            };
            let asked = pass.events.iter().flat_map(|event| of_caller(event, statement, &self.catalog));
            asked.filter(of_statement).for_each(|request| seen.add(request, Witness::Authorizer));
            return prepared(pass);
        }
        let first = self.first_pass(statement);
        if first.denied.is_empty()
            && let Ok(prepared) = first.prepared
        {
            drop(prepared);
            if let Some(why) = self.why_full_way(statement, &first.events) {
                *way = Way::Full(why);
            }
            match full_way::asked(self, statement)? {
                Asked::All(requests) => {
                    requests.into_iter().for_each(|(request, witness)| seen.add(request, witness));
                }
                Asked::Denied(denied) => seen.add_denied(denied),
            }
            return Ok(());
        }
        seen.add_denied(first.denied.clone());
        let asked = prepared(first);
        if asked.as_ref().is_err_and(|error| !is_denial(error)) {
            *way = Way::TextAlone;
        }
        asked
    }
}

/// Whether SQLite prepares it; what the callback denied is no error of SQLite's.
fn prepared(pass: Pass<'_>) -> Result<()> {
    match pass.prepared {
        Err(error) if pass.denied.is_empty() => Err(error),
        _ => Ok(()),
    }
}

/// Requests of one statement, each once.
struct Collected<'s> {
    ruleset: std::sync::Arc<Ruleset>,
    statement: &'s Statement<'s>,
    seen: Vec<Seen>,
}

impl<'s> Collected<'s> {
    fn new(ruleset: &std::sync::Arc<Ruleset>, statement: &'s Statement<'s>) -> Self {
        Self { ruleset: std::sync::Arc::clone(ruleset), statement, seen: Vec::new() }
    }

    fn add(&mut self, mut request: Request, witness: Witness) {
        if let Some(known) = self.seen.iter_mut().find(|known| is_same(&known.request, &request)) {
            if let Err(at) = known.witnesses.binary_search(&witness) {
                known.witnesses.insert(at, witness);
            }
            return;
        }
        let decision = self.ruleset.decide(&request);
        if request.origin == Origin::Caller && request.span.is_none() {
            // A place that is the whole statement is none.
            request.span = locate(self.statement, &request).filter(|span| *span != self.statement.span);
        }
        self.seen.push(Seen { request, witnesses: vec![witness], decision });
    }

    fn add_denied(&mut self, denied: Vec<(Request, Decision)>) {
        denied.into_iter().for_each(|(request, _)| self.add(request, Witness::Authorizer));
    }

    fn ordered(self) -> Vec<Seen> {
        let mut seen = self.seen;
        let place = |request: &Request| request.span.map_or((usize::MAX, 0), |span| (span.start, span.end));
        seen.sort_by(|a, b| {
            let key = |s: &Seen| (s.request.origin.clone(), place(&s.request), s.request.action);
            key(a).cmp(&key(b)).then_with(|| a.request.resource.cmp(&b.request.resource))
        });
        seen
    }
}

/// Whether two witnesses saw one request, perhaps by another name of the schema table.
fn is_same(a: &Request, b: &Request) -> bool {
    let table = |request: &Request| request.resource.table_name().map(|(s, t)| one_name(s, t));
    let resource = || match (&a.resource, &b.resource) {
        (Resource::Table { .. }, Resource::Table { .. }) => table(a) == table(b),
        (Resource::Column { column: x, .. }, Resource::Column { column: y, .. }) => {
            x == y && table(a) == table(b)
        }
        (x, y) => x == y,
    };
    a.action == b.action && a.origin == b.origin && resource()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rusqlite::Connection;

    use super::*;
    use crate::engine::open::Hardened;
    use crate::guard::{Guard, Judged};
    use crate::policy::Policy;
    use crate::statement::statements;

    const WORLD: &str = "
        CREATE TABLE users (id INTEGER PRIMARY KEY, handle TEXT, pin TEXT);
        CREATE TABLE log (line TEXT);
        CREATE TRIGGER users_log AFTER UPDATE ON users BEGIN INSERT INTO log VALUES (new.handle); END;";

    fn with<R>(rules: &str, sql: &str, look: impl FnOnce(&mut Judging<'_>, &Statement<'_>) -> R) -> R {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(WORLD).unwrap();
        let text = format!("seawall: 1\nextends: builtin:setup_sql\n{rules}");
        let guard = Guard::new(Policy::parse("policy.yaml", &text).unwrap(), "setup_sql");
        let held = Hardened::new(&mut connection, &guard.policy().limits).unwrap();
        let rules = guard.rules_on(held.connection).unwrap();
        let mut judging = Judging::new(held.connection, held.recorder.clone(), Arc::clone(&rules)).unwrap();
        look(&mut judging, &statements(sql)[0])
    }

    fn lines(seen: &[Seen]) -> Vec<String> {
        let line = |seen: &Seen| {
            let (request, decision) = (&seen.request, &seen.decision);
            let by: Vec<&str> = seen.witnesses.iter().map(|witness| witness.word()).collect();
            let verdict = if decision.allowed { "allow" } else { "deny" };
            let (action, resource) = (request.action.word(), &request.resource);
            format!("{}: {action} {resource}: {verdict}, by {}", request.origin, by.join(" and "))
        };
        seen.iter().map(line).collect()
    }

    #[test]
    fn the_caller_and_the_trigger_are_told_apart_also_where_one_pass_is_enough() {
        let sql = "UPDATE users SET handle = upper(handle)";
        let examined = with("", sql, |judging, statement| judging.examine(statement));
        assert_eq!((&examined.way, examined.error.is_none()), (&Way::Short, true));
        let expected = [
            "caller: update users.handle: allow, by text and authorizer",
            "caller: read users.handle: allow, by text and authorizer",
            "caller: call upper: allow, by text and authorizer",
            "trigger users_log: read users.handle: allow, by authorizer",
            "trigger users_log: insert log: allow, by authorizer",
        ];
        let mut found = lines(&examined.seen);
        let mut expected = expected.map(str::to_owned).to_vec();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_could_act_while_being_prepared_is_left_to_its_text() {
        let examined = with("", "PRAGMA user_version = 7", |judging, statement| {
            let examined = judging.examine(statement);
            let version: i64 =
                judging.connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
            assert_eq!(version, 0);
            examined
        });
        assert_eq!(examined.way, Way::TextAlone);
        assert_eq!(lines(&examined.seen), ["caller: pragma user_version(7): deny, by text"]);
    }

    #[test]
    fn the_engine_alone_sees_what_is_joined_by_name_though_nothing_is_closed() {
        let sql = "SELECT a.handle FROM users AS a JOIN users AS b USING (pin)";
        let seen = with("", sql, |judging, statement| judging.examine_by_engine(statement).unwrap());
        assert!(lines(&seen).contains(&"caller: read users.pin: allow, by audit".to_owned()), "{seen:#?}");
        assert!(seen.iter().all(|seen| !seen.witnesses.contains(&Witness::Text)));
    }

    #[test]
    fn the_engine_alone_refuses_what_the_text_would() {
        for sql in ["PRAGMA user_version = 7", "DROP TABLE users", "ATTACH ':memory:' AS other", "BEGIN"] {
            let seen = with("", sql, |judging, statement| judging.examine_by_engine(statement).unwrap());
            assert!(seen.iter().any(|seen| !seen.decision.allowed), "{sql}: {seen:?}");
        }
    }

    #[test]
    fn a_judge_that_always_takes_the_full_way_says_so() {
        let examined = with("", "SELECT handle FROM users", |judging, statement| {
            judging.always_full = true;
            judging.examine(statement)
        });
        assert_eq!(examined.way, Way::Full(Why::Always));
        assert_eq!(Why::Always.to_string(), "every statement is to take it");
    }

    #[test]
    fn a_statement_is_examined_as_it_is_judged() {
        let rules = "rows:\n  deny: [read on users(pin), write on log]\n";
        for sql in [
            "SELECT pin FROM users",
            "UPDATE users SET handle = 'x'",
            "INSERT INTO users (handle) VALUES (total_changes())",
            "SELECT handle FROM users",
        ] {
            with(rules, sql, |judging, statement| {
                let refused = matches!(judging.judge(statement), Judged::Refused(_));
                let denied = judging.examine(statement).seen.iter().any(|seen| !seen.decision.allowed);
                assert_eq!(refused, denied, "{sql}");
            });
        }
    }
}
