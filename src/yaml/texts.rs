//! The texts under one key, at any depth, in a file of any YAML.
//!
//! Files that are not ours may hold anchors, tags and several documents, so this reads more than [`super::read`]
//! does, and builds no tree: memory follows the texts, not the file.

use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Parser, ScalarStyle};

use super::tree::syntax_at;
use super::{DEEPEST, Fault, Look, Scalar, Siblings, Without};
use crate::source::{Span, floor};

/// How a scalar is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// Not at all: a plain scalar or a block of text.
    None,
    /// In single quotes.
    Single,
    /// In double quotes.
    Double,
}

/// A text as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextScalar {
    /// The text, without quotes and escapes.
    pub(crate) text: String,
    /// Its bytes in the file, quotes included.
    pub(crate) span: Span,
    /// Its quotes.
    pub(crate) quotes: Quotes,
}

/// What stands under a key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    /// The texts; one that an alias repeats is there once, at its anchor.
    pub(crate) scalars: Vec<TextScalar>,
    /// Values that are no text: what they are, and where.
    pub(crate) odd: Vec<(&'static str, Span)>,
    /// What keeps the rest of the file from being read.
    pub(crate) faults: Vec<Fault>,
    /// Whether the key is there.
    pub(crate) has_field: bool,
    /// Documents without the key beside one with it, or else such mappings of an outermost list.
    pub(crate) without: Without,
}

/// The texts under `field`. A list of texts holds several.
pub(crate) fn texts(text: &str, field: &str) -> Texts {
    let options = granit_parser::options! {
        emit_anchor_events: false,
        emit_unresolved_aliases: true,
        emit_comments: false,
        // As libyaml has it, and with it most readers of scenarios.
        block_scalar_eof_without_line_feed: true,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
    };
    let mut walk = Walk {
        field,
        open: Vec::new(),
        anchors: HashMap::new(),
        seen: HashSet::new(),
        keys: 0,
        lists: 0,
        documents: Siblings::default(),
        count: 0,
        document: None,
        list: Siblings::default(),
        texts: Texts::default(),
    };
    for event in Parser::new_from_str_with_options(text, options) {
        match event {
            Ok((event, at)) => {
                let span = at.byte_range().map_or(Span::new(0, 0), |range| Span::new(range.start, range.end));
                walk.event(event, span);
            }
            Err(error) => {
                let offset = floor(text, error.marker().byte_offset().unwrap_or(0));
                walk.texts.faults.push(syntax_at(text, offset, &error.info()));
                break;
            }
        }
    }
    walk.finish()
}

/// What a value is to the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    No,
    /// It stands under the key.
    Value,
    /// It is an entry of a list that does.
    Item,
}

/// A collection that has not ended yet.
struct Open {
    /// What its next value is; of a mapping, what the key that was just read makes of it.
    next: Wanted,
    /// Whether it is a mapping whose next node is a key.
    key_is_due: Option<bool>,
    /// The anchor of a list, for those who repeat it.
    anchor: usize,
    /// Of a mapping in an outermost list, where it begins, and how often the key was there before it.
    entry: Option<(usize, usize)>,
}

struct Walk<'f> {
    field: &'f str,
    open: Vec<Open>,
    /// The scalars behind each anchor.
    anchors: HashMap<usize, Vec<(Scalar, TextScalar)>>,
    /// Where each text that was found begins.
    seen: HashSet<usize>,
    /// How often the key was there.
    keys: usize,
    /// Lists that are open.
    lists: usize,
    /// The documents that hold anything, and how many they are.
    documents: Siblings,
    count: usize,
    /// Where the open document's value begins, and how often the key was there before it.
    document: Option<(usize, usize)>,
    /// The mappings of the outermost list that is open.
    list: Siblings,
    texts: Texts,
}

