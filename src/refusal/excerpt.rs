//! A statement, shortened for a message.

/// Characters of an excerpt at most.
const LONGEST: usize = 200;

/// `sql` on one line, cut at 200 characters.
pub fn excerpt(sql: &str) -> String {
    let mut line = String::new();
    let (mut length, mut gap) = (0, false);
    // A megabyte of statement need not be walked for its first words.
    for c in sql.chars().take(LONGEST * 40) {
        if c.is_whitespace() || c == '\u{feff}' || c == '\0' {
            gap = length > 0;
            continue;
        }
        for c in gap.then_some(' ').into_iter().chain([c]) {
            if length == LONGEST {
                line.push_str("...");
                return line;
            }
            line.push(c);
            length += 1;
        }
        gap = false;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_of_at_most_200_characters() {
        assert_eq!(excerpt("UPDATE t\n   SET a\t= 1"), "UPDATE t SET a = 1");
        let long = excerpt(&"é".repeat(1_000_000));
        assert_eq!((long.chars().count(), long.ends_with("...")), (203, true));
        let full = "x".repeat(200);
        assert_eq!(excerpt(&format!(" {full}\n\0")), full);
    }
}
