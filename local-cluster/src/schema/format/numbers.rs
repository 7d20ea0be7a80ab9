//! Numbers with check digits, and colours.

fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

/// A number of a large issuer with a valid check digit.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits = digits(text);
    let written: String = digits.iter().map(u32::to_string).collect();
    let starts = |with: &[&str]| with.iter().any(|w| written.starts_with(w));
    let issued = match digits.len() {
        13 => starts(&["4"]),
        14 => starts(&["300", "301", "302", "303", "304", "305", "36", "38"]),
        15 => starts(&["34", "37", "2131", "1800"]),
        16 => starts(&["4", "51", "52", "53", "54", "55", "6011", "65", "35", "62"]),
        _ => false,
    };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| match (index % 2, digit * 2) {
            (0, _) => *digit,
            (_, double) if double > 9 => double - 9,
            (_, double) => double,
        })
        .sum();
    issued && sum.is_multiple_of(10)
}

fn isbn_digits(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, ' ' | '-')).collect()
}

/// Ten digits; the last is a check digit and may be X.
pub(super) fn is_isbn10(text: &str) -> bool {
    let text = isbn_digits(text);
    let mut sum = 0;
    for (index, c) in (1_u32..).zip(text.chars()) {
        let value = match (index, c) {
            (10, 'X') => 10,
            (_, c) => match c.to_digit(10) {
                Some(digit) => digit,
                None => return false,
            },
        };
        sum += index * value;
    }
    text.len() == 10 && sum % 11 == 0
}

/// Thirteen digits; the last is a check digit.
pub(super) fn is_isbn13(text: &str) -> bool {
    let text = isbn_digits(text);
    let digits = digits(&text);
    let prefixed = text.starts_with("978") || text.starts_with("979");
    let sum: u32 = digits
        .iter()
        .zip([1, 3].into_iter().cycle())
        .map(|(d, f)| d * f)
        .sum();
    text.len() == 13 && digits.len() == 13 && prefixed && sum.is_multiple_of(10)
}

/// Three, two and four digits, with optional separators.
pub(super) fn is_ssn(text: &str) -> bool {
    let mut rest = text;
    for (index, length) in [3, 2, 4].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(['-', ' ']).unwrap_or(rest);
        }
        match rest.split_at_checked(length) {
            Some((group, left)) if group.bytes().all(|b| b.is_ascii_digit()) => rest = left,
            _ => return false,
        }
    }
    rest.is_empty()
}

/// `rgb(r,g,b)`, each from 0 to 255.
pub(super) fn is_rgb(text: &str) -> bool {
    let Some(inner) = text.strip_prefix("rgb(").and_then(|t| t.strip_suffix(')')) else {
        return false;
    };
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    parts.len() == 3
        && parts
            .iter()
            .all(|p| p.bytes().all(|b| b.is_ascii_digit()) && p.parse::<u8>().is_ok())
}
