//! Files and their parents to a policy.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::document::{self, Document};
use super::{Policy, PolicyError, merge};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Place, Source, nearest};
use crate::yaml;

/// The shipped policies: their names and their texts.
pub(super) const BUILTIN: [(&str, &str); 4] = [
    ("base", include_str!("../../policy/base.yaml")),
    ("setup_sql", include_str!("../../policy/setup_sql.yaml")),
    ("run_sql", include_str!("../../policy/run_sql.yaml")),
    ("inspect", include_str!("../../policy/inspect.yaml")),
];

/// How many files may extend each other.
const LONGEST_CHAIN: usize = 16;
const PREFIX: &str = "builtin:";

impl Policy {
    /// The policy that a command line or a configuration names: a file, or `builtin:NAME`.
    ///
    /// # Errors
    /// Every fault of every file.
    pub fn named(name: &str) -> Result<Self, PolicyError> {
        match name.strip_prefix(PREFIX) {
            Some(shipped) => Self::builtin(shipped),
            None => Self::load(Path::new(name)),
        }
    }

    /// Reads a policy file and those it extends.
    ///
    /// Messages name the files by `path` as it is given, and their parents relative to it.
    ///
    /// # Errors
    /// Every fault of every file.
    pub fn load(path: &Path) -> Result<Self, PolicyError> {
        Self::load_with(&path.display().to_string(), |name| read_file(Path::new(name)))
    }

    /// Like [`Policy::load`], with `read` in place of the file system: it is given `name`, or the path of a
    /// parent relative to `name`, and answers with the text.
    ///
    /// # Errors
    /// Every fault of every file.
    pub fn load_with(
        name: &str,
        mut read: impl FnMut(&str) -> io::Result<String>,
    ) -> Result<Self, PolicyError> {
        let text = read(name).map_err(|error| {
            let fault = Diagnostic::error(Code::PolicyFile, format!("{name}: {}", said(&error)), None);
            PolicyError::new(vec![fault])
        })?;
        Loader { read: Some(&mut read), chain: Vec::new(), faults: Vec::new() }.run(name, &text)
    }

    /// Reads a policy from its text; it can extend shipped policies only.
    ///
    /// ```
    /// # use seawall::policy::Policy;
    /// let policy = Policy::parse("policy.yaml", "seawall: 1\nextends: builtin:setup_sql\n")?;
    /// assert!(!policy.rows.allow.is_empty());
    /// # Ok::<(), seawall::policy::PolicyError>(())
    /// ```
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(name: &str, text: &str) -> Result<Self, PolicyError> {
        Loader { read: None, chain: Vec::new(), faults: Vec::new() }.run(name, text)
    }

    /// A shipped policy: `base`, `setup_sql`, `run_sql` or `inspect`.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn builtin(name: &str) -> Result<Self, PolicyError> {
        match builtin_text(name) {
            Some(text) => Self::parse(&format!("{PREFIX}{name}"), text),
            None => {
                let message = format!("there is no shipped policy `{name}`");
                let fault = Diagnostic::error(Code::PolicyFile, message, None).help(builtins(name));
                Err(PolicyError::new(vec![fault]))
            }
        }
    }

    /// The names of the shipped policies.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.into_iter().map(|(name, _)| name)
    }
}

fn builtin_text(name: &str) -> Option<&'static str> {
    BUILTIN.into_iter().find(|(known, _)| *known == name).map(|(_, text)| text)
}

/// What shipped policies there are, the nearest first.
fn builtins(name: &str) -> String {
    let meant = nearest(name, Policy::builtin_names());
    let meant = meant.map(|name| format!("Did you mean `{PREFIX}{name}`? ")).unwrap_or_default();
    let all: Vec<String> = Policy::builtin_names().map(|name| format!("`{PREFIX}{name}`")).collect();
    format!("{meant}Shipped: {}.", all.join(", "))
}

