//! Names in rules.

use std::fmt;

use crate::source::Name;

/// A name in a rule: a glob, or one name that a glob cannot write. Both fold ASCII letters.
///
/// The loader makes a quoted name that needs no quotes a glob without wildcards, which is the same rule, so
/// ask [`Pattern::literal`] and not for [`Pattern::Exact`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// Letters, digits, `_`, `$`, non-ASCII letters, `*` for any run of characters, `?` for one.
    Glob(Name),
    /// Exactly this name, written in double quotes.
    Exact(Name),
}

impl Pattern {
    /// Every name.
    pub fn any() -> Self {
        Self::Glob(Name::from("*"))
    }

    /// This name alone.
    pub fn exactly(name: &Name) -> Self {
        let plain = !name.as_str().is_empty() && name.as_str().chars().all(is_plain);
        if plain { Self::Glob(name.clone()) } else { Self::Exact(name.clone()) }
    }

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
            Self::Exact(exact) if !exact.as_str().is_empty() && exact.as_str().chars().all(is_plain) => {
                f.write_str(exact.folded())
            }
            Self::Exact(exact) => write!(f, "\"{}\"", exact.folded().replace('"', "\"\"")),
        }
    }
}

/// Whether a name may hold `c` without quotes.
pub(super) fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii()
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
