//! The known differences, each with its reason.

use std::cell::Cell;

use regex::Regex;

#[derive(Debug)]
pub(super) struct KnownDifference {
    /// A pattern of the exchange's step; empty for all steps.
    step: &'static str,
    /// A pattern of the whole path in the response.
    path: &'static str,
    /// Why it differs, and why clients do not depend on it.
    why: &'static str,
}

const fn known(step: &'static str, path: &'static str, why: &'static str) -> KnownDifference {
    KnownDifference { step, path, why }
}

pub(super) const KUBECTL: &[KnownDifference] = &[
    known(
        "create ns|describe|auth can-i",
        "content-type",
        "kubectl accepts JSON instead of the preferred protobuf",
    ),
    known(
        "apply node",
        r"\.spec\.taints",
        "nothing here would remove the taint again",
    ),
    known(
        "get (endpointslices|events|leases)",
        r"\.rows",
        "the components that create these on a cluster do not exist here",
    ),
];

pub(super) const OPENAPI: &[KnownDifference] = &[
    known(
        "",
        r"\.paths\..*",
        "only what kubectl reads of the operations is described",
    ),
    known(
        "",
        r"\.components\.schemas\.io\.k8s\.apimachinery\.pkg\.apis\.meta\.v1\.(DeleteOptions|Patch|Preconditions|Status|StatusCause|StatusDetails)",
        "no described operation has them",
    ),
];

/// The known differences, and which of them have occurred.
pub(super) struct KnownDifferences<'a>(Vec<Pattern<'a>>);

struct Pattern<'a> {
    known: &'a KnownDifference,
    step: Regex,
    path: Regex,
    seen: Cell<bool>,
}

impl<'a> KnownDifferences<'a> {
    pub(super) fn new(known: impl IntoIterator<Item = &'a KnownDifference>) -> Self {
        let pattern = |known: &'a KnownDifference| Pattern {
            known,
            step: Regex::new(known.step).unwrap(),
            path: Regex::new(&format!("^(?:{})$", known.path)).unwrap(),
            seen: Cell::new(false),
        };
        Self(known.into_iter().map(pattern).collect())
    }

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

    /// The known differences that have not occurred.
    pub(super) fn unseen(&self) -> Vec<String> {
        let unseen = self.0.iter().filter(|known| !known.seen.get());
        unseen
            .map(|Pattern { known, .. }| {
                let KnownDifference { step, path, why } = known;
                format!("no longer differs: {step:?} {path} ({why})")
            })
            .collect()
    }
}
