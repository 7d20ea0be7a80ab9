//! The state that the steps of the tour share, changes as a user of kubectl makes them, and waiting for the expected
//! state of the cloud.

use super::cloud_view::Registered;
use super::environment::DemoEnvironment;
use super::examples::{Manifest, POD};
use super::kubectl::{self, Kubectl};
use super::printer::Printer;
use super::profile::Profile;
use crate::waiting::until;
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{
    BackendRecord, ConditionStatus, Conditions, NamespacedKind as Kind, condition_types,
};
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The outcome of a step that did not fail.
pub(super) enum StepOutcome {
    Passed,
    Skipped(&'static str),
}

pub(super) type StepResult = Result<StepOutcome, String>;

/// The result of a step that does not apply, and why.
pub(super) const fn skipped(why: &'static str) -> StepResult {
    Ok(StepOutcome::Skipped(why))
}

pub(super) const NO_MOCK: &str = "needs the mock; other drivers decide otherwise";
pub(super) const NO_CLOUD_ACCESS: &str =
    "needs the state of the cloud: the mock's, or that of an observer in a fixture (--fixture)";

pub(super) struct Scenario<'a> {
    pub(super) environment: &'a mut DemoEnvironment,
    pub(super) kubectl: Kubectl,
    /// The names of the existing pods.
    pub(super) pods: Vec<String>,
    /// The number in the next pod's name.
    next_pod: usize,
    /// The expected parameters of every target.
    pub(super) parameters: StringMap,
    pub(super) profile: Profile,
    printer: &'a Printer,
}

impl<'a> Scenario<'a> {
    pub(super) fn new(
        environment: &'a mut DemoEnvironment,
        printer: &'a Printer,
        pods: u16,
    ) -> Self {
        let pods: Vec<String> = (0..pods).map(|number| format!("my-pod-{number}")).collect();
        let profile = environment.profile.clone();
        Self {
            kubectl: Kubectl::new(environment.client()),
            environment,
            next_pod: pods.len(),
            pods,
            parameters: profile.parameters.clone(),
            profile,
            printer,
        }
    }

    /// Prints a command that a user would type.
    pub(super) fn print_command(&self, command: impl AsRef<str>) -> Result<(), String> {
        let printed = self.printer.command(command.as_ref());
        printed.map_err(|error| error.to_string())
    }

    pub(super) fn print_note(&self, text: impl AsRef<str>) -> Result<(), String> {
        let printed = self.printer.note(text.as_ref());
        printed.map_err(|error| error.to_string())
    }

    pub(super) async fn apply<K: Kind>(&self, manifest: &Manifest) -> Result<(), String> {
        let differences = manifest.differences()?;
        let mut command = format!("kubectl apply -f {}", manifest.file.0);
        if !differences.is_empty() {
            command += &format!("   # with {}", differences.join(", "));
        }
        self.print_command(command)?;
        self.kubectl.apply::<K>(manifest).await
    }

    pub(super) async fn patch<K: Kind>(&self, name: &str, patch: Value) -> Result<(), String> {
        let target = kubectl::target::<K>();
        self.print_command(format!(
            "kubectl patch {target} {name} --type=merge -p '{patch}'"
        ))?;
        self.kubectl.patch::<K>(name, patch).await
    }

    pub(super) async fn delete<K: Kind>(&self, name: &str) -> Result<(), String> {
        self.print_command(format!("kubectl delete {} {name}", kubectl::target::<K>()))?;
        self.kubectl.delete::<K>(name).await
    }

    /// Deletes an object, and waits until it is gone.
    pub(super) async fn delete_completely<K: Kind>(&self, name: &str) -> Result<(), String> {
        self.delete::<K>(name).await?;
        let what = format!("{} {name} is deleted", K::kind(&()));
        until(&what, async || {
            let exists = self.kubectl.exists::<K>(name).await?;
            Ok((!exists).then_some(()))
        })
        .await
    }

    pub(super) async fn set_ready(&self, pod: &str, ready: bool) -> Result<(), String> {
        let (target, status) = (kubectl::target::<Pod>(), kubectl::ready_status(ready));
        self.print_command(format!(
            "kubectl patch {target} {pod} --subresource=status -p '{status}'"
        ))?;
        self.kubectl.set_ready(pod, ready).await
    }

    /// Adds a pod to those that exist.
    pub(super) async fn add_pod(&mut self) -> Result<(), String> {
        let pod = format!("my-pod-{}", self.next_pod);
        self.next_pod += 1;
        self.print_command(format!("kubectl apply -f {}   # as {pod}", POD.0))?;
        self.kubectl.create_pod(&pod).await?;
        self.pods.push(pod);
        Ok(())
    }

    /// Deletes the last pod, and returns its name.
    pub(super) async fn remove_pod(&mut self) -> Result<String, String> {
        let pod = self.pods.pop().ok_or("there is no pod")?;
        self.delete::<Pod>(&pod).await?;
        Ok(pod)
    }

    /// The calls of a webhook since the counts `before`.
    pub(super) fn calls_since(&self, before: &BTreeMap<&'static str, u64>, webhook: &str) -> u64 {
        let count = |calls: &BTreeMap<&'static str, u64>| calls.get(webhook).copied().unwrap_or(0);
        count(&self.environment.calls()) - count(before)
    }

    /// Waits until exactly these pods are registered with the expected parameters, and the controller has
    /// stored so.
    pub(super) async fn until_registered(&self, pods: &[String]) -> Result<(), String> {
        let with_ip = self.addressed(pods).await?;
        let cloud = &self.environment.cloud;
        let expected = cloud.expected(&with_ip, &self.parameters);
        let seen = RefCell::new(Registered::default());
        until("the cloud has exactly the expected targets", async || {
            let registered = cloud.registered().await?;
            let is_reached = registered.has_exactly(&expected);
            *seen.borrow_mut() = registered;
            Ok(is_reached.then_some(()))
        })
        .await
        .map_err(|error| {
            let (expected, found) = (&expected.targets, &seen.borrow().targets);
            format!("{error}: expected {expected:?}, found {found:?}")
        })?;
        self.until_settled(pods.len()).await
    }

    /// The end of most steps: all pods are registered.
    pub(super) async fn all_registered(&self) -> StepResult {
        self.until_registered(&self.pods).await?;
        Ok(StepOutcome::Passed)
    }

    /// The names and addresses of these pods, once they have an address.
    pub(super) async fn addressed(&self, pods: &[String]) -> Result<Vec<(String, String)>, String> {
        let mut with_ip = Vec::new();
        for pod in pods {
            let ip = until(&format!("pod {pod} has an address"), async || {
                self.kubectl.pod_ip(pod).await
            })
            .await?;
            with_ip.push((pod.clone(), ip));
        }
        Ok(with_ip)
    }

    /// Waits until every record is registered in its current generation, so that no call of this step
    /// is counted for the next one.
    pub(super) async fn until_settled(&self, records: usize) -> Result<(), String> {
        until("the records are registered", async || {
            let found: Vec<BackendRecord> = self.kubectl.list().await?;
            let is_settled = |record: &BackendRecord| {
                let conditions = record.status.as_ref().map(|status| &status.conditions);
                let registered = conditions.and_then(|list| list.find(condition_types::REGISTERED));
                record.metadata.deletion_timestamp.is_none()
                    && registered.is_some_and(|registered| {
                        registered.status == ConditionStatus::True
                            && registered.observed_generation == record.metadata.generation
                    })
            };
            Ok((found.len() == records && found.iter().all(is_settled)).then_some(()))
        })
        .await
    }
}
