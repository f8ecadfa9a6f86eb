//! Events to a tree, and every use of YAML that is not allowed here.

use std::collections::BTreeMap;

use granit_parser::{Event, Parser, ScanError, StructureStyle};

use super::{DEEPEST, Entry, Fault, FaultKind, Node, Scalar, Value};
use crate::source::{Span, floor};

/// The tree of the first document, and what is wrong with the file.
pub(super) fn build(text: &str) -> (Option<Node>, Vec<Fault>) {
    let options = granit_parser::options! {
        disallow_directives: true,
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        emit_comments: false,
        // As libyaml has it, so that both readers agree.
        block_scalar_eof_without_line_feed: true,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
    };
    let mut builder = Builder { text, open: Vec::new(), root: None, documents: 0, faults: Vec::new() };
    for event in Parser::new_from_str_with_options(text, options) {
        match event {
            Ok((event, span)) => {
                if !builder.event(event, &span) {
                    break;
                }
            }
            Err(error) => {
                builder.faults.push(builder.scan_fault(&error));
                builder.close_all();
                break;
            }
        }
    }
    builder.finish()
}

struct Builder<'t> {
    text: &'t str,
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
    faults: Vec<Fault>,
}

/// A collection that has not ended yet.
struct Open {
    start: usize,
    flow: bool,
    parts: Parts,
}

enum Parts {
    Items(Vec<Node>),
    Entries {
        entries: Vec<Entry>,
        seen: BTreeMap<String, (String, Span)>,
        key: Option<(Option<Scalar>, Span)>,
    },
}

impl Builder<'_> {
    /// Takes one event; `false` ends the reading.
    fn event(&mut self, event: Event<'_>, at: &granit_parser::Span) -> bool {
        let span = at.byte_range().map_or(Span::new(0, 0), |range| Span::new(range.start, range.end));
        if let Some(tag) = at.tag_span().and_then(|tag| tag.byte_range()) {
            let fault = Fault::syntax("tags are not used here", Span::new(tag.start, tag.end));
            self.faults.push(fault.label("remove the tag").help(
                "A value is what it looks like; text that looks like something else stands in quotes.",
            ));
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let fault = Fault::syntax("a second document begins here", span);
                    self.faults.push(
                        fault
                            .label("one file holds one document")
                            .help("Remove the `---`, or move what follows into a file of its own."),
                    );
                    return false;
                }
            }
            Event::Anchor(..) => {
                let fault = Fault::syntax("anchors are not used here", span);
                self.faults
                    .push(fault.label("remove the anchor").help("Write the value out wherever it is due."));
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let written = self.text.get(span.range()).unwrap_or_default();
                let fault = Fault::syntax("to YAML, a leading `*` refers to an anchor", span);
                self.faults.push(
                    fault
                        .label("quotes are due")
                        .help(format!("Quote it if a pattern is meant: \"{written}\".")),
                );
                self.add(Node { span, value: Value::Unreadable });
            }
            Event::Scalar(text, style, _, _) => {
                let quoted = style != granit_parser::ScalarStyle::Plain;
                // The parser writes `~` where there is no value.
                let text = if !quoted && span.start == span.end { "".into() } else { text };
                self.add(Node { span, value: Value::Scalar(Scalar { text: text.into_owned(), quoted }) });
            }
            Event::SequenceStart(style, _, _) => self.begin(span, style, Parts::Items(Vec::new())),
            Event::MappingStart(style, _, _) => {
                let parts = Parts::Entries { entries: Vec::new(), seen: BTreeMap::new(), key: None };
                self.begin(span, style, parts);
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            _ => {}
        }
        true
    }

    fn begin(&mut self, span: Span, style: StructureStyle, parts: Parts) {
        self.open.push(Open { start: span.start, flow: style == StructureStyle::Flow, parts });
    }

    fn end(&mut self, span: Span) {
        let Some(open) = self.open.pop() else { return };
        // The end of a block is where the next thing begins, so its last part tells better.
        let within = |start: Option<usize>, end: Option<usize>| {
            if open.flow {
                Span::new(open.start, span.end)
            } else {
                let start = start.unwrap_or(open.start);
                Span::new(start, end.unwrap_or(start).max(start))
            }
        };
        let node = match open.parts {
            Parts::Items(items) => Node {
                span: within(items.first().map(|_| open.start), items.last().map(|item| item.span.end)),
                value: Value::Sequence { flow: open.flow, items },
            },
            Parts::Entries { entries, .. } => Node {
                span: within(
                    entries.first().map(|e| e.span.start),
                    entries.last().map(|e| e.value.span.end.max(e.span.end)),
                ),
                value: Value::Mapping { flow: open.flow, entries },
            },
        };
        self.add(node);
    }

    /// Puts a finished node where it belongs.
    fn add(&mut self, node: Node) {
        let Some(open) = self.open.last_mut() else {
            self.root.get_or_insert(node);
            return;
        };
        match &mut open.parts {
            Parts::Items(items) => items.push(node),
            Parts::Entries { entries, seen, key } => match key.take() {
                None => {
                    let scalar = match node.value {
                        Value::Scalar(scalar) => Some(scalar),
                        Value::Sequence { .. } | Value::Mapping { .. } => {
                            let fault = Fault::syntax("a list or mapping cannot be a key", node.span);
                            self.faults.push(fault.label("a word is due"));
                            None
                        }
                        Value::Unreadable => None,
                    };
                    *key = Some((scalar, node.span));
                }
                Some((None, _)) => {}
                Some((Some(key), span)) if key.text == "<<" && !key.quoted => {
                    let fault = Fault::syntax("merge keys are not used here", span);
                    self.faults.push(
                        fault
                            .label("remove the `<<`")
                            .help("Write the keys out; a policy takes over another one with `extends`."),
                    );
                }
                Some((Some(key), span)) => {
                    if let Some((first, place)) = seen.get(&key.text.to_ascii_lowercase()) {
                        self.faults.push(duplicate(&key.text, span, first, *place));
                        return;
                    }
                    seen.insert(key.text.to_ascii_lowercase(), (key.text.clone(), span));
                    entries.push(Entry { key, span, value: node });
                }
            },
        }
    }

    /// What the parser could not read, in an author's terms where the usual slips are concerned.
    fn scan_fault(&self, error: &ScanError) -> Fault {
        let offset = floor(self.text, error.marker().byte_offset().unwrap_or(0));
        let fault = syntax_at(self.text, offset, &error.info());
        let open = self.open.last().filter(|open| open.flow).map(|open| open.start);
        // A list that goes on over the end of its line most likely lacks its bracket.
        match open {
            Some(at) if self.text.get(at..offset).is_some_and(|between| between.contains('\n')) => fault
                .related(Span::new(at, at + 1), "opened here")
                .help("Close the bracket that stands open."),
            _ => fault,
        }
    }

    /// Ends what is still open, so that what was read before an error can be looked at.
    fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.end(Span::new(self.text.len(), self.text.len()));
        }
    }

    fn finish(mut self) -> (Option<Node>, Vec<Fault>) {
        let nothing = match &self.root {
            None => true,
            Some(Node { value: Value::Scalar(scalar), .. }) => scalar.is_missing(),
            Some(_) => false,
        };
        if nothing && self.faults.is_empty() {
            let what = if self.text.trim_start_matches('\u{feff}').trim().is_empty() {
                "the file is empty"
            } else {
                "the file holds nothing but comments"
            };
            self.faults.push(Fault::new(FaultKind::Empty, what, Span::new(0, 0)));
        }
        (self.root.filter(|_| !nothing), self.faults)
    }
}

