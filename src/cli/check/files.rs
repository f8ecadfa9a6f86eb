//! The files that are checked, and the pieces of work that they make.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::scenario::Kind;

/// A file that is checked.
#[derive(Debug)]
pub(super) struct Input {
    /// Its name, as it was given or found.
    pub(super) name: String,
    /// Where it is; standard input where there is none.
    pub(super) path: Option<PathBuf>,
    /// What it holds, if its name says so.
    pub(super) kind: Option<Kind>,
    /// Whether it was found in a directory, where not every YAML file is a scenario.
    pub(super) found: bool,
    /// Why it cannot be read, where that is known already: a directory that cannot.
    unread: Option<io::ErrorKind>,
}

impl Input {
    fn file(path: PathBuf, found: bool) -> Self {
        Self {
            name: path.display().to_string(),
            kind: Kind::of(&path),
            path: Some(path),
            found,
            unread: None,
        }
    }

    /// Whether it has one scenario a line.
    pub(super) fn is_list(&self) -> bool {
        self.kind == Some(Kind::JsonLines)
    }

    /// Its bytes, for the progress.
    pub(super) fn size(&self) -> u64 {
        let path = self.path.as_deref();
        path.and_then(|path| fs::metadata(path).ok()).map_or(0, |metadata| metadata.len())
    }
}

/// The files that `names` mean, each once: a directory stands for what it holds, sorted, but for hidden files.
pub(super) fn inputs(names: &[String]) -> Vec<Input> {
    let mut all = Vec::new();
    for name in names {
        let path = PathBuf::from(name);
        if name == "-" {
            let name = "<stdin>".to_owned();
            all.push(Input { name, path: None, kind: Some(Kind::Sql), found: false, unread: None });
        } else if path.is_dir() {
            walk(&path, &mut all);
        } else {
            all.push(Input::file(path, false));
        }
    }
    let mut seen = HashSet::new();
    all.retain(|input| {
        let place =
            input.path.as_deref().map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
        seen.insert(place)
    });
    all
}

/// A link to a directory is not followed.
fn walk(directory: &Path, all: &mut Vec<Input>) {
    let entries = fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.unwrap_or_else(|error| {
        all.push(Input { unread: Some(error.kind()), ..Input::file(directory.to_owned(), false) });
        Vec::new()
    });
    let mut entries: Vec<_> = entries.into_iter().map(|entry| (entry.path(), entry.file_type())).collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (path, kind) in entries {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if kind.is_ok_and(|kind| kind.is_dir()) {
            walk(&path, all);
        } else if Kind::of(&path).is_some() && path.is_file() {
            // `.` stands for its files, under the names that they have there.
            let path = path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
            all.push(Input::file(path, true));
        }
    }
}

/// A piece of work.
#[derive(Debug)]
pub(super) struct Work<'i> {
    /// The file.
    pub(super) input: &'i Input,
    /// What of it.
    pub(super) part: io::Result<Part>,
    /// Whether it is the file's last.
    pub(super) last: bool,
}

/// What of a file.
#[derive(Debug)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// These lines.
    Lines {
        /// The number of the first.
        first: usize,
        /// Their bytes, line ends included.
        bytes: Vec<u8>,
    },
}

/// Bytes of lines that make one piece of work.
const BLOCK: usize = 64 << 10;

/// The works of some files, in their order.
pub(super) struct Works<'i> {
    inputs: std::slice::Iter<'i, Input>,
    /// The list that is being read, and the number of its next line.
    open: Option<(&'i Input, BufReader<fs::File>, usize)>,
}

impl<'i> Works<'i> {
    pub(super) fn new(inputs: &'i [Input]) -> Self {
        Self { inputs: inputs.iter(), open: None }
    }
}

impl<'i> Iterator for Works<'i> {
    type Item = Work<'i>;

    fn next(&mut self) -> Option<Work<'i>> {
        if self.open.is_none() {
            let input = self.inputs.next()?;
            if let Some(kind) = input.unread {
                return Some(Work { input, part: Err(kind.into()), last: true });
            }
            let Some(path) = input.path.as_deref().filter(|_| input.is_list()) else {
                return Some(Work { input, part: Ok(Part::Whole), last: true });
            };
            match fs::File::open(path) {
                Ok(file) => self.open = Some((input, BufReader::with_capacity(BLOCK, file), 1)),
                Err(error) => return Some(Work { input, part: Err(error), last: true }),
            }
        }
        let (input, reader, line) = self.open.as_mut()?;
        let (input, first) = (*input, *line);
        let mut bytes = Vec::with_capacity(BLOCK + (BLOCK >> 2));
        let read = lines(reader, &mut bytes);
        let (part, last) = match read {
            Ok((lines, last)) => {
                *line += lines;
                (Ok(Part::Lines { first, bytes }), last)
            }
            Err(error) => (Err(error), true),
        };
        if last {
            self.open = None;
        }
        Some(Work { input, part, last })
    }
}

/// Reads whole lines until there are enough; answers how many, and whether they are the last.
fn lines(reader: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<(usize, bool)> {
    let mut lines = 0;
    while bytes.len() < BLOCK {
        if reader.read_until(b'\n', bytes)? == 0 {
            return Ok((lines, true));
        }
        lines += 1;
    }
    Ok((lines, reader.fill_buf()?.is_empty()))
}
