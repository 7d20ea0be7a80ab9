//! The causes that several failures have in common: what the driver answered to each.

use crate::report::{CheckResult, Report, Status};
use std::collections::BTreeMap;

/// The shortest part of an answer that is worth to be called a cause.
const SHOWN: usize = 200;

/// Each cause that more than one check fails by, with their ids: the most frequent first.
pub(super) fn causes(report: &Report) -> Vec<(String, Vec<&str>)> {
    let failed = report
        .results
        .iter()
        .filter(|it| it.status == Status::Failed);
    let mut found: BTreeMap<String, (String, Vec<&str>)> = BTreeMap::new();
    for result in failed {
        if let Some(cause) = cause(result) {
            let entry = found.entry(without_values(&cause));
            entry
                .or_insert_with(|| (cause, Vec::new()))
                .1
                .push(&result.id);
        }
    }
    let mut found: Vec<_> = found
        .into_values()
        .filter(|(_, ids)| ids.len() > 1)
        .collect();
    found.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
    found
}

/// The driver's answer, unless it is a success.
fn cause(result: &CheckResult) -> Option<String> {
    let answer = result.failure.as_ref()?.answer.as_deref()?;
    let (head, body) = answer.split_once("\n\n").unwrap_or((answer, ""));
    let status = head.lines().next().unwrap_or_default();
    let value: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let text = match value["msg"].as_str() {
        _ if !status.starts_with("HTTP 200") => format!("{status} {body}"),
        Some(msg) if value["status"] == "Fail" || value["succ"] == false => msg.to_owned(),
        _ => return None,
    };
    let text: String = text.chars().take(SHOWN).collect();
    Some(super::one_line(&text)).filter(|text| !text.is_empty())
}

/// With one mark for each name and number, which differ from check to check.
fn without_values(text: &str) -> String {
    let words = text.split_inclusive(|it: char| !it.is_alphanumeric() && it != '-');
    let is_value = |word: &&str| word.bytes().any(|it| it.is_ascii_digit());
    let status = text
        .starts_with("HTTP ")
        .then(|| text.chars().take("HTTP 200".len()));
    let status: String = status.into_iter().flatten().collect();
    status
        + &words
            .map(|word| if is_value(&word) { "#" } else { word })
            .collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_no_difference() {
        let text = "lbcf-conf-12-a: oldAttributes is null";
        assert_eq!(without_values(text), "# oldAttributes is null");
        let [bad, broken] = ["HTTP 400 x", "HTTP 500 x"].map(without_values);
        assert_ne!(bad, broken);
    }
}
