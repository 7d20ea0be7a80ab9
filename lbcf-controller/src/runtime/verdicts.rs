//! Deregister verdicts: which pods that are not ready stay registered.
//!
//! They are kept in memory only: after a start, drivers are asked again.

use crate::api::FailurePolicy;
use crate::index::{Owner, PodView};
use crate::process::lock::Mutex;
use lbcf_driver_sdk::webhook::KubernetesObject;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The verdict on the pods that a driver was asked about last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeregisterVerdict {
    /// The names and uids of the pods.
    asked: BTreeMap<Arc<str>, String>,
    outcome: VerdictOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VerdictOutcome {
    /// The pods of these names stay registered.
    Kept(BTreeSet<String>),
    /// The call failed, and this policy applies.
    Failed(FailurePolicy),
}

impl Default for VerdictOutcome {
    fn default() -> Self {
        Self::Kept(BTreeSet::new())
    }
}

impl VerdictOutcome {
    /// The driver's response about pods of a namespace. It may trim a pod to name and namespace,
    /// or to its name, as it was asked about no other namespace.
    pub(crate) fn of_response(namespace: &str, kept: &[KubernetesObject]) -> Self {
        let kept = kept.iter().filter(|pod| {
            let is_here = pod.namespace.is_empty() || pod.namespace == namespace;
            is_here && !pod.name.is_empty()
        });
        Self::Kept(kept.map(|pod| pod.name.clone()).collect())
    }
}

impl DeregisterVerdict {
    pub(crate) fn new<'a>(
        asked: impl IntoIterator<Item = &'a PodView>,
        outcome: VerdictOutcome,
    ) -> Self {
        let asked = asked
            .into_iter()
            .map(|pod| (Arc::clone(&pod.key.name), pod.uid.clone()))
            .collect();
        Self { asked, outcome }
    }

    /// True if it is about this pod, and not an earlier one of the same name.
    pub(crate) fn is_about(&self, pod: &PodView) -> bool {
        self.asked.get(&pod.key.name) == Some(&pod.uid)
    }

    /// True if a pod that is not ready stays registered. A pod that the driver was not asked about
    /// does.
    pub(crate) fn keeps(&self, pod: &PodView) -> bool {
        if !self.is_about(pod) {
            return true;
        }
        match &self.outcome {
            VerdictOutcome::Kept(names) => names.contains(&*pod.key.name),
            VerdictOutcome::Failed(FailurePolicy::DoNothing) => true,
            VerdictOutcome::Failed(FailurePolicy::IfNotReady) => false,
            VerdictOutcome::Failed(FailurePolicy::IfNotRunning) => pod.is_running(),
        }
    }
}

/// The last verdict on an owner's pods.
#[derive(Debug, Clone)]
pub(crate) struct LastVerdict {
    pub(crate) verdict: Arc<DeregisterVerdict>,
    pub(crate) at: Instant,
    /// When the driver is asked again though no further pod became unready.
    pub(crate) due: Instant,
    /// The number of calls in a row that failed.
    pub(crate) failures: u32,
    /// The driver that was asked; none if it did not exist.
    pub(crate) driver: Option<DriverVersion>,
}

impl LastVerdict {
    /// The time until the driver is asked again, unless the verdict lacks one of these pods, or failed with
    /// another version of the driver.
    pub(crate) fn remaining(
        &self,
        pods: &[Arc<PodView>],
        driver: Option<&DriverVersion>,
    ) -> Option<Duration> {
        let is_complete = pods.iter().all(|pod| self.verdict.is_about(pod));
        let is_other_driver = self.failures > 0 && self.driver.as_ref() != driver;
        let remaining = self.due.checked_duration_since(Instant::now());
        remaining.filter(|it| is_complete && !is_other_driver && !it.is_zero())
    }
}

/// A driver's uid and generation. After a failure, another version is asked at once.
pub(crate) type DriverVersion = (Option<String>, Option<i64>);

#[derive(Debug, Default)]
pub(crate) struct Verdicts(Mutex<HashMap<Owner, LastVerdict>>);

impl Verdicts {
    pub(crate) fn get(&self, owner: &Owner) -> Option<LastVerdict> {
        self.0.lock().get(owner).cloned()
    }

    /// The verdict on an owner's pods, without those of these pods that are available again: a new
    /// verdict is needed when they become unready the next time.
    pub(crate) fn current(&self, owner: &Owner, pods: &[Arc<PodView>]) -> Arc<DeregisterVerdict> {
        let mut verdicts = self.0.lock();
        let Some(LastVerdict { verdict, .. }) = verdicts.get_mut(owner) else {
            return Arc::default();
        };
        for pod in pods.iter().filter(|pod| pod.is_available()) {
            if verdict.is_about(pod) {
                Arc::make_mut(verdict).asked.remove(&pod.key.name);
            }
        }
        Arc::clone(verdict)
    }

    pub(crate) fn insert(&self, owner: Owner, verdict: LastVerdict) {
        self.0.lock().insert(owner, verdict);
    }

