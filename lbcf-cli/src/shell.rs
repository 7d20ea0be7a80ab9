//! Quoting for commands that are printed.

/// A text as one word of a POSIX shell.
pub(crate) fn quote(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._+-=:@".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn only_words_with_special_characters_are_quoted() {
        assert_eq!(quote("../a-b/c_1.2"), "../a-b/c_1.2");
        assert_eq!(quote("it's a path"), r"'it'\''s a path'");
        assert_eq!(quote(""), "''");
    }
}
