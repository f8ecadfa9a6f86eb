//! The nearest known name to a mistyped one.

/// Longer words are no slips of the finger, and comparing them would cost the square of their length.
const LONGEST: usize = 64;

/// The known name that `word` was probably meant to be: letter case aside, at most one slip in three
/// letters, where a slip is a letter too many, too few, wrong, or swapped with its neighbour. The first of
/// several equally near ones.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    let allowed = (word.len() / 3).max(1);
    known
        .filter_map(|name| {
            let letters: Vec<char> = name.to_lowercase().chars().collect();
            if letters.len() > LONGEST || letters.len().abs_diff(word.len()) > allowed {
                return None;
            }
            let slips = slips(&word, &letters);
            (slips <= allowed && slips < letters.len()).then_some((slips, name))
        })
        .min_by_key(|&(slips, _)| slips)
        .map(|(_, name)| name)
}

/// Edit distance with neighbouring letters swapped as one step.
fn slips(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let mut best =
                (at(&above, j) + usize::from(x != y)).min(at(&above, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_finds_none() {
        let known = ["rows", "functions", "pragmas", "triggers"];
        let find = |word| nearest(word, known.into_iter());
        assert_eq!(find("function"), Some("functions"));
        assert_eq!(find("Rows"), Some("rows"));
        assert_eq!(find("tirggers"), Some("triggers"));
        assert_eq!(find("colour"), None);
        assert_eq!(find(""), None);
        assert_eq!(find(&"x".repeat(10_000)), None);
    }
}
