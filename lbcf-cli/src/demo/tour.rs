//! The tour: the steps in their order, each timed, counted and judged.

use super::kubectl::NAMESPACE;
use super::play::Play;
use super::report::{Report, StepReport};
use super::screen::Screen;
use super::stage::Stage;
use super::steps::{self, STEPS};
use std::collections::BTreeMap;
use std::io;
use std::time::Instant;

/// Takes every step; one that fails does not keep the others from being taken.
pub(super) async fn take(stage: &mut Stage, screen: &Screen, pods: u16) -> io::Result<Report> {
    let mut play = Play::new(stage, screen, pods);
    let mut reports = Vec::new();
    for (at, step) in STEPS.iter().enumerate() {
        let title = step.title(&play);
        screen.step_begins(at + 1, STEPS.len(), step.id(), &title)?;
        let before = play.stage.calls();
        let began = Instant::now();
        let outcome = step.take(&mut play).await;
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut report = StepReport {
            id: step.id(),
            title,
            passed: false,
            ms,
            webhooks: difference(&before, &play.stage.calls()),
            error: None,
            skipped: None,
        };
        match outcome {
            Ok(steps::Taken::Passed) => report.passed = true,
            Ok(steps::Taken::Skipped(reason)) => report.skipped = Some(reason.to_owned()),
            Err(error) => report.error = Some(error),
        }
        let cloud = play.stage.cloud.describe().await;
        screen.step_ends(&report, &cloud)?;
        reports.push(report);
    }
    let mut leaked = play.stage.cloud.left_behind();
    leaked.extend(steps::left_in_cluster(&play.stage.client()).await);
    let report = Report::new(reports, leaked);
    screen.closing(&report)?;
    Ok(report)
}

/// Builds everything up once more, for people to play with.
pub(super) async fn set_up_again(stage: &mut Stage, screen: &Screen, pods: u16) -> io::Result<()> {
    let silent = Screen::new(super::Output::Json);
    let kubeconfig = stage.kubeconfig.display().to_string();
    let mut play = Play::new(stage, &silent, pods);
    if let Err(error) = STEPS[0].take(&mut play).await {
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
    if play.sees_cloud() {
        screen.line(format!("  curl {}/_mock/state", play.stage.driver_url))?;
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
