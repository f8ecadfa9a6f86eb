//! Names as SQLite compares them.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The name of a schema object, function or pragma.
///
/// It keeps its spelling, but compares, orders and hashes as SQLite does: ASCII letters fold, all
/// others do not (`T` is `t`, `Étude` is not `étude`).
#[derive(Clone)]
pub struct Name {
    spelled: Arc<str>,
    /// In lower case; `None` where it is spelled so, as most names are.
    folded: Option<Arc<str>>,
}

impl Name {
    /// The name as spelled.
    pub fn as_str(&self) -> &str {
        &self.spelled
    }

    /// The name with ASCII letters in lower case.
    pub fn folded(&self) -> &str {
        self.folded.as_deref().unwrap_or(&self.spelled)
    }
}

impl From<&str> for Name {
    fn from(spelled: &str) -> Self {
        let is_folded = !spelled.bytes().any(|b| b.is_ascii_uppercase());
        let folded = (!is_folded).then(|| spelled.to_ascii_lowercase().into());
        Self { spelled: spelled.into(), folded }
    }
}

impl From<String> for Name {
    fn from(spelled: String) -> Self {
        Self::from(spelled.as_str())
    }
}

/// Look up with an already folded `&str`.
impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self.folded()
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.folded() == other.folded()
    }
}

impl Eq for Name {}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.folded().eq_ignore_ascii_case(other)
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded().hash(state);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.folded().cmp(other.folded())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.spelled, f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_ascii_letters_only() {
        assert_eq!(Name::from("Users"), Name::from("uSERS"));
        assert_ne!(Name::from("Étude"), Name::from("étude"));
        assert_eq!(Name::from("Users").to_string(), "Users");
    }
}
