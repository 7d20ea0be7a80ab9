//! The tour: the steps in their order, each timed, counted and judged.

use super::cloud_view::{CloudView, Registered};
use super::kubectl::{Kubectl, NAMESPACE};
use super::report::{Report, StepReport};
use super::screen::Screen;
use super::stage::Stage;
use super::steps::{self, STEPS};
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

/// How long a step waits for the cloud to show what it should.
const DEADLINE: Duration = Duration::from_secs(15);
/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What the steps share.
pub(super) struct Tour<'a> {
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

impl<'a> Tour<'a> {
    fn new(stage: &'a mut Stage, screen: &'a Screen, pods: u16) -> Self {
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

/// Takes every step; one that fails does not keep the others from being taken.
pub(super) async fn take(stage: &mut Stage, screen: &Screen, pods: u16) -> io::Result<Report> {
    let mut tour = Tour::new(stage, screen, pods);
    let mut reports = Vec::new();
    for (at, step) in STEPS.iter().enumerate() {
        let title = step.title(&tour);
        screen.step_begins(at + 1, STEPS.len(), step.id(), &title)?;
        let before = tour.stage.calls();
        let began = Instant::now();
        let outcome = step.take(&mut tour).await;
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut report = StepReport {
            id: step.id(),
            title,
            passed: false,
            ms,
            webhooks: difference(&before, &tour.stage.calls()),
            error: None,
            skipped: None,
        };
        match outcome {
            Ok(steps::Taken::Passed) => report.passed = true,
            Ok(steps::Taken::Skipped(reason)) => report.skipped = Some(reason.to_owned()),
            Err(error) => report.error = Some(error),
        }
        let cloud = tour.stage.cloud.describe().await;
        screen.step_ends(&report, &cloud)?;
        reports.push(report);
    }
    let mut leaked = tour.stage.cloud.left_behind();
    leaked.extend(steps::left_in_cluster(&tour.stage.client()).await);
    let report = Report::new(reports, leaked);
    screen.closing(&report)?;
    Ok(report)
}

/// Builds everything up once more, for people to play with.
pub(super) async fn set_up_again(stage: &mut Stage, screen: &Screen, pods: u16) -> io::Result<()> {
    let silent = Screen::new(super::Output::Json);
    let kubeconfig = stage.kubeconfig.display().to_string();
    let mut tour = Tour::new(stage, &silent, pods);
    if let Err(error) = STEPS[0].take(&mut tour).await {
        return screen.line(format!("setting everything up again failed: {error}"));
    }
    screen.line("")?;
    screen.line("Everything is up again, for you to play with. In another terminal:")?;
    screen.line(format!("  export KUBECONFIG={kubeconfig}"))?;
    for command in [
        "kubectl get lbd,lb,bg,br -A".to_owned(),
        format!("kubectl get br -n {NAMESPACE} -w"),
        format!("kubectl delete pod -n {NAMESPACE} my-pod-0"),
        format!("kubectl describe lb -n {NAMESPACE} my-load-balancer-1"),
        "kubectl apply -f deploy/examples/20-load-balancer-existing.yaml".to_owned(),
    ] {
        screen.line(format!("  {command}"))?;
    }
    if tour.sees_cloud() {
        screen.line(format!("  curl {}/_mock/state", tour.stage.driver_url))?;
    }
    screen.line("Ctrl-C ends it.")
}

fn difference(
    before: &BTreeMap<&'static str, u64>,
    after: &BTreeMap<&'static str, u64>,
) -> BTreeMap<&'static str, u64> {
    after
        .iter()
        .map(|(webhook, count)| (*webhook, count - before.get(webhook).unwrap_or(&0)))
        .filter(|(_, count)| *count > 0)
        .collect()
}
