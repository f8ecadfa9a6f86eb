//! The keywords by which a statement's clauses are found.

use std::borrow::Cow;

use super::token::NAME_BYTES;

/// `name` as SQL reads it: bare where it can be, else in double quotes.
pub fn written(name: &str) -> Cow<'_, str> {
    let bytes = name.as_bytes();
    let bare = bytes.first().is_some_and(|first| !first.is_ascii_digit() && *first != b'$')
        && bytes.iter().all(|byte| NAME_BYTES[usize::from(*byte)])
        && Keyword::of(bytes).can_name();
    if bare { Cow::Borrowed(name) } else { Cow::Owned(format!("\"{}\"", name.replace('"', "\"\""))) }
}

/// What a bare word can mean.
///
/// SQLite lets many keywords stand for names where they make no sense as keywords; those that never
/// matter here are plain names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    /// A name, or a keyword that may always be one.
    Name,
    /// A keyword that is never a name and starts no clause that matters here.
    Reserved,
    /// ALL, DISTINCT
    Quantifier,
    /// AND OR IS BETWEEN ESCAPE CASE WHEN THEN ELSE: an operand follows.
    Infix,
    As,
    By,
    Cast,
    Collate,
    /// UNION EXCEPT INTERSECT
    Compound,
    Conflict,
    /// CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP
    Current,
    Default,
    Delete,
    Exists,
    Explain,
    Filter,
    /// ROWS RANGE GROUPS, before a window's frame, and OFFSET: an operand may follow.
    Frame,
    From,
    In,
    Insert,
    Into,
    Join,
    /// HAVING LIMIT RETURNING: an expression follows and the FROM list is over.
    Clause,
    /// LIKE GLOB REGEXP MATCH
    Like,
    Not,
    On,
    Or,
    /// ORDER GROUP
    Order,
    Over,
    Partition,
    Plan,
    Query,
    Raise,
    Recursive,
    Replace,
    Select,
    Set,
    Update,
    Using,
    Values,
    Where,
    Window,
    With,
}

impl Keyword {
    /// Whether the word may be a name where the grammar wants one.
    pub(super) const fn can_name(self) -> bool {
        matches!(
            self,
            Self::Name
                | Self::By
                | Self::Cast
                | Self::Conflict
                | Self::Current
                | Self::Explain
                | Self::Filter
                | Self::Frame
                | Self::Like
                | Self::Over
                | Self::Partition
                | Self::Plan
                | Self::Query
                | Self::Raise
                | Self::Recursive
                | Self::Replace
                | Self::Window
                | Self::With
        )
    }

    /// The keyword that `word` is.
    pub(super) fn of(word: &[u8]) -> Self {
        let Some(first) = word.first() else { return Self::Name };
        let index = usize::from((first | 0x20).wrapping_sub(b'a'));
        let Some(words) = WORDS.get(index) else { return Self::Name };
        for (keyword, meaning) in *words {
            if keyword.len() == word.len() && word.eq_ignore_ascii_case(keyword.as_bytes()) {
                return *meaning;
            }
        }
        Self::Name
    }
}

/// By first letter.
const WORDS: [&[(&str, Keyword)]; 26] = {
    use Keyword::*;
    [
        &[
            ("as", As),
            ("and", Infix),
            ("all", Quantifier),
            ("add", Reserved),
            ("alter", Reserved),
            ("autoincrement", Reserved),
        ],
        &[("by", By), ("between", Infix)],
        &[
            ("case", Infix),
            ("cast", Cast),
            ("conflict", Conflict),
            ("collate", Collate),
            ("current_timestamp", Current),
            ("current_date", Current),
            ("current_time", Current),
            ("check", Reserved),
            ("commit", Reserved),
            ("constraint", Reserved),
            ("create", Reserved),
        ],
        &[
            ("distinct", Quantifier),
            ("delete", Delete),
            ("default", Default),
            ("deferrable", Reserved),
            ("drop", Reserved),
        ],
        &[("else", Infix), ("exists", Exists), ("explain", Explain), ("except", Compound), ("escape", Infix)],
        &[("from", From), ("filter", Filter), ("foreign", Reserved)],
        &[("group", Order), ("groups", Frame), ("glob", Like)],
        &[("having", Clause)],
        &[
            ("in", In),
            ("is", Infix),
            ("into", Into),
            ("insert", Insert),
            ("intersect", Compound),
            ("isnull", Reserved),
            ("index", Reserved),
        ],
        &[("join", Join)],
        &[],
        &[("limit", Clause), ("like", Like)],
        &[("match", Like)],
        &[("not", Not), ("null", Reserved), ("notnull", Reserved), ("nothing", Reserved)],
        &[("on", On), ("or", Or), ("order", Order), ("over", Over), ("offset", Frame)],
        &[("partition", Partition), ("plan", Plan), ("primary", Reserved)],
        &[("query", Query)],
        &[
            ("replace", Replace),
            ("returning", Clause),
            ("regexp", Like),
            ("rows", Frame),
            ("range", Frame),
            ("raise", Raise),
            ("recursive", Recursive),
            ("references", Reserved),
        ],
        &[("select", Select), ("set", Set)],
        &[("then", Infix), ("to", Reserved), ("table", Reserved), ("transaction", Reserved)],
        &[("union", Compound), ("update", Update), ("using", Using), ("unique", Reserved)],
        &[("values", Values)],
        &[("where", Where), ("when", Infix), ("with", With), ("window", Window)],
        &[],
        &[],
        &[],
    ]
};