impl Walk<'_> {
    fn finish(mut self) -> Texts {
        self.texts.has_field = self.keys > 0;
        if self.count > 1 {
            self.texts.without = self.documents.without();
        }
        self.texts
    }

    fn event(&mut self, event: Event<'_>, span: Span) {
        let begins = matches!(event, Event::SequenceStart(..) | Event::MappingStart(..));
        if begins && self.open.is_empty() {
            self.document = Some((span.start, self.keys));
        }
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let quotes = match style {
                    ScalarStyle::SingleQuoted => Quotes::Single,
                    ScalarStyle::DoubleQuoted => Quotes::Double,
                    _ => Quotes::None,
                };
                let plain = style == ScalarStyle::Plain;
                // The parser writes `~` where there is no value.
                let text = if plain && span.start == span.end { String::new() } else { text.into_owned() };
                let scalar = Scalar { text, quoted: !plain };
                self.scalar(scalar, span, quotes, anchor);
            }
            Event::SequenceStart(_, anchor, _) => {
                let wanted = self.take();
                let next = match wanted {
                    Wanted::Value => Wanted::Item,
                    Wanted::Item => {
                        self.texts.odd.push(("a list in a list", span));
                        Wanted::No
                    }
                    Wanted::No => Wanted::No,
                };
                self.lists += 1;
                self.open.push(Open { next, key_is_due: None, anchor, entry: None });
            }
            Event::MappingStart(..) => {
                if self.take() != Wanted::No {
                    self.texts.odd.push(("a mapping", span));
                }
                let in_list = self.open.last().is_some_and(|open| open.key_is_due.is_none());
                let entry = (in_list && self.lists == 1).then_some((span.start, self.keys));
                self.open.push(Open { next: Wanted::No, key_is_due: Some(true), anchor: 0, entry });
            }
            Event::SequenceEnd => {
                self.open.pop();
                self.lists -= 1;
                if self.lists == 0 {
                    self.texts.without.add(std::mem::take(&mut self.list).without());
                }
            }
            Event::MappingEnd => {
                if let Some((start, keys)) = self.open.pop().and_then(|open| open.entry) {
                    self.list.add(start, self.keys > keys);
                }
            }
            Event::DocumentEnd => {
                if let Some((start, keys)) = self.document.take() {
                    self.count += 1;
                    self.documents.add(start, self.keys > keys);
                }
            }
            Event::Alias(anchor) => self.alias(self.anchors.get(&anchor).cloned(), span),
            Event::UnresolvedAlias(_) => self.alias(None, span),
            _ => {}
        }
    }

    fn scalar(&mut self, scalar: Scalar, span: Span, quotes: Quotes, anchor: usize) {
        if let Some(Open { key_is_due: Some(due @ true), next, .. }) = self.open.last_mut() {
            *due = false;
            *next = if scalar.text == self.field { Wanted::Value } else { Wanted::No };
            self.keys += usize::from(*next == Wanted::Value);
            return;
        }
        let list = self.open.last().map_or(0, |open| open.anchor);
        let wanted = self.take();
        let text = TextScalar { text: scalar.text.clone(), span, quotes };
        for anchor in [anchor, list].into_iter().filter(|anchor| *anchor != 0) {
            self.anchors.entry(anchor).or_default().push((scalar.clone(), text.clone()));
        }
        if wanted != Wanted::No {
            self.found(&scalar, text);
        }
    }

    /// What stands behind an anchor stands here too.
    fn alias(&mut self, scalars: Option<Vec<(Scalar, TextScalar)>>, span: Span) {
        if self.take() == Wanted::No {
            return;
        }
        match scalars {
            Some(scalars) => scalars.into_iter().for_each(|(scalar, text)| self.found(&scalar, text)),
            None => self.texts.odd.push(("an alias of no text", span)),
        }
    }

    fn found(&mut self, scalar: &Scalar, text: TextScalar) {
        match scalar.look() {
            Look::Text => {
                if self.seen.insert(text.span.start) {
                    self.texts.scalars.push(text);
                }
            }
            Look::Nothing => {}
            look @ (Look::Truth | Look::Number) => self.texts.odd.push((look.words(), text.span)),
        }
    }

    /// What the value that begins now is; a mapping then waits for a key.
    fn take(&mut self) -> Wanted {
        let Some(open) = self.open.last_mut() else { return Wanted::No };
        match &mut open.key_is_due {
            // A list or mapping as a key.
            Some(due @ true) => {
                *due = false;
                open.next = Wanted::No;
                Wanted::No
            }
            Some(due) => {
                *due = true;
                open.next
            }
            None => open.next,
        }
    }
}