fn duplicate(key: &str, span: Span, first: &str, place: Span) -> Fault {
    let fault = if key == first {
        Fault::new(FaultKind::DuplicateKey, format!("the key `{key}` stands twice"), span).label("again here")
    } else {
        let message = format!("the keys `{first}` and `{key}` differ only in case");
        Fault::new(FaultKind::DuplicateKey, message, span).label("the same but for its case")
    };
    fault.related(place, "first here").help("Keep one of them, with the entries of both.")
}

/// A syntax fault at `offset`, which is explained by the line's tab or leading `*` if it has one.
pub(super) fn syntax_at(text: &str, offset: usize, info: &str) -> Fault {
    let line_start = text.get(..offset).and_then(|head| head.rfind('\n')).map_or(0, |end| end + 1);
    let line = text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
    if let Some(tab) = line.get(..indent).and_then(|indent| indent.find('\t')) {
        let at = line_start + tab;
        return Fault::syntax("a tab indents this line", Span::new(at, at + 1))
            .label("YAML wants spaces")
            .help("Replace the tab by two spaces for each level.");
    }
    let rest = text.get(offset..).unwrap_or_default();
    let end = offset + rest.chars().next().filter(|&c| c != '\n' && c != '\r').map_or(0, char::len_utf8);
    let span = Span::new(offset, end);
    if line.get(offset - line_start..).is_some_and(|rest| rest.starts_with(['*', '&'])) {
        return Fault::syntax("to YAML, a leading `*` or `&` is about anchors", span)
            .label("quotes are due")
            .help("Quote it if a pattern is meant: \"*\".");
    }
    let fault = Fault::syntax(format!("this is not valid YAML: {info}"), span);
    if rest.starts_with(": ") {
        return fault.help("Text with `: ` in it stands in quotes.");
    }
    fault
}
