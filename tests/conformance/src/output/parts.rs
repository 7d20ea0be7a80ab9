//! Parts of a report that several formats show.

use crate::check::Group;
use crate::report::{CheckResult, Report};

/// The groups that have results, in the order of reports; unknown ones, of other versions, last.
pub(super) fn by_group(report: &Report) -> Vec<(String, Vec<&CheckResult>)> {
    let mut ids: Vec<String> = Group::ALL.iter().map(|g| g.id().to_owned()).collect();
    for result in &report.results {
        if !ids.contains(&result.group) {
            ids.push(result.group.clone());
        }
    }
    ids.into_iter()
        .map(|id| {
            let of_group = report.results.iter().filter(|r| r.group == id).collect();
            (id, of_group)
        })
        .filter(|(_, results): &(_, Vec<_>)| !results.is_empty())
        .collect()
}

/// What a group is about; nothing for a group of another version.
pub(super) fn about(group: &str) -> &'static str {
    Group::ALL
        .into_iter()
        .find(|known| known.id() == group)
        .map_or("", Group::about)
}

/// The features' names, as fixtures have them.
pub(super) fn features(report: &Report) -> Vec<String> {
    report
        .features
        .iter()
        .filter_map(|feature| match serde_json::to_value(feature) {
            Ok(serde_json::Value::String(name)) => Some(name),
            _ => None,
        })
        .collect()
}

/// The driver's name and version as far as they are known, and its URL.
pub(super) fn driver(report: &Report) -> (String, &str) {
    let driver = &report.driver;
    let known = [&driver.organization, &driver.project, &driver.version]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(String::as_str)
        .collect::<Vec<_>>();
    (known.join(" "), &driver.url)
}

/// A time as people read it: `3 ms`, `12.3 s`, `2 min 05 s`.
pub(super) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn durations_are_short() {
        for (ms, text) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_000, "1.0 s"),
            (59_999, "59.9 s"),
            (125_000, "2 min 05 s"),
        ] {
            assert_eq!(super::duration(ms), text);
        }
    }
}
