//! What the pages about the policy file say is true of this build.

#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

use seawall::diagnostic::{Code, Outcome, page};
use seawall::policy::{Advice, NEVER, Policy};

const POLICY: &str = include_str!("../docs/policy.md");
const CODES: &str = include_str!("../docs/codes/policy.md");
const LINT: &str = include_str!("../docs/codes/lint.md");

/// The blocks of a page: what stands behind the three marks, the line, and the text.
fn blocks(page: &str) -> Vec<(&str, usize, String)> {
    let mut found: Vec<(&str, usize, String)> = Vec::new();
    let mut open = false;
    for (line, text) in page.lines().enumerate() {
        match text.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(kind) => {
                open = true;
                found.push((kind, line + 1, String::new()));
            }
            None if open => found.last_mut().unwrap().2.push_str(&format!("{text}\n")),
            None => {}
        }
    }
    found
}

#[test]
fn every_policy_of_the_pages_loads_or_fails_as_it_says() {
    let mut count = 0;
    for (name, page) in
        [("docs/policy.md", POLICY), ("docs/codes/policy.md", CODES), ("docs/codes/lint.md", LINT)]
    {
        for (kind, line, text) in blocks(page) {
            count += 1;
            let (language, due) = kind.split_once(',').unwrap_or((kind, ""));
            assert_eq!(language, "yaml", "{name}:{line}");
            let said = match Policy::parse("policy.yaml", &text) {
                Ok(_) => String::new(),
                Err(error) => {
                    let mut codes: Vec<_> =
                        error.diagnostics().iter().map(|fault| fault.code.word()).collect();
                    codes.dedup();
                    codes.join(",")
                }
            };
            assert_eq!(said, due, "{name}:{line}\n{text}");
        }
    }
    assert!(count > 30, "only {count} blocks were found");
}

#[test]
fn every_code_of_policies_and_lint_has_its_page() {
    for code in Code::ALL.iter().filter(|code| matches!(code.outcome(), Outcome::Policy | Outcome::Lint)) {
        let page = page(*code);
        assert!(page.starts_with(&format!("## {code}\n\n")) && page.contains("Right:"), "{code}");
    }
}

#[test]
fn no_page_speaks_of_a_code_that_is_none() {
    for page in [CODES, LINT] {
        for heading in page.lines().filter_map(|line| line.strip_prefix("## ")) {
            assert!(Code::from_word(heading).is_some(), "{heading}");
        }
    }
}

#[test]
fn the_page_lists_what_never_opens_and_every_advice() {
    for never in NEVER {
        assert!(POLICY.contains(&format!("\n- {}\n", never.what)), "{}", never.what);
    }
    for advice in Advice::ALL {
        assert!(POLICY.contains(&format!("\n| `{}` | ", advice.code())), "{}", advice.code());
    }
    for name in Policy::builtin_names() {
        assert!(POLICY.contains(&format!("\n| `builtin:{name}` | ")), "{name}");
    }
}
