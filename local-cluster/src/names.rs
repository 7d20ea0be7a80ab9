//! Validation of names and labels, with the messages of Kubernetes.

pub(crate) const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

pub(crate) const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/// The message for names that must be DNS-1035 labels.
pub(crate) const LETTER_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// The message for names of kinds, which may have capitals.
pub(crate) const MIXED_LETTER_LABEL: &str = "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

pub(crate) const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

pub(crate) const LABEL_KEY: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// The most characters of a label, of a label's value, and of the name in a label's key.
pub(crate) const MAX_LABEL: usize = 63;
pub(crate) const MAX_SUBDOMAIN: usize = 253;

pub(crate) fn is_label(text: &str) -> bool {
    text.len() <= MAX_LABEL && is_label_of_any_length(text)
}

pub(crate) fn is_letter_label(text: &str) -> bool {
    is_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

pub(crate) fn is_subdomain(text: &str) -> bool {
    text.len() <= MAX_SUBDOMAIN && is_subdomain_of_any_length(text)
}

pub(crate) fn is_subdomain_of_any_length(text: &str) -> bool {
    text.split('.').all(is_label_of_any_length)
}

pub(crate) fn is_label_of_any_length(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(plain) && text.ends_with(plain) && text.chars().all(|c| plain(c) || c == '-')
}

pub(crate) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_qualified_part(text)
}

/// Accepts the keys of labels and annotations.
pub(crate) fn is_label_key(key: &str) -> bool {
    match key.split_once('/') {
        None => is_qualified_part(key),
        Some((prefix, name)) => is_subdomain(prefix) && is_qualified_part(name),
    }
}

fn is_qualified_part(text: &str) -> bool {
    text.len() <= MAX_LABEL && is_qualified_part_of_any_length(text)
}

/// Accepts the form of the name in a label's key, and of a label's value that is not empty.
pub(crate) fn is_qualified_part_of_any_length(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(plain)
        && text.ends_with(plain)
        && text
            .chars()
            .all(|c| plain(c) || matches!(c, '-' | '_' | '.'))
}

/// `name.group`, as messages name resources and kinds.
pub(crate) fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{group}")
    }
}

/// The random suffix of a generated name: five characters.
pub(crate) fn suffix() -> String {
    safe_encode(&uuid::Uuid::new_v4().as_bytes()[..5])
}

/// Replaces each byte by a character of those that spell no words.
pub(crate) fn safe_encode(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let letters = bytes
        .iter()
        .filter_map(|byte| LETTERS.get(usize::from(*byte) % LETTERS.len()));
    letters.map(|letter| char::from(*letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert!(is_subdomain("web-0.example.com") && is_label("web-0"));
        for bad in ["", "My_LB", "-a", "a-", "a..b", "a/b", "ä"] {
            assert!(!is_subdomain(bad), "{bad}");
        }
        assert!(!is_label("a.b"));
        assert!(is_label_key("example.com/App") && !is_label_key("a/b/c"));
        assert_eq!(suffix().len(), 5);
        assert!(is_label(&suffix()));
    }
}
