//! The page of each code, as `seawall explain` prints it.

use super::{Code, Outcome};

const REFUSED: &str = include_str!("../../docs/codes/refused.md");
const FAILED: &str = include_str!("../../docs/codes/failed.md");
const ADVICE: &str = include_str!("../../docs/codes/advice.md");
const POLICY: &str = include_str!("../../docs/codes/policy.md");
const LINT: &str = include_str!("../../docs/codes/lint.md");
const SCENARIO: &str = include_str!("../../docs/codes/scenario.md");

/// The section of `docs/codes/` about `code`, from its heading to the next; empty if there is none,
/// which a test rules out.
pub fn page(code: Code) -> &'static str {
    let file = match code.outcome() {
        Outcome::Refused => REFUSED,
        Outcome::Failed => FAILED,
        Outcome::Advice => ADVICE,
        Outcome::Policy => POLICY,
        Outcome::Lint => LINT,
        Outcome::Scenario => SCENARIO,
    };
    let heading = format!("## {}\n", code.word());
    let Some(start) = file.find(&heading) else { return "" };
    let section = file.get(start..).unwrap_or_default();
    let end = section.get(3..).and_then(|rest| rest.find("\n## ")).map_or(section.len(), |end| end + 4);
    section.get(..end).unwrap_or(section)
}
