//! The terminal form.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Diagnostic, Severity};
use crate::source::{MARK, Place, Source, Span, floor};

/// How the terminal form looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Plain text, the same everywhere.
    Plain,
    /// With colours.
    Colour,
}

/// Excerpts with the offending words underlined, one empty line between diagnostics.
pub fn text(diagnostics: &[Diagnostic], style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Colour => Renderer::styled(),
    };
    let shown: Vec<String> = diagnostics.iter().map(|diagnostic| one(diagnostic, &renderer)).collect();
    let mut out = shown.join("\n\n");
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

fn one(diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.word());
    let mut group = Group::with_title(title);
    let sources = by_source(diagnostic);
    for (source, places) in &sources {
        // A file without a text, or of which none is at hand, has no words to show.
        group = if source.text().is_empty() {
            let origin = Origin::path(source.name());
            let line = source.position(0).line;
            group.element(if line > 1 { origin.line(line) } else { origin })
        } else {
            group.element(snippet(source, places))
        };
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(annotate_snippets::normalize_untrusted_str(help)));
    }
    let mut shown = renderer.render(&[group]);
    // Where no line is shown, the renderer leaves no room for its number.
    shown = shown.replacen("\n-->", "\n -->", 1);
    for (source, places) in &sources {
        if let Some((counted, real)) = moved(source, places) {
            shown = shown.replacen(&counted, &real, 1);
        }
    }
    shown
}

/// Where the renderer takes the first place of a line for that was cut, and where it is.
fn moved(source: &Source, places: &[Marked<'_>]) -> Option<(String, String)> {
    let (place, ..) = places.first()?;
    let cut = cut(source.text(), places);
    let before = source.text().get(cut.start..place.span.start)?;
    let is_whole =
        cut.start == head(source.text()) || source.text().as_bytes().get(cut.start - 1) == Some(&b'\n');
    if is_whole || before.contains('\n') {
        return None;
    }
    let at = place.position();
    let told = |column| format!("{}:{}:{column}", source.name(), at.line);
    Some((told(before.chars().count() + 1), told(at.column)))
}

/// A place, what to say there, and whether it is the diagnostic's own.
type Marked<'d> = (&'d Place, &'d str, bool);

/// The places of each source, the diagnostic's own first.
fn by_source(diagnostic: &Diagnostic) -> Vec<(&Source, Vec<Marked<'_>>)> {
    let own = diagnostic.place.iter().map(|place| (place, diagnostic.label.as_str(), true));
    let related = diagnostic.related.iter().map(|(place, label)| (place, label.as_str(), false));
    let mut sources: Vec<(&Source, Vec<Marked<'_>>)> = Vec::new();
    for marked in own.chain(related) {
        match sources.iter_mut().find(|(source, _)| *source == &marked.0.source) {
            Some((_, places)) => places.push(marked),
            None => sources.push((&marked.0.source, vec![marked])),
        }
    }
    sources
}

/// Bytes of a line that are shown on either side of a place; the renderer walks all that it is given.
const AROUND: usize = 1 << 10;

/// The lines from the first to the last place, so that a long text costs no more than these; of a long line,
/// what stands around the places.
fn cut(text: &str, places: &[Marked<'_>]) -> Span {
    let spans = || places.iter().map(|(place, ..)| on_characters(text, place));
    let first = spans().map(|span| span.start).min().unwrap_or(0);
    let last = spans().map(|span| span.end).max().unwrap_or(0);
    let (from, to) = (floor(text, first.saturating_sub(AROUND)), floor(text, last.saturating_add(AROUND)));
    let start = text.get(from..first).and_then(|head| head.rfind('\n')).map_or(from, |end| from + end + 1);
    let start = start.max(head(text)).min(first);
    let end = text.get(last..to).and_then(|tail| tail.find('\n')).map_or(to, |end| last + end);
    Span::new(start, end)
}

/// Where `text` begins behind a byte order mark, which is not shown.
fn head(text: &str) -> usize {
    if text.starts_with(MARK) { MARK.len_utf8() } else { 0 }
}

fn on_characters(text: &str, place: &Place) -> Span {
    let end = floor(text, place.span.end);
    Span::new(floor(text, place.span.start.min(end)), end)
}

fn snippet<'d>(source: &'d Source, places: &[Marked<'d>]) -> Snippet<'d, Annotation<'d>> {
    let cut = cut(source.text(), places);
    let annotations = places.iter().map(|&(place, label, own)| {
        let span = on_characters(source.text(), place);
        let kind = if own { AnnotationKind::Primary } else { AnnotationKind::Context };
        let label = Some(label).filter(|label| !label.is_empty());
        kind.span(span.start - cut.start..span.end - cut.start).label(label)
    });
    Snippet::source(source.slice(cut))
        .path(source.name())
        .line_start(source.position(cut.start).line)
        .annotations(annotations)
}
