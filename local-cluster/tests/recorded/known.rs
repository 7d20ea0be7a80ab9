//! The differences that are known, each with its reason.

use std::cell::Cell;

use regex::Regex;

/// Something that differs and is meant to.
#[derive(Debug)]
pub(super) struct Known {
    /// The step, as a pattern; empty for all steps.
    step: &'static str,
    /// The whole path in the answer, as a pattern.
    path: &'static str,
    /// Why it differs, and why nobody notices.
    why: &'static str,
}

const fn known(step: &'static str, path: &'static str, why: &'static str) -> Known {
    Known { step, path, why }
}

pub(super) const KUBECTL: &[Known] = &[
    known(
        "create ns|describe|auth can-i",
        "content-type",
        "kubectl takes JSON where it would rather have protobuf",
    ),
    known(
        "apply node",
        r"\.spec\.taints",
        "nothing here would take the taint away again",
    ),
    known(
        "get (endpointslices|events|leases)",
        r"\.rows",
        "what makes these on a cluster is not there",
    ),
];

pub(super) const OPENAPI: &[Known] = &[
    known(
        "",
        r"\.paths\..*\.parameters\.\w+\.description",
        "nobody shows the descriptions of parameters",
    ),
    known(
        "",
        r"\.paths\..*\.parameters\.(shardSelector|ignoreStoreReadErrorWithClusterBreakingPotential)",
        "these parameters of unfinished features are ignored",
    ),
    known(
        "",
        r".*\.Patch\.description",
        "it says the same in other words",
    ),
    known(
        "",
        r".*\.DeleteOptions\.x-kubernetes-group-version-kind",
        "it is named once, not for each group of the server",
    ),
];

/// The known differences, and which of them were there.
pub(super) struct Allowed<'a>(Vec<Pattern<'a>>);

struct Pattern<'a> {
    known: &'a Known,
    step: Regex,
    path: Regex,
    seen: Cell<bool>,
}

impl<'a> Allowed<'a> {
    pub(super) fn new(known: impl IntoIterator<Item = &'a Known>) -> Self {
        let pattern = |known: &'a Known| Pattern {
            known,
            step: Regex::new(known.step).unwrap(),
            path: Regex::new(&format!("^(?:{})$", known.path)).unwrap(),
            seen: Cell::new(false),
        };
        Self(known.into_iter().map(pattern).collect())
    }

    /// The differences that are not known.
    pub(super) fn unknown(&self, step: &str, differences: Vec<(String, String)>) -> Vec<String> {
        let unknown = |(path, what): (String, String)| {
            let mut known = self.0.iter();
            match known.find(|k| k.step.is_match(step) && k.path.is_match(&path)) {
                Some(known) => {
                    known.seen.set(true);
                    None
                }
                None => Some(format!("{path}: {what}")),
            }
        };
        differences.into_iter().filter_map(unknown).collect()
    }

    /// The known differences that are none any more.
    pub(super) fn unseen(&self) -> Vec<String> {
        let unseen = self.0.iter().filter(|known| !known.seen.get());
        unseen
            .map(|Pattern { known, .. }| {
                let Known { step, path, why } = known;
                format!("no longer differs: {step:?} {path} ({why})")
            })
            .collect()
    }
}
