//! Corpora: SQL in file order, cut into rounds that each begin on an empty database.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;

/// What is compared on one database, from an empty one on.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// SQL, in order.
    pub(super) blocks: Vec<Block>,
    /// Bytes of SQL in it.
    pub(super) bytes: u64,
}

/// SQL of a corpus.
#[derive(Debug)]
pub(super) struct Block {
    /// The file as it was given.
    pub(super) file: String,
    /// The line where the SQL stands, or where it begins.
    pub(super) line: usize,
    pub(super) sql: String,
    /// Whether a line of the SQL is a line of the file.
    pub(super) is_plain: bool,
}

/// A line of a corpus.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Reset,
    Sql { sql: String },
}

/// The files of a corpus.
pub(super) struct Corpus<'f> {
    files: &'f [PathBuf],
}

impl<'f> Corpus<'f> {
    pub(super) const fn new(files: &'f [PathBuf]) -> Self {
        Self { files }
    }

    /// Bytes of the files, for the progress; of a packed one what it about holds.
    pub(super) fn bytes(&self) -> u64 {
        let size = |path: &PathBuf| {
            let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
            if is(path, ".gz") { size * 8 } else { size }
        };
        self.files.iter().map(size).sum()
    }

    /// Its rounds in order; few of them are in memory at a time.
    pub(super) fn rounds(&self) -> impl Iterator<Item = Result<Round, String>> + Send + use<'f> {
        self.files.iter().flat_map(|path| Rounds::of(path))
    }
}

fn is(path: &Path, end: &str) -> bool {
    path.to_string_lossy().to_ascii_lowercase().ends_with(end)
}

/// The rounds of one file.
struct Rounds {
    file: String,
    line: usize,
    source: Box<dyn Iterator<Item = Result<String, String>> + Send>,
    is_plain: bool,
    done: bool,
}

impl Rounds {
    fn of(path: &Path) -> Self {
        let file = path.display().to_string();
        let is_plain = !is(path, ".jsonl") && !is(path, ".jsonl.gz");
        let mut rounds = Self { file, line: 0, source: Box::new(std::iter::empty()), is_plain, done: false };
        let opened = File::open(path).map(|file| -> Box<dyn Read + Send> {
            if is(path, ".gz") { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) }
        });
        rounds.source = match opened {
            Err(error) => {
                // No line of it is to blame.
                rounds.is_plain = true;
                Box::new(std::iter::once(Err(error.to_string())))
            }
            Ok(mut file) if is_plain => {
                let mut text = String::new();
                let read = file.read_to_string(&mut text).map(|_| text).map_err(|error| error.to_string());
                Box::new(std::iter::once(read))
            }
            Ok(file) => {
                Box::new(BufReader::new(file).lines().map(|line| line.map_err(|error| error.to_string())))
            }
        };
        rounds
    }

    /// What stops the reading, by its place.
    fn fault(&mut self, reason: &str) -> Option<Result<Round, String>> {
        self.done = true;
        let place = if self.is_plain { String::new() } else { format!(":{}", self.line) };
        Some(Err(format!("{}{place}: {reason}", self.file)))
    }
}

impl Iterator for Rounds {
    type Item = Result<Round, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let mut round = Round::default();
        while let Some(line) = self.source.next() {
            self.line += 1;
            let text = match line {
                Ok(text) => text,
                Err(error) => return self.fault(&error),
            };
            let sql = if self.is_plain {
                text
            } else {
                let text = text.trim_start_matches('\u{feff}');
                if text.trim().is_empty() {
                    continue;
                }
                match serde_json::from_str(text) {
                    Ok(Line::Sql { sql }) => sql,
                    Ok(Line::Reset) if round.blocks.is_empty() => continue,
                    Ok(Line::Reset) => return Some(Ok(round)),
                    Err(error) => return self.fault(&format!("no line of a corpus: {error}")),
                }
            };
            round.bytes += sql.len() as u64;
            let (file, line, is_plain) = (self.file.clone(), self.line, self.is_plain);
            round.blocks.push(Block { file, line, sql, is_plain });
        }
        self.done = true;
        (!round.blocks.is_empty()).then_some(Ok(round))
    }
}
