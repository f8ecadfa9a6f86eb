//! The terminal form.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Diagnostic, Severity};
use crate::source::{Place, Source, Span, floor};

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
    for (source, places) in by_source(diagnostic) {
        group = group.element(snippet(source, &places));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(annotate_snippets::normalize_untrusted_str(help)));
    }
    renderer.render(&[group])
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

/// The lines from the first to the last place, so that a long text costs no more than these.
fn snippet<'d>(source: &'d Source, places: &[Marked<'d>]) -> Snippet<'d, Annotation<'d>> {
    let text = source.text();
    let span = |place: &Place| {
        let end = floor(text, place.span.end);
        Span::new(floor(text, place.span.start.min(end)), end)
    };
    let first = places.iter().map(|(place, ..)| span(place).start).min().unwrap_or(0);
    let last = places.iter().map(|(place, ..)| span(place).end).max().unwrap_or(0);
    let start = text.get(..first).and_then(|head| head.rfind('\n')).map_or(0, |end| end + 1);
    let end = text.get(last..).and_then(|tail| tail.find('\n')).map_or(text.len(), |end| last + end);
    let excerpt = text.get(start..end).unwrap_or_default();
    let annotations = places.iter().map(|&(place, label, own)| {
        let span = span(place);
        let kind = if own { AnnotationKind::Primary } else { AnnotationKind::Context };
        let label = Some(label).filter(|label| !label.is_empty());
        kind.span(span.start - start..span.end - start).label(label)
    });
    Snippet::source(excerpt)
        .path(source.name())
        .line_start(source.position(start).line)
        .annotations(annotations)
}
