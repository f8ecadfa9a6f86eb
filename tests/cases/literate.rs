//! Reads the cases of `fixtures/cases/*.md`. What it does not understand is an error.
//!
//! A file is prose and fenced blocks. A sentence that stands alone before a block of setup SQL is
//! the name of that case. The word after the language says what a block is:
//!
//! - `sql schema` is the root's DDL, `sql schema NAME` that of a database attached as NAME;
//! - `yaml policy` is a policy file; without one, the shipped `setup_sql` holds;
//! - `sql ok`, `sql refused 2 CODE, 3 CODE` and `sql failed 2 CODE` are cases. All refusals are
//!   named; after `ok` come the pieces of advice in the same form.
//!
//! A schema or policy before the first `##` holds for the file, one under a `##` for that section,
//! where the first schema replaces all of the file's. At the end of a case, `-- query: SQL` asks
//! what is there after the run, and `-- row: a | b` lines say it. `<NUL>` and `<BOM>` stand for
//! those two characters.

use seawall::diagnostic::Code;

/// One file.
#[derive(Debug)]
pub(crate) struct Suite {
    /// Its first line.
    pub(crate) title: String,
    /// Its cases.
    pub(crate) cases: Vec<Case>,
}

/// What setup SQL is expected to do.
#[derive(Debug)]
pub(crate) struct Case {
    /// The sentence before it.
    pub(crate) name: String,
    /// The line of its block.
    pub(crate) line: usize,
    /// Where it is run.
    pub(crate) world: World,
    /// The setup SQL.
    pub(crate) sql: String,
    /// `ok`, `refused` or `failed`.
    pub(crate) outcome: String,
    /// Statement and code of every refusal, of the failure, or of the advice.
    pub(crate) findings: Vec<(Option<usize>, Code)>,
    /// A query after the run, and its rows.
    pub(crate) query: Option<(String, Vec<String>)>,
}

/// The databases and the policy of a case.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    /// The DDL of the root (with no name) and of attached databases.
    pub(crate) schemas: Vec<(Option<String>, String)>,
    /// The text of the policy file.
    pub(crate) policy: Option<String>,
}

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Block {
    /// What stands after the fence.
    pub(crate) info: String,
    /// The lines in it, each with its end.
    pub(crate) text: String,
    /// The line of the fence.
    pub(crate) line: usize,
}

/// A part of a Markdown text.
#[derive(Debug)]
pub(crate) enum Part {
    /// `#` signs and the text after them.
    Heading(usize, String),
    /// Lines of text, joined by spaces.
    Prose(String),
    /// A fenced block.
    Block(Block),
}

/// The headings, paragraphs and fenced blocks of `text`, in order.
pub(crate) fn parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut prose: Vec<&str> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let fence = line.strip_prefix("```");
        let heading = line.trim_start_matches('#');
        let is_heading = heading.len() < line.len() && heading.starts_with(' ');
        if (fence.is_some() || is_heading || line.trim().is_empty()) && !prose.is_empty() {
            parts.push(Part::Prose(prose.join(" ")));
            prose.clear();
        }
        if let Some(info) = fence {
            let mut block = Block { info: info.to_owned(), text: String::new(), line: index + 1 };
            loop {
                let (_, inside) =
                    lines.next().ok_or(format!("line {}: the fence never closes", index + 1))?;
                if inside == "```" {
                    break;
                }
                block.text.push_str(inside);
                block.text.push('\n');
            }
            parts.push(Part::Block(block));
        } else if is_heading {
            parts.push(Part::Heading(line.len() - heading.len(), heading.trim().to_owned()));
        } else if !line.trim().is_empty() {
            prose.push(line.trim());
        }
    }
    if !prose.is_empty() {
        parts.push(Part::Prose(prose.join(" ")));
    }
    Ok(parts)
}

