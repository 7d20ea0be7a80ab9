//! Parts of a report that several formats share.

use crate::classification::Group;
use crate::report::{CheckResult, FailureReport, Report};

/// The groups with results in the order of reports, and unknown groups of other versions at the end.
pub(super) fn by_group(report: &Report) -> Vec<(String, Vec<&CheckResult>)> {
    let mut ids: Vec<String> = Group::ALL.iter().map(|g| g.id().to_owned()).collect();
    for result in &report.results {
        if !ids.contains(&result.group) {
            ids.push(result.group.clone());
        }
    }
    let groups = ids.into_iter().map(|id| {
        let of_group = report.results.iter().filter(|r| r.group == id);
        (id.clone(), of_group.collect::<Vec<_>>())
    });
    groups.filter(|(_, results)| !results.is_empty()).collect()
}

/// The description of a group; empty for a group of another version.
pub(super) fn about(group: &str) -> &'static str {
    let mut groups = Group::ALL.into_iter();
    let known = groups.find(|known| known.id() == group);
    known.map_or("", Group::about)
}

/// The text within an element of HTML or XML.
pub(super) fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The names of the features.
pub(super) fn features(report: &Report) -> Vec<&'static str> {
    let features = report.features.iter();
    features.map(|feature| feature.name()).collect()
}

impl FailureReport {
    /// The names and values of its short texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("expected", &*self.expected),
            ("got", &self.got),
            ("likely cause", &self.likely_cause),
            ("driver wrote", &self.driver_wrote),
        ];
        let is_written = |(name, text): &(&str, &str)| *name != "driver wrote" || !text.is_empty();
        all.into_iter().filter(is_written)
    }
}

/// The driver's known name and version, and its URL.
pub(super) fn driver(report: &Report) -> (String, &str) {
    let driver = &report.driver;
    let mut known = vec![&*driver.organization, &driver.project, &driver.version];
    known.retain(|part| !part.is_empty());
    (known.join(" "), &driver.url)
}

/// A duration for people: `3 ms`, `12.3 s`, `2 min 05 s`.
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
