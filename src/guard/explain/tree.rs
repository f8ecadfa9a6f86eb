//! An explanation as a tree of text.

use std::fmt::Write as _;

use super::{Decided, Explained, Explanation, Judgement};
use crate::guard::Way;
use crate::refusal::excerpt;
use crate::request::{Origin, Witness};
use crate::ruleset::{Ground, Section};

/// Characters of a line, where what it says can be cut.
const WIDTH: usize = 100;

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
                let _ = writeln!(out, "  {}", cut(&excerpt(one.place.text()), WIDTH - 2));
            }
            one.tree(&mut out);
        }
        out
    }
}

fn way(one: &Explanation, by_text_alone: bool) -> String {
    match &one.way {
        Way::TextAlone if by_text_alone => "by its text".to_owned(),
        Way::TextAlone => "by its text, SQLite does not see it".to_owned(),
        Way::Short => "short way".to_owned(),
        Way::Full(why) => format!("full way: {why}"),
    }
}

/// A line below an origin, in columns.
type Row = [String; 4];

impl Explanation {
    fn tree(&self, out: &mut String) {
        let mut groups: Vec<(String, Vec<Row>)> = Vec::new();
        for request in &self.requests {
            let origin = request.seen.request.origin.to_string();
            match groups.last_mut().filter(|(name, _)| *name == origin) {
                Some((_, rows)) => rows.push(request.row()),
                None => groups.push((origin, vec![request.row()])),
            }
        }
        let all = || groups.iter().flat_map(|(_, rows)| rows);
        let width = |column: usize| all().map(|row| count(&row[column])).max().unwrap_or(0);
        let widths = [width(0), width(1), width(2)];
        let mut shown: Vec<(String, Vec<String>)> = Vec::new();
        for (origin, rows) in &groups {
            shown.push((origin.clone(), rows.iter().map(|row| line(row, widths)).collect()));
        }
        for module in &self.modules {
            let told = "its own tables pass while the statement runs, all else it asks is judged then";
            shown.push((Origin::Module(module.clone()).to_string(), vec![told.to_owned()]));
        }
        let last = shown.len().saturating_sub(1);
        for (i, (origin, lines)) in shown.iter().enumerate() {
            let (branch, stem) = if i == last { ("└─", "   ") } else { ("├─", "│  ") };
            let _ = writeln!(out, "{branch} {origin}");
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
        let verdict = match decision.code {
            _ if decision.allowed => "allow".to_owned(),
            Some(code) => format!("deny [{}]", code.word()),
            None => "deny".to_owned(),
        };
        let witnesses: Vec<&str> = self.seen.witnesses.iter().copied().map(Witness::word).collect();
        let asked = format!("{} {}", request.action.word(), request.resource);
        [asked, verdict, witnesses.join(", "), self.ground()]
    }

    fn ground(&self) -> String {
        let list = self.section.map_or("", Section::word);
        match (&self.seen.decision.ground, &self.rule) {
            (Ground::Rule(_), Some(rule)) => {
                let at = format!("({}:{})", rule.source.name(), rule.position().line);
                format!("{list} `{}` {at}", excerpt(rule.text()))
            }
            (Ground::Rule(id), None) => format!("{list}, rule {}", id.index + 1),
            (Ground::Default, _) => "default: no rule speaks of it".to_owned(),
            (Ground::Never, _) => "never: no policy opens it".to_owned(),
            (Ground::World, _) => "world: its own text may".to_owned(),
        }
    }
}

fn line(row: &Row, widths: [usize; 3]) -> String {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        let room = " ".repeat(width.saturating_sub(count(cell)) + 2);
        line.push_str(cell);
        line.push_str(&room);
    }
    line.push_str(&row[3]);
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
