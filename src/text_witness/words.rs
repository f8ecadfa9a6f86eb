//! The words that the parser may take for keywords: those that the row grammar of SQLite needs.
//! Every other word is a name, whatever another language makes of it.

use sqlparser::keywords::Keyword;

/// The keyword that `word` is; none for a name.
pub(super) fn keyword(word: &str) -> Keyword {
    let mut folded = [0_u8; LONGEST];
    let Some(folded) = folded.get_mut(..word.len()) else { return Keyword::NoKeyword };
    folded.copy_from_slice(word.as_bytes());
    folded.make_ascii_lowercase();
    match WORDS.binary_search_by(|(known, _)| known.as_bytes().cmp(folded)) {
        Ok(at) => WORDS[at].1,
        Err(_) => Keyword::NoKeyword,
    }
}

/// Whether SQLite takes the keyword for a name where none is due.
pub(super) const fn may_name(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::ASC
            | Keyword::CURRENT
            | Keyword::DESC
            | Keyword::EXCLUDE
            | Keyword::FILTER
            | Keyword::FIRST
            | Keyword::FOLLOWING
            | Keyword::GROUPS
            | Keyword::LAST
            | Keyword::MATERIALIZED
            | Keyword::NULLS
            | Keyword::OFFSET
            | Keyword::OVER
            | Keyword::PARTITION
            | Keyword::PRECEDING
            | Keyword::RANGE
            | Keyword::RECURSIVE
            | Keyword::ROW
            | Keyword::ROWS
            | Keyword::UNBOUNDED
            | Keyword::WINDOW
            | Keyword::REPLACE
    )
}

const LONGEST: usize = 12;

/// In the order of their letters.
const WORDS: [(&str, Keyword); 77] = [
    ("all", Keyword::ALL),
    ("and", Keyword::AND),
    ("as", Keyword::AS),
    ("asc", Keyword::ASC),
    ("between", Keyword::BETWEEN),
    ("by", Keyword::BY),
    ("case", Keyword::CASE),
    ("cast", Keyword::CAST),
    ("collate", Keyword::COLLATE),
    ("cross", Keyword::CROSS),
    ("current", Keyword::CURRENT),
    ("default", Keyword::DEFAULT),
    ("delete", Keyword::DELETE),
    ("desc", Keyword::DESC),
    ("distinct", Keyword::DISTINCT),
    ("else", Keyword::ELSE),
    ("end", Keyword::END),
    ("escape", Keyword::ESCAPE),
    ("except", Keyword::EXCEPT),
    ("exclude", Keyword::EXCLUDE),
    ("exists", Keyword::EXISTS),
    ("filter", Keyword::FILTER),
    ("first", Keyword::FIRST),
    ("following", Keyword::FOLLOWING),
    ("from", Keyword::FROM),
    ("full", Keyword::FULL),
    ("glob", Keyword::GLOB),
    ("group", Keyword::GROUP),
    ("groups", Keyword::GROUPS),
    ("having", Keyword::HAVING),
    ("in", Keyword::IN),
    ("indexed", Keyword::INDEXED),
    ("inner", Keyword::INNER),
    ("insert", Keyword::INSERT),
    ("intersect", Keyword::INTERSECT),
    ("into", Keyword::INTO),
    ("is", Keyword::IS),
    ("join", Keyword::JOIN),
    ("last", Keyword::LAST),
    ("left", Keyword::LEFT),
    ("like", Keyword::LIKE),
    ("limit", Keyword::LIMIT),
    ("match", Keyword::MATCH),
    ("materialized", Keyword::MATERIALIZED),
    ("natural", Keyword::NATURAL),
    ("not", Keyword::NOT),
    ("notnull", Keyword::NOTNULL),
    ("null", Keyword::NULL),
    ("nulls", Keyword::NULLS),
    ("offset", Keyword::OFFSET),
    ("on", Keyword::ON),
    ("or", Keyword::OR),
    ("order", Keyword::ORDER),
    ("outer", Keyword::OUTER),
    ("over", Keyword::OVER),
    ("partition", Keyword::PARTITION),
    ("preceding", Keyword::PRECEDING),
    ("range", Keyword::RANGE),
    ("recursive", Keyword::RECURSIVE),
    ("regexp", Keyword::REGEXP),
    ("replace", Keyword::REPLACE),
    ("returning", Keyword::RETURNING),
    ("right", Keyword::RIGHT),
    ("row", Keyword::ROW),
    ("rows", Keyword::ROWS),
    ("select", Keyword::SELECT),
    ("set", Keyword::SET),
    ("then", Keyword::THEN),
    ("unbounded", Keyword::UNBOUNDED),
    ("union", Keyword::UNION),
    ("update", Keyword::UPDATE),
    ("using", Keyword::USING),
    ("values", Keyword::VALUES),
    ("when", Keyword::WHEN),
    ("where", Keyword::WHERE),
    ("window", Keyword::WINDOW),
    ("with", Keyword::WITH),
];
