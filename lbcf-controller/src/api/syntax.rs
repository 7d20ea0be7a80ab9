//! The syntax of names and labels in Kubernetes.

use super::allowed;

/// Anything but the name of an object must not become part of a URL's path.
pub(crate) fn is_object_name(text: &str) -> bool {
    text.len() <= allowed::NAME && !text.is_empty() && text.split('.').all(is_dns_word)
}

pub(crate) fn is_label_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((domain, name)) => is_object_name(domain) && is_label_word(name),
        None => is_label_word(text),
    }
}

pub(crate) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_label_word(text)
}

pub(crate) fn is_dns_label(text: &str) -> bool {
    text.len() <= allowed::LABEL && is_dns_word(text)
}

fn is_dns_word(text: &str) -> bool {
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    is_word(text, is_alphanumeric, |c| c == '-')
}

fn is_label_word(text: &str) -> bool {
    let is_inside = |c| matches!(c, '-' | '_' | '.');
    text.len() <= allowed::LABEL && is_word(text, |c| c.is_ascii_alphanumeric(), is_inside)
}

fn is_word(text: &str, anywhere: impl Fn(char) -> bool, inside: impl Fn(char) -> bool) -> bool {
    !text.is_empty()
        && text.chars().all(|c| anywhere(c) || inside(c))
        && text.starts_with(&anywhere)
        && text.ends_with(anywhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects() {
        for good in ["a", "lb-1", "a.b-c.d", "0", &"a".repeat(253)] {
            assert!(is_object_name(good), "{good}");
        }
        for bad in [
            "",
            "A",
            "a_b",
            "-a",
            "a-",
            "a..b",
            "../x",
            "a/b",
            "ä",
            "a ",
            &"a".repeat(254),
        ] {
            assert!(!is_object_name(bad), "{bad}");
        }
    }

    #[test]
    fn b80_labels() {
        for good in ["app", "k8s-app", "example.com/App_1.x", &"a".repeat(63)] {
            assert!(is_label_key(good), "{good}");
        }
        for bad in [
            "",
            "/a",
            "a/",
            "a/b/c",
            "-a",
            "A.com/b",
            "a b",
            &"a".repeat(64),
        ] {
            assert!(!is_label_key(bad), "{bad}");
        }
        assert!(is_label_value("") && is_label_value("A.b_c-1") && !is_label_value("a/b"));
        assert!(!is_label_value(&"a".repeat(64)) && !is_label_value("-"));
    }
}
