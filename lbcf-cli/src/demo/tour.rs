//! The tour: runs the steps in order, measures each and counts its webhook calls.

use super::environment::DemoEnvironment;
use super::kubectl::{EXISTING_LOAD_BALANCER, NAMESPACE};
use super::load::{LoadGenerator, TrafficReport};
use super::printer::Printer;
use super::report::{Report, StepReport};
use super::scenario::Scenario;
use super::steps::{self, StepOutcome, TourStep};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::time::Instant;

/// What to do when another driver does not get past the first step.
const OTHER_FIELDS: &str = "the driver did not work with the fields in deploy/examples, which are those of the mock. With \
    fields of its own: --fixture FILE, the description that `lbcf conformance` uses; or with manifests of your own: \
    lbcf dev --driver-url URL --apply FOLDER";

/// Runs every step, also after one has failed; of a driver that does not get past the first step, only the
/// last one, which cleans up.
pub(super) async fn run(
    environment: &mut DemoEnvironment,
    printer: &Printer,
    pods: u16,
) -> io::Result<Report> {
    let mut scenario = Scenario::new(environment, printer, pods);
    let mut reports = Vec::new();
    let mut load: Option<LoadGenerator> = None;
    let mut traffic: Option<TrafficReport> = None;
    let mut is_other = false;
    let all = scenario.profile.steps;
    for (at, step) in all.iter().enumerate() {
        let title = step.title(&scenario);
        let id = step.id(&scenario.profile);
        printer.step_started(at + 1, all.len(), id, &title)?;
        if *step == TourStep::Teardown
            && let Some(load) = load.take()
        {
            // The load balancer is deleted, so its clients have to be gone.
            traffic = Some(load.stop().await);
        }
        let sent = load.as_ref().map(LoadGenerator::report);
        let before = scenario.environment.calls();
        let began = Instant::now();
        let outcome = match is_other {
            true if *step != TourStep::Teardown => {
                Ok(StepOutcome::Skipped("the first step failed"))
            }
            _ => step.run(&mut scenario).await,
        };
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut report = StepReport {
            id,
            title,
            passed: false,
            ms,
            webhooks: difference(&before, &scenario.environment.calls()),
            traffic: load
                .as_ref()
                .zip(sent)
                .map(|(load, sent)| load.report().since(&sent)),
            error: None,
            skipped: None,
        };
        match outcome {
            Ok(StepOutcome::Passed) => report.passed = true,
            Ok(StepOutcome::Skipped(reason)) => report.skipped = Some(reason.to_owned()),
            Err(error) => {
                report.error = Some(error);
                is_other |= *step == TourStep::Register && !scenario.environment.has_mock();
            }
        }
        let cloud = scenario.environment.cloud.describe().await;
        printer.step_ended(&report, &cloud)?;
        reports.push(report);
        // With a single pod, requests fail whenever that is not registered.
        if *step == TourStep::Register && pods > 1 {
            let cloud = scenario.environment.forwarding_cloud();
            load = cloud.and_then(LoadGenerator::start);
        }
    }
    let mut leaked = scenario.environment.cloud.left_behind().await;
    leaked.extend(steps::left_in_cluster(&scenario.environment.client()).await);
    let report = Report::new(reports, leaked, traffic);
    printer.summary(&report)?;
    if is_other {
        match &scenario.profile.source {
            None => writeln!(io::stderr(), "lbcf: {OTHER_FIELDS}")?,
            Some(source) => writeln!(
                io::stderr(),
                "lbcf: the driver did not work with the fields of {source}: the first items of loadBalancer.valid and backend.parameters.valid"
            )?,
        }
    }
    Ok(report)
}

/// Creates everything again, for the user to try kubectl.
pub(super) async fn set_up_again(
    environment: &mut DemoEnvironment,
    printer: &Printer,
    pods: u16,
) -> io::Result<()> {
    let silent = Printer::new(super::Output::Json);
    let kubeconfig = environment.kubeconfig().display().to_string();
    let mut scenario = Scenario::new(environment, &silent, pods);
    if let Err(error) = TourStep::Register.run(&mut scenario).await {
        return printer.line(format!("setting everything up again failed: {error}"));
    }
    printer.line("")?;
    printer.line("Everything is running again. In another terminal, try:")?;
    printer.line(format!("  export KUBECONFIG={kubeconfig}"))?;
    for command in [
        "kubectl get lbd,lb,bg,br -A".to_owned(),
        format!("kubectl get br -n {NAMESPACE} -w"),
        format!("kubectl delete pod -n {NAMESPACE} my-pod-0"),
        format!("kubectl describe lb -n {NAMESPACE} my-load-balancer-1"),
    ] {
        printer.line(format!("  {command}"))?;
    }
    if scenario.profile.load_balancers.is_none() {
        printer.line(format!("  kubectl apply -f {}", EXISTING_LOAD_BALANCER.0))?;
    }
    if scenario.environment.has_mock() {
        let url = &scenario.environment.driver_url;
        printer.line(format!("  curl {url}/_mock/state"))?;
        printer.line(format!(
            "Or open {url}/ in a browser: the cloud, its calls, and switches for faults."
        ))?;
    }
    if let Some(cloud) = scenario.environment.forwarding_cloud() {
        for load_balancer in cloud.traffic().into_values() {
            let listeners = load_balancer.listeners.into_iter();
            for addr in listeners
                .filter(|it| !it.backends.is_empty())
                .filter_map(|it| it.listens)
            {
                printer.line(format!("  curl http://{addr}/   # the load balancer"))?;
            }
        }
    }
    printer.line("Ctrl-C ends it.")
}

/// Deletes what another driver has been asked for.
pub(super) async fn clean_up(
    environment: &mut DemoEnvironment,
    printer: &Printer,
) -> io::Result<()> {
    printer.line("deleting what the demo created; with a second Ctrl-C it is left behind")?;
    let silent = Printer::new(super::Output::Json);
    let mut scenario = Scenario::new(environment, &silent, 0);
    match steps::clean_up(&mut scenario).await {
        Ok(()) => printer.line("deleted"),
        Err(error) => writeln!(
            io::stderr(),
            "lbcf: the driver's cloud may have something left: {error}"
        ),
    }
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