fn read_file(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    // One byte more than is allowed, so that the reader can tell.
    std::fs::File::open(path)?.take(yaml::LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

/// An error without the path that some systems add to it.
fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::InvalidData => "the file is not UTF-8 text".to_owned(),
        kind => format!("the file cannot be read: {kind}"),
    }
}

type ReadText<'r> = &'r mut dyn FnMut(&str) -> io::Result<String>;

struct Loader<'r> {
    read: Option<ReadText<'r>>,
    /// The files that are being read, each the parent of the one before.
    chain: Vec<String>,
    faults: Vec<Diagnostic>,
}

impl Loader<'_> {
    fn run(mut self, name: &str, text: &str) -> Result<Policy, PolicyError> {
        let policy = self.policy(name, text);
        if self.faults.is_empty() { Ok(policy) } else { Err(PolicyError::new(self.faults)) }
    }

    /// The policy of one file; of no use where a fault has been noted.
    fn policy(&mut self, name: &str, text: &str) -> Policy {
        self.chain.push(name.to_owned());
        let (document, faults) = document::read(&Source::new(name, text));
        self.faults.extend(faults);
        let parent = document.extends.clone().map(|(parent, place)| self.parent(name, &parent, place));
        self.chain.pop();
        match parent {
            // What a parent that cannot be read allows is unknown, so its child's `remove` cannot be judged.
            Some(None) => Policy::default(),
            Some(Some(parent)) => self.merge(parent, document),
            None => self.merge(Policy::default(), document),
        }
    }

    fn merge(&mut self, parent: Policy, document: Document) -> Policy {
        merge::merge(parent, document, &mut self.faults)
    }

    fn parent(&mut self, child: &str, parent: &str, place: Place) -> Option<Policy> {
        let before = self.faults.len();
        let mut fault = |message: String, label: &str, help: String| {
            let mut fault = Diagnostic::error(Code::PolicyExtends, message, Some(place.clone())).label(label);
            fault.help = Some(help).filter(|help| !help.is_empty());
            self.faults.push(fault);
        };
        let (name, text) = if let Some(shipped) = parent.strip_prefix(PREFIX) {
            let Some(text) = builtin_text(shipped) else {
                fault(format!("there is no shipped policy `{shipped}`"), "not known", builtins(shipped));
                return None;
            };
            (parent.to_owned(), text.to_owned())
        } else {
            let help = builtin_text(parent).map(|_| format!("The shipped policy is `{PREFIX}{parent}`."));
            let help = help.unwrap_or_default();
            let Some(read) = self.read.as_mut().filter(|_| !child.starts_with(PREFIX)) else {
                let message = format!("`{parent}` cannot be looked up: this policy was not read from a file");
                fault(message, "only a shipped policy can be extended here", help);
                return None;
            };
            let name = beside(child, parent);
            match read(&name) {
                Ok(text) => (name, text),
                Err(error) => {
                    fault(format!("{name}: {}", said(&error)), "extended here", help);
                    return None;
                }
            }
        };
        if let Some(at) = self.chain.iter().position(|file| *file == name) {
            let mut way: Vec<&str> = self.chain.iter().skip(at).map(String::as_str).collect();
            way.push(&name);
            let message = format!("the policy extends itself: {}", way.join(" -> "));
            fault(message, "this leads back", "Let one of these files extend nothing.".to_owned());
            return None;
        }
        if self.chain.len() >= LONGEST_CHAIN {
            let message = format!("more than {LONGEST_CHAIN} files extend each other");
            fault(message, "one too many", String::new());
            return None;
        }
        let policy = self.policy(&name, &text);
        (self.faults.len() == before).then_some(policy)
    }
}

/// The path `parent`, which stands in the file `child`, without `.` and needless `..`, so that one file has
/// one name.
fn beside(child: &str, parent: &str) -> String {
    let joined = Path::new(child).parent().unwrap_or(Path::new("")).join(parent);
    let mut path = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(path.components().next_back(), Some(Component::Normal(_))) => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path.display().to_string()
}
