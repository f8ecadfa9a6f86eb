//! A statement, shortened for a message.

/// Characters of an excerpt at most.
const LONGEST: usize = 200;

/// `sql` on one line, cut at 200 characters.
pub fn excerpt(sql: &str) -> String {
    let mut line = String::new();
    // A megabyte of statement need not be walked for its first words.
    let head = sql.char_indices().nth(LONGEST * 40).map_or(sql, |(end, _)| &sql[..end]);
    for word in head
        .split(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0')
        .filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > LONGEST * 4 {
            break;
        }
    }
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_of_at_most_200_characters() {
        assert_eq!(excerpt("UPDATE t\n   SET a\t= 1"), "UPDATE t SET a = 1");
        let long = excerpt(&"é".repeat(1_000_000));
        assert_eq!((long.chars().count(), long.ends_with("...")), (203, true));
    }
}
