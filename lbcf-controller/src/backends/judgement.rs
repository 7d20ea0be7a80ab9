//! What a driver said of pods that are not ready (b110, b111). No I/O, no clock.

use crate::api::FailurePolicy;
use crate::index::PodView;
use k8s_openapi::api::core::v1::Pod;
use std::collections::{BTreeMap, BTreeSet};

/// What was said of the pods that a driver was asked about last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// The pods that were asked about: their names and uids.
    asked: BTreeMap<String, String>,
    said: Judged,
}

/// What was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judged {
    /// The driver keeps the pods of these names.
    Kept(BTreeSet<String>),
    /// It gave no answer; the failure policy answers in its place.
    Failed(FailurePolicy),
}

impl Default for Judged {
    fn default() -> Self {
        Self::Kept(BTreeSet::new())
    }
}

impl Judged {
    /// The driver's answer about pods of a namespace. Name and namespace are enough of a pod (u25);
    /// a pod without a namespace is one of this namespace, as no other was asked about.
    #[must_use]
    pub(crate) fn answered(namespace: &str, kept: &[Pod]) -> Self {
        Self::Kept(
            kept.iter()
                .map(|pod| &pod.metadata)
                .filter(|meta| {
                    meta.namespace
                        .as_deref()
                        .is_none_or(|said| said.is_empty() || said == namespace)
                })
                .filter_map(|meta| meta.name.clone())
                .collect(),
        )
    }
}

impl Judgement {
    /// What was said of these pods.
    #[must_use]
    pub(crate) fn new<'a>(asked: impl IntoIterator<Item = &'a PodView>, said: Judged) -> Self {
        let asked = asked
            .into_iter()
            .map(|pod| (pod.key.name.clone(), pod.uid.clone()))
            .collect();
        Self { asked, said }
    }

    /// Forgets what was said of a pod.
    pub(crate) fn forget(&mut self, pod: &PodView) {
        self.asked.remove(&pod.key.name);
    }

    /// Whether it is about this pod, and not its namesake.
    #[must_use]
    pub(crate) fn is_about(&self, pod: &PodView) -> bool {
        self.asked.get(&pod.key.name) == Some(&pod.uid)
    }

    /// Whether a pod that is not ready keeps its place. One that nobody was asked about does until
    /// somebody was: traffic is not taken away on a guess.
    #[must_use]
    pub(crate) fn keeps(&self, pod: &PodView) -> bool {
        if !self.is_about(pod) {
            return true;
        }
        match &self.said {
            Judged::Kept(names) => names.contains(&pod.key.name),
            Judged::Failed(FailurePolicy::DoNothing) => true,
            Judged::Failed(FailurePolicy::IfNotReady) => false,
            Judged::Failed(FailurePolicy::IfNotRunning) => pod.is_running(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::ObjectKey;
    use serde_json::json;

    fn pod(name: &str, running: bool) -> PodView {
        PodView {
            key: ObjectKey::new("ns", name),
            uid: format!("uid-{name}"),
            ip: "10.0.0.1".into(),
            running,
            ..PodView::default()
        }
    }

    fn pods(said: serde_json::Value) -> Vec<Pod> {
        serde_json::from_value(said).unwrap()
    }

    #[test]
    fn u25_trimmed_pods_are_matched_by_namespace_and_name() {
        let said = pods(json!([
            {"metadata": {"name": "a"}},
            {"metadata": {"name": "b", "namespace": "ns"}},
            {"metadata": {"name": "c", "namespace": "elsewhere"}},
            {"metadata": {}},
        ]));
        let asked = ["a", "b", "c", "d"].map(|name| pod(name, true));
        let judgement = Judgement::new(&asked, Judged::answered("ns", &said));
        let kept = asked.iter().map(|pod| judgement.keeps(pod));
        assert_eq!(kept.collect::<Vec<_>>(), [true, true, false, false]);
    }

    #[test]
    fn b110_who_was_not_asked_about_stays() {
        let judgement = Judgement::new([&pod("a", true)], Judged::default());
        assert!(!judgement.keeps(&pod("a", true)));
        assert!(judgement.keeps(&pod("b", true)));
        let namesake = PodView {
            uid: "another".into(),
            ..pod("a", true)
        };
        assert!(judgement.keeps(&namesake));
    }

    #[test]
    fn b111_the_failure_policy_answers_for_a_driver_that_gives_no_answer() {
        let asked = [pod("runs", true), pod("does-not", false)];
        for (policy, kept) in [
            (FailurePolicy::DoNothing, [true, true]),
            (FailurePolicy::IfNotReady, [false, false]),
            (FailurePolicy::IfNotRunning, [true, false]),
        ] {
            let judgement = Judgement::new(&asked, Judged::Failed(policy));
            assert_eq!(
                asked.each_ref().map(|pod| judgement.keeps(pod)),
                kept,
                "{policy:?}"
            );
        }
    }
}