    /// Makes verdicts due whose last call to a driver failed, and forgets their failures. Returns their
    /// owners.
    pub(crate) fn end_backoff(&self, driver_uid: Option<&str>) -> Vec<Owner> {
        let mut verdicts = self.0.lock();
        let mut owners = Vec::new();
        for (owner, last) in verdicts.iter_mut() {
            let driver = last.driver.as_ref();
            let is_of_driver = driver.is_some_and(|(uid, _)| uid.as_deref() == driver_uid);
            if last.failures > 0 && is_of_driver {
                last.failures = 0;
                last.due = Instant::now();
                owners.push(owner.clone());
            }
        }
        owners
    }

    pub(crate) fn remove(&self, owner: &Owner) {
        self.0.lock().remove(owner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ObjectKey;
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

    fn pods(response: serde_json::Value) -> Vec<KubernetesObject> {
        serde_json::from_value(response).unwrap()
    }

    #[test]
    fn u25_trimmed_pods_are_matched_by_namespace_and_name() {
        let response = pods(json!([
            {"metadata": {"name": "a"}},
            {"metadata": {"name": "b", "namespace": "ns"}},
            {"metadata": {"name": "c", "namespace": "elsewhere"}},
            {"metadata": {}},
        ]));
        let asked = ["a", "b", "c", "d"].map(|name| pod(name, true));
        let verdict = DeregisterVerdict::new(&asked, VerdictOutcome::of_response("ns", &response));
        let kept = asked.iter().map(|pod| verdict.keeps(pod));
        assert_eq!(kept.collect::<Vec<_>>(), [true, true, false, false]);
    }

    #[test]
    fn d51_verdicts_whose_call_failed_are_due_when_their_driver_is_back() {
        let verdicts = Verdicts::default();
        let now = Instant::now();
        let owner = |name: &str| Owner::Group(ObjectKey::new("ns", name));
        for (name, driver, failures) in [
            ("failed", Some("back"), 2),
            ("succeeded", Some("back"), 0),
            ("other", Some("other"), 2),
            ("none", None, 2),
        ] {
            let last = LastVerdict {
                verdict: Arc::default(),
                at: now,
                due: now + std::time::Duration::from_secs(100),
                failures,
                driver: driver.map(|uid| (Some(uid.to_owned()), Some(1))),
            };
            verdicts.insert(owner(name), last);
        }
        assert_eq!(verdicts.end_backoff(Some("back")), [owner("failed")]);
        let last = verdicts.get(&owner("failed")).unwrap();
        assert_eq!(last.failures, 0);
        assert!(last.due <= Instant::now());
        assert_eq!(verdicts.end_backoff(Some("back")), []);
    }

    #[test]
    fn b110_pods_that_the_driver_was_not_asked_about_stay() {
        let verdict = DeregisterVerdict::new([&pod("a", true)], VerdictOutcome::default());
        assert!(!verdict.keeps(&pod("a", true)));
        assert!(verdict.keeps(&pod("b", true)));
        let replacement = PodView {
            uid: "another".into(),
            ..pod("a", true)
        };
        assert!(verdict.keeps(&replacement));
    }

    #[test]
    fn b111_the_failure_policy_applies_if_the_call_failed() {
        let asked = [pod("runs", true), pod("does-not", false)];
        for (policy, kept) in [
            (FailurePolicy::DoNothing, [true, true]),
            (FailurePolicy::IfNotReady, [false, false]),
            (FailurePolicy::IfNotRunning, [true, false]),
        ] {
            let verdict = DeregisterVerdict::new(&asked, VerdictOutcome::Failed(policy));
            assert_eq!(
                asked.each_ref().map(|pod| verdict.keeps(pod)),
                kept,
                "{policy:?}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn b111_a_verdict_holds_until_it_is_due_and_a_failed_one_until_its_driver_changes() {
        let hour = Duration::from_secs(3600);
        let asked = [Arc::new(pod("a", true))];
        let old = (Some("uid".to_owned()), Some(1));
        let new = (Some("uid".to_owned()), Some(2));
        let verdict = |failures| LastVerdict {
            verdict: Arc::new(DeregisterVerdict::new(
                asked.iter().map(|pod| &**pod),
                VerdictOutcome::Kept(BTreeSet::new()),
            )),
            at: Instant::now(),
            due: Instant::now() + hour,
            failures,
            driver: Some(old.clone()),
        };
        for (failures, driver, remaining) in [
            (0, &old, Some(hour)),
            (0, &new, Some(hour)),
            (1, &old, Some(hour)),
            (1, &new, None),
        ] {
            assert_eq!(verdict(failures).remaining(&asked, Some(driver)), remaining);
        }
        assert_eq!(verdict(1).remaining(&asked, None), None);
        let other = [Arc::new(pod("b", true))];
        assert_eq!(verdict(0).remaining(&other, Some(&old)), None);
        let verdict = verdict(0);
        tokio::time::advance(hour).await;
        assert_eq!(verdict.remaining(&asked, Some(&old)), None);
    }
}
