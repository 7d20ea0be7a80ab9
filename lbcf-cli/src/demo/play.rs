//! What the steps of the tour share: the stage, the pods that are there, and the waiting for what
//! the cloud shall show.

use super::cloud_view::{CloudView, Registered};
use super::kubectl::{Kubectl, NAMESPACE};
use super::screen::Screen;
use super::stage::Stage;
use lbcf_controller::api::{BackendRecord, ConditionStatus, Conditions, condition_types};
use std::time::{Duration, Instant};

/// How long a step waits for the cloud to show what it should.
const DEADLINE: Duration = Duration::from_secs(15);
/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What the steps share.
pub(super) struct Play<'a> {
    pub(super) stage: &'a mut Stage,
    pub(super) kubectl: Kubectl,
    /// The pods that are there.
    pub(super) pods: Vec<String>,
    /// The number that the next pod's name gets.
    pub(super) next_pod: usize,
    /// The weight that targets shall have.
    pub(super) weight: &'static str,
    screen: &'a Screen,
}

impl<'a> Play<'a> {
    pub(super) fn new(stage: &'a mut Stage, screen: &'a Screen, pods: u16) -> Self {
        let pods: Vec<String> = (0..pods).map(|number| format!("my-pod-{number}")).collect();
        Self {
            kubectl: stage.kubectl(),
            stage,
            next_pod: pods.len(),
            pods,
            weight: "50",
            screen,
        }
    }

    /// Shows a command.
    pub(super) fn shows(&self, command: impl AsRef<str>) -> Result<(), String> {
        self.screen
            .command(command.as_ref())
            .map_err(|error| error.to_string())
    }

    /// Shows something that is no command.
    pub(super) fn notes(&self, text: impl AsRef<str>) -> Result<(), String> {
        self.screen
            .note(text.as_ref())
            .map_err(|error| error.to_string())
    }

    /// Waits until just these pods are registered, each with the present weight.
    pub(super) async fn registered_are(&self, pods: &[String]) -> Result<(), String> {
        let mut with_ip = Vec::new();
        for pod in pods {
            let ip = until(&format!("pod {pod} has an address"), async || {
                self.kubectl.pod_ip(pod).await
            })
            .await?;
            with_ip.push((pod.clone(), ip));
        }
        let expected = self.stage.cloud.expected(&with_ip, self.weight);
        self.until_cloud("the cloud has just the expected targets", &expected)
            .await?;
        self.at_rest(pods.len()).await
    }

    /// Waits until the controller has noted all that it did, so that nothing of this step is
    /// counted for the next one.
    async fn at_rest(&self, records: usize) -> Result<(), String> {
        until("the controller has noted what it did", async || {
            let found: Vec<BackendRecord> = self.kubectl.list(NAMESPACE).await?;
            let is_noted = |record: &BackendRecord| {
                let conditions = record.status.as_ref().map(|status| &status.conditions);
                let registered = conditions.and_then(|list| list.find(condition_types::REGISTERED));
                record.metadata.deletion_timestamp.is_none()
                    && registered.is_some_and(|registered| {
                        registered.status == ConditionStatus::True
                            && registered.observed_generation == record.metadata.generation
                    })
            };
            Ok((found.len() == records && found.iter().all(is_noted)).then_some(()))
        })
        .await
    }

    async fn until_cloud(&self, what: &str, expected: &Registered) -> Result<(), String> {
        let seen = std::cell::RefCell::new(Registered::default());
        until(what, async || {
            let registered = self.stage.cloud.registered().await?;
            let is_reached = registered == *expected;
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

    /// Whether the demo sees into the cloud.
    pub(super) const fn sees_cloud(&self) -> bool {
        matches!(self.stage.cloud, CloudView::Mock(_))
    }
}

/// Waits until something is there, looking often.
pub(super) async fn until<T>(
    what: &str,
    look: impl AsyncFn() -> Result<Option<T>, String>,
) -> Result<T, String> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        if Instant::now() > deadline {
            return Err(format!("not within {} s: {what}", DEADLINE.as_secs()));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
