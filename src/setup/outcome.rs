//! What became of a run.

use serde_json::{Map, Value, json};

use super::report::Report;
use crate::diagnostic::{Code, Diagnostic};
use crate::refusal::{AdviceNote, Failure, Refusal};

/// What became of a run of setup SQL. Unless it is [`Verdict::Ok`], every row is as before.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Whether the rows were kept.
    pub verdict: Verdict,
    /// Statements in the text; pieces without a token do not count.
    pub statements: usize,
    /// What the author should look at.
    pub advice: Vec<AdviceNote>,
    /// Steps of SQLite's virtual machine; the same text on the same rows takes the same number.
    pub steps: u64,
    /// The hash of the effective policy.
    pub policy: String,
    /// What the statements that ran did, and how long it took.
    pub report: Report,
}

/// Whether the rows were kept, and if not, why.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The rows were kept.
    Ok,
    /// The policy denies at least one statement.
    Refused(Vec<Refusal>),
    /// SQLite or a limit stopped it.
    Failed(Box<Failure>),
}

impl Outcome {
    /// Whether the rows were kept.
    pub fn is_ok(&self) -> bool {
        self.verdict == Verdict::Ok
    }

    /// `ok`, `refused` or `failed`.
    pub fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Refused(_) => "refused",
            Verdict::Failed(_) => "failed",
        }
    }

    /// The statement that is told of first, from 1.
    pub fn statement(&self) -> Option<usize> {
        match &self.verdict {
            Verdict::Ok => None,
            Verdict::Refused(refusals) => refusals.first().map(|refusal| refusal.statement),
            Verdict::Failed(failure) => failure.statement,
        }
    }

    /// The code that is told first.
    pub fn code(&self) -> Option<Code> {
        match &self.verdict {
            Verdict::Ok => None,
            Verdict::Refused(refusals) => refusals.first().map(|refusal| refusal.code),
            Verdict::Failed(failure) => Some(failure.code),
        }
    }

    /// The first refusal's message, or the failure's.
    pub fn message(&self) -> Option<String> {
        match &self.verdict {
            Verdict::Ok => None,
            Verdict::Refused(refusals) => refusals.first().map(ToString::to_string),
            Verdict::Failed(failure) => Some(failure.to_string()),
        }
    }

    /// Every finding, for people.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = match &self.verdict {
            Verdict::Ok => Vec::new(),
            Verdict::Refused(refusals) => refusals.iter().map(Refusal::diagnostic).collect(),
            Verdict::Failed(failure) => vec![failure.diagnostic()],
        };
        all.extend(self.advice.iter().map(AdviceNote::diagnostic));
        all
    }

    /// The advice as JSON.
    pub fn advice_json(&self) -> Value {
        Value::Array(self.advice.iter().map(AdviceNote::json).collect())
    }

    /// As JSON, with every key.
    pub fn json(&self) -> Map<String, Value> {
        let refusals: Vec<Value> = match &self.verdict {
            Verdict::Refused(refusals) => refusals.iter().map(Refusal::json).collect(),
            Verdict::Ok | Verdict::Failed(_) => Vec::new(),
        };
        let report = self.is_ok().then(|| {
            let mut report = Map::new();
            report.insert("steps".into(), json!(self.steps));
            report.insert("advice".into(), self.advice_json());
            report.insert("policy".into(), json!(self.policy));
            report.extend(self.report.json().map(|(key, value)| (key.to_owned(), value)));
            report
        });
        let mut object = Map::new();
        object.insert("outcome".into(), json!(self.word()));
        object.insert("statement".into(), json!(self.statement()));
        object.insert("statements".into(), json!(self.statements));
        object.insert("code".into(), json!(self.code().map(Code::word)));
        object.insert("message".into(), json!(self.message()));
        object.insert("refusals".into(), json!(refusals));
        object.insert("report".into(), json!(report));
        object
    }
}
