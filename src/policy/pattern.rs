//! Names in rules.

use std::fmt;

use crate::source::Name;

/// A name in a rule: a glob, or one quoted name. Both fold ASCII letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// Letters, digits, `_`, `$`, non-ASCII letters, `*` for any run of characters, `?` for one.
    Glob(Name),
    /// Exactly this name, written in double quotes.
    Exact(Name),
}

impl Pattern {
    /// Whether `name` fits.
    pub fn matches(&self, name: &Name) -> bool {
        match self {
            Self::Glob(glob) if glob.as_str() == "*" => true,
            Self::Glob(glob) if glob.as_str().contains(['*', '?']) => {
                glob_matches(glob.folded(), name.folded())
            }
            Self::Glob(name_itself) => name_itself == name,
            Self::Exact(exact) => exact == name,
        }
    }

    /// The one name that fits, where there is only one.
    pub fn literal(&self) -> Option<&Name> {
        match self {
            Self::Glob(glob) => (!glob.as_str().contains(['*', '?'])).then_some(glob),
            Self::Exact(exact) => Some(exact),
        }
    }

    /// Whether every name fits.
    pub fn is_any(&self) -> bool {
        matches!(self, Self::Glob(glob) if glob.as_str() == "*")
    }
}

/// In the form that the policy language reads, lower case where case has no meaning.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Glob(glob) => f.write_str(glob.folded()),
            Self::Exact(exact) => write!(f, "\"{}\"", exact.folded().replace('"', "\"\"")),
        }
    }
}

/// Whether `text` fits `glob`, `*` standing for any run of characters and `?` for one. Linear for
/// one star, at worst the product of the lengths.
pub(crate) fn glob_matches(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut g, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, t));
                g += 1;
            }
            Some(c) if *c == '?' || Some(c) == text.get(t) => {
                g += 1;
                t += 1;
            }
            _ => {
                // Let the last star take one character more.
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                g = at + 1;
                t = taken + 1;
            }
        }
    }
    glob.iter().skip(g).all(|c| *c == '*')
}