/// The cases of a file.
pub(crate) fn suite(text: &str) -> Result<Suite, String> {
    let mut parts = parts(text)?.into_iter();
    let Some(Part::Heading(1, title)) = parts.next() else {
        return Err("the file does not begin with a `# ` heading".to_owned());
    };
    let mut suite = Suite { title, cases: Vec::new() };
    let mut of_file = World::default();
    let mut section: Option<World> = None;
    let mut replaced = false;
    let mut name: Option<String> = None;
    for part in parts {
        match part {
            Part::Heading(2, _) => (name, section, replaced) = (None, Some(of_file.clone()), false),
            Part::Heading(..) => return Err("a heading is `# ` on the first line, or `## `".to_owned()),
            Part::Prose(text) => name = Some(text),
            // A command and what it prints is no case.
            Part::Block(block) if block.info == "console" => name = None,
            Part::Block(block) => {
                let told = |why: String| format!("line {}: {why}", block.line);
                let world = section.as_mut().unwrap_or(&mut of_file);
                if block.info == "yaml policy" {
                    (name, world.policy) = (None, Some(block.text));
                } else if let Some(schema) = block.info.strip_prefix("sql schema") {
                    name = None;
                    if section.is_some() && !replaced {
                        section.as_mut().unwrap_or(&mut of_file).schemas.clear();
                        replaced = true;
                    }
                    let schema = Some(schema.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
                    section.as_mut().unwrap_or(&mut of_file).schemas.push((schema, block.text));
                } else {
                    let name = name.take().ok_or_else(|| told("a case needs a sentence before it".into()))?;
                    let case = case(name, world.clone(), &block).map_err(told)?;
                    if suite.cases.iter().any(|other| other.name == case.name) {
                        return Err(told(format!("there is another case {:?}", case.name)));
                    }
                    suite.cases.push(case);
                }
            }
        }
    }
    Ok(suite)
}

fn case(name: String, world: World, block: &Block) -> Result<Case, String> {
    if !name.ends_with('.') {
        return Err(format!("{name:?} is no sentence"));
    }
    let info = block.info.strip_prefix("sql ").ok_or(format!("what is {:?}?", block.info))?;
    let (outcome, rest) = info.split_once(' ').unwrap_or((info, ""));
    let findings = findings(rest)?;
    let fits = match outcome {
        "ok" => findings.iter().all(|(statement, _)| statement.is_some()),
        "refused" => !findings.is_empty() && findings.iter().all(|(statement, _)| statement.is_some()),
        "failed" => findings.len() == 1,
        _ => false,
    };
    if !fits {
        return Err(format!("{info:?} is no expectation"));
    }
    let (sql, query) = checks(&block.text)?;
    let sql = sql.replace("<NUL>", "\0").replace("<BOM>", "\u{feff}");
    Ok(Case { name, line: block.line, world, sql, outcome: outcome.to_owned(), findings, query })
}

/// `2 no-where, 3 no-row-changed`; a failure of no statement has a code alone.
fn findings(text: &str) -> Result<Vec<(Option<usize>, Code)>, String> {
    let one = |item: &str| {
        let (statement, word) = match item.split_once(' ') {
            Some((number, word)) => {
                (Some(number.parse().map_err(|_| format!("{number:?} is no number"))?), word)
            }
            None => (None, item),
        };
        let code = Code::from_word(word).ok_or(format!("{word:?} is no code"))?;
        Ok((statement, code))
    };
    text.split(", ").filter(|item| !item.is_empty()).map(one).collect()
}

type Checks = (String, Option<(String, Vec<String>)>);

/// The SQL, without the lines at its end that say what is there afterwards.
fn checks(text: &str) -> Result<Checks, String> {
    let Some((sql, checks)) = text.split_once("-- query: ") else {
        return Ok((text.trim_end_matches('\n').to_owned(), None));
    };
    let mut lines = checks.lines();
    let query = lines.next().unwrap_or_default().to_owned();
    let row = |line: &str| {
        let row = line.strip_prefix("-- row: ").ok_or(format!("{line:?} stands after a query"))?;
        Ok::<_, String>(row.to_owned())
    };
    Ok((sql.trim_end_matches('\n').to_owned(), Some((query, lines.map(row).collect::<Result<_, _>>()?))))
}
