//! The state that the steps of the tour share, and waiting for the expected state of the cloud.

use super::cloud_view::{CloudView, Registered};
use super::environment::DemoEnvironment;
use super::kubectl::{self, Kubectl, NAMESPACE};
use super::printer::Printer;
use super::profile::{Manifest, Profile};
use crate::waiting::until;
use lbcf_controller::api::{
    BackendRecord, ConditionStatus, Conditions, NamespacedKind, condition_types,
};
use lbcf_driver_sdk::webhook::StringMap;

/// The state that the steps share.
pub(super) struct Scenario<'a> {
    pub(super) environment: &'a mut DemoEnvironment,
    pub(super) kubectl: Kubectl,
    /// The names of the existing pods.
    pub(super) pods: Vec<String>,
    /// The number in the next pod's name.
    pub(super) next_pod: usize,
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
            kubectl: environment.kubectl(),
            environment,
            next_pod: pods.len(),
            pods,
            parameters: profile.parameters.clone(),
            profile,
            printer,
        }
    }

    /// Prints the kubectl command that a user would type.
    pub(super) fn print_command(&self, command: impl AsRef<str>) -> Result<(), String> {
        self.printer
            .command(command.as_ref())
            .map_err(|error| error.to_string())
    }

    /// Prints and applies a manifest.
    pub(super) async fn apply<K: NamespacedKind>(&self, manifest: &Manifest) -> Result<(), String> {
        let differences = kubectl::differences(manifest)?;
        let mut command = format!("kubectl apply -f {}", manifest.file.0);
        if !differences.is_empty() {
            command += &format!("   # with {}", differences.join(", "));
        }
        self.print_command(command)?;
        self.kubectl.apply_changed::<K>(manifest).await
    }

    pub(super) fn print_note(&self, text: impl AsRef<str>) -> Result<(), String> {
        self.printer
            .note(text.as_ref())
            .map_err(|error| error.to_string())
    }

    /// Waits until exactly these pods are registered with the expected parameters, and the controller has
    /// stored so.
    pub(super) async fn until_registered(&self, pods: &[String]) -> Result<(), String> {
        let with_ip = self.addressed(pods).await?;
        let cloud = &self.environment.cloud;
        let expected = cloud.expected(&with_ip, &self.parameters);
        self.until_cloud("the cloud has exactly the expected targets", &expected)
            .await?;
        self.until_settled(pods.len()).await
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
            let found: Vec<BackendRecord> = self.kubectl.list(NAMESPACE).await?;
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

    async fn until_cloud(&self, what: &str, expected: &Registered) -> Result<(), String> {
        let seen = std::cell::RefCell::new(Registered::default());
        until(what, async || {
            let registered = self.environment.cloud.registered().await?;
            let is_reached = registered.has_exactly(expected);
            *seen.borrow_mut() = registered;
            Ok(is_reached.then_some(()))
        })
        .await
        .map_err(|error| {
            format!(
                "{error}: expected {:?}, found {:?}",
                expected.targets,
                seen.borrow().targets
            )
        })
    }

    /// Whether the state of the cloud is accessible, rather than only the records.
    pub(super) const fn has_cloud_access(&self) -> bool {
        !matches!(self.environment.cloud, CloudView::Records(_))
    }
}
