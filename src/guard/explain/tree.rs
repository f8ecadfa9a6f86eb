//! An explanation as a tree of text.

use std::fmt::Write as _;

use super::{Decided, Explained, Explanation, Judgement};
use crate::guard::Way;
use crate::refusal::excerpt;
use crate::request::{Origin, Witness};
use crate::ruleset::Ground;
use crate::source::plain;

/// Characters of a line, where what it says can be cut.
const WIDTH: usize = 100;

/// Characters of a rule's text at least; less of it says nothing.
const SHORTEST: usize = 12;

impl Explained {
    /// Who asks what, for people. The messages of refusals are [`Explained::diagnostics`].
    pub fn text(&self) -> String {
        let mut out = String::new();
        if self.by_text_alone {
            out.push_str("without a database: what the text alone shows\n");
        }
        let count = self.statements.len();
        for (index, one) in self.statements.iter().enumerate() {
            if index > 0 || self.by_text_alone {
                out.push('\n');
            }
            let _ = writeln!(
                out,
                "statement {} of {count}: {}, {}; {}",
                index + 1,
                one.kind,
                one.outcome.word(),
                way(one, self.by_text_alone)
            );
            if count > 1 {
                let _ = writeln!(out, "  {}", cut(&plain(&excerpt(one.place.text())), WIDTH - 2));
            }
            one.tree(&mut out);
        }
        out
    }
}

fn way(one: &Explanation, by_text_alone: bool) -> String {
    match &one.way {
        _ if one.error.is_some() => "SQLite does not prepare it".to_owned(),
        Way::TextAlone if by_text_alone => "by its text".to_owned(),
        Way::TextAlone => "by its text, SQLite is not shown it".to_owned(),
        Way::Short => "short way".to_owned(),
        Way::Full(why) => format!("full way: {why}"),
    }
}

/// A line below an origin, in columns.
type Row = [String; 3];

impl Explanation {
    fn tree(&self, out: &mut String) {
        let rows: Vec<Row> = self.requests.iter().map(Decided::row).collect();
        let width = |column: usize| rows.iter().map(|row| count(&row[column])).max().unwrap_or(0);
        let widths = [width(0), width(1), width(2)];
        let room = WIDTH.saturating_sub(widths.iter().sum::<usize>() + 12);
        let fits = |request: &Decided| count(&request.ground(Form::Listed)) <= room;
        let form = if self.requests.iter().all(fits) { Form::Listed } else { Form::Within(room) };
        let mut shown: Vec<(String, Vec<String>)> = Vec::new();
        for (request, row) in self.requests.iter().zip(&rows) {
            let origin = request.seen.request.origin.to_string();
            let line = line(row, widths, &request.ground(form));
            match shown.last_mut().filter(|(name, _)| *name == origin) {
                Some((_, lines)) => lines.push(line),
                None => shown.push((origin, vec![line])),
            }
        }
        for module in &self.modules {
            let told = "its own tables pass while the statement runs, all else it asks is judged then";
            shown.push((Origin::Module(module.clone()).to_string(), vec![told.to_owned()]));
        }
        let last = shown.len().saturating_sub(1);
        for (i, (origin, lines)) in shown.iter().enumerate() {
            let (branch, stem) = if i == last { ("└─", "   ") } else { ("├─", "│  ") };
            let _ = writeln!(out, "{branch} {}", plain(origin));
            for (j, line) in lines.iter().enumerate() {
                let twig = if j + 1 == lines.len() { "└─" } else { "├─" };
                let _ = writeln!(out, "{stem}{twig} {line}");
            }
        }
        if shown.is_empty() {
            let nothing = match (self.outcome, &self.way) {
                (Judgement::Failed, _) => "nothing is known of what it asks",
                (_, Way::TextAlone) => "the text alone shows nothing that it asks",
                _ => "it asks nothing",
            };
            let _ = writeln!(out, "└─ {nothing}");
        }
        if let Some((reason, place)) = &self.not_understood {
            let _ = write!(out, "not understood by the text witness: {reason}");
            if let Some(position) = place.as_ref().map(crate::source::Place::position) {
                let _ = write!(out, " at {}:{}", position.line, position.column);
            }
            out.push('\n');
        }
    }
}

impl Decided {
    fn row(&self) -> Row {
        let (request, decision) = (&self.seen.request, &self.seen.decision);
        let verdict = if decision.allowed { "allow" } else { "deny" };
        let witnesses: Vec<&str> = self.seen.witnesses.iter().copied().map(Witness::word).collect();
        let asked = format!("{} {}", request.action.word(), request.resource);
        [plain(&asked).into_owned(), verdict.to_owned(), witnesses.join(", ")]
    }

    /// The ground, behind the code of what is denied; `form` says how much of a rule is told.
    fn ground(&self, form: Form) -> String {
        let code = self.seen.decision.code.map(|code| format!("[{}] ", code.word())).unwrap_or_default();
        let Ground::Rule(id) = self.seen.decision.ground else {
            return code + self.seen.decision.ground.word();
        };
        let list = id.section.word();
        let Some(rule) = &self.rule else { return format!("{code}{list}, rule {}", id.index + 1) };
        let at = format!("({}:{})", rule.source.name(), rule.position().line);
        let text = excerpt(rule.text());
        let text = plain(&text);
        match form {
            Form::Listed => format!("{code}{list} `{text}` {at}"),
            Form::Within(room) => {
                // Two quotes and a space stand around the text.
                let room = room.saturating_sub(count(&code) + count(&at) + 3);
                if count(&text) <= room || room >= SHORTEST {
                    format!("{code}`{}` {at}", cut(&text, room))
                } else if count(list) <= room + 2 {
                    format!("{code}{list} {at}")
                } else {
                    code + &at
                }
            }
        }
    }
}

/// How much of a rule is told.
#[derive(Clone, Copy)]
enum Form {
    /// The list that it stands in, and all of it.
    Listed,
    /// Its text and place in so many characters, or only where it stands.
    Within(usize),
}

fn line(row: &Row, widths: [usize; 3], ground: &str) -> String {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        let room = " ".repeat(width.saturating_sub(count(cell)) + 2);
        line.push_str(cell);
        line.push_str(&room);
    }
    line.push_str(ground);
    line
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// `text`, cut at `most` characters.
fn cut(text: &str, most: usize) -> String {
    if count(text) <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{head}...")
}
