//! Removes the item numbers of comments, such as "(d1)", from descriptions: readers of the document
//! do not know them.

use serde_json::Value;

pub(super) fn without_item_numbers(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "description" || name == "summary" => {
                        *text = cleaned(text);
                    }
                    value => without_item_numbers(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(without_item_numbers),
        _ => {}
    }
}

fn cleaned(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(" (") {
        clean.push_str(before);
        match after.split_once(')') {
            Some((inside, behind)) if inside.split(", ").all(is_item_number) => rest = behind,
            _ => {
                clean.push_str(" (");
                rest = after;
            }
        }
    }
    clean + rest
}

fn is_item_number(word: &str) -> bool {
    word.strip_prefix(['b', 'd', 'u']).is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_numbers_are_removed_and_other_brackets_stay() {
        for (text, clean) in [
            ("Sent always (d5).", "Sent always."),
            (
                "Either is read (d2, b150), and (maybe) more (b1) (d).",
                "Either is read, and (maybe) more (d).",
            ),
            ("A bracket (open", "A bracket (open"),
        ] {
            assert_eq!(cleaned(text), clean);
        }
    }
}
