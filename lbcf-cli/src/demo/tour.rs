//! The tour: runs the steps in order, measures each and counts its webhook calls.

use super::args::Output;
use super::environment::DemoEnvironment;
use super::examples::{EXISTING_LOAD_BALANCER, LOAD_BALANCER_NAME, NAMESPACE};
use super::maps::in_words;
use super::printer::Printer;
use super::profile::Profile;
use super::report::{Report, StepReport};
use super::scenario::{Scenario, StepOutcome, StepResult};
use super::steps::{
    bind, load_balancer, outages, parameters, pods, rollout, static_addresses, teardown,
};
use futures::future::LocalBoxFuture;
use mock_driver::{Cloud, LoadGenerator, TrafficReport};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::time::Instant;

/// Advice when another driver does not get past the first step.
const OTHER_FIELDS: &str = "the driver did not work with the fields in deploy/examples, which are those of the mock. With \
    fields of its own: --fixture FILE, the description that `lbcf conformance` uses; or with manifests of your own: \
    lbcf dev --driver-url URL --apply FOLDER";

struct Step {
    id: &'static str,
    /// With placeholders for what depends on the profile.
    title: &'static str,
    run: for<'a> fn(&'a mut Scenario<'_>) -> LocalBoxFuture<'a, StepResult>,
}

const REGISTER: &str = "register";
const INTERNAL: &str = "internal";
const TEARDOWN: &str = "teardown";

/// All steps in their order.
const STEPS: [Step; 17] = [
    Step {
        id: REGISTER,
        title: "driver, load balancer, {pods} pods and a group with {parameters}: as many targets in the cloud",
        run: |scenario| Box::pin(pods::register(scenario)),
    },
    Step {
        id: "refused",
        title: "parameters that the driver does not accept: validateBackend refuses it, and nothing changes",
        run: |scenario| Box::pin(parameters::refused(scenario)),
    },
    Step {
        id: "not-ready",
        title: "one pod becomes NotReady: its target is removed, the others are not touched",
        run: |scenario| Box::pin(pods::not_ready(scenario)),
    },
    Step {
        id: "ready-again",
        title: "it becomes Ready again: its target is added again",
        run: |scenario| Box::pin(pods::ready_again(scenario)),
    },
    Step {
        id: "judged",
        title: "a pod becomes NotReady, and the driver decides that it stays registered; without the annotation that it goes by, it does not",
        run: |scenario| Box::pin(pods::judged(scenario)),
    },
    Step {
        id: "{weight}",
        title: "the group's parameters change{to}: every target gets them",
        run: |scenario| Box::pin(parameters::updated(scenario)),
    },
    Step {
        id: "scale-up",
        title: "a pod is added: so is its target",
        run: |scenario| Box::pin(pods::scale_up(scenario)),
    },
    Step {
        id: "pod-deleted",
        title: "a pod is deleted: so is its target",
        run: |scenario| Box::pin(pods::pod_deleted(scenario)),
    },
    Step {
        id: "attributes",
        title: "attributes of the load balancer change: exactly one ensureLoadBalancer",
        run: |scenario| Box::pin(load_balancer::attributes(scenario)),
    },
    Step {
        id: INTERNAL,
        title: "the load balancer becomes internal and public again: the frontend and its backends move to another load balancer, and the public IP goes and comes",
        run: |scenario| Box::pin(load_balancer::internal(scenario)),
    },
    Step {
        id: "driver-down",
        title: "the driver is down while a pod is deleted and one is added: applied when it is up again",
        run: |scenario| Box::pin(outages::driver_down(scenario)),
    },
    Step {
        id: "controller-restart",
        title: "the controller is killed while a pod is deleted: the next one continues",
        run: |scenario| Box::pin(outages::controller_restart(scenario)),
    },
    Step {
        id: "static",
        title: "static addresses are registered with {static}",
        run: |scenario| Box::pin(static_addresses::register(scenario)),
    },
    Step {
        id: "left-over",
        title: "a user deletes their records by force while the driver cannot deregister: the audit finds the addresses in the cloud and removes them when it can",
        run: |scenario| Box::pin(static_addresses::left_over(scenario)),
    },
    Step {
        id: "bind",
        title: "a Bind: two load balancers and their pods in one object, created and deleted",
        run: |scenario| Box::pin(bind::run(scenario)),
    },
    Step {
        id: "rollout",
        title: "a Deployment behind a Service is rolled out: its pods wait for the load balancer, so the cloud never has fewer targets than replicas",
        run: |scenario| Box::pin(rollout::run(scenario)),
    },
    Step {
        id: TEARDOWN,
        title: "group, load balancer and driver are deleted: the cloud and the cluster are empty",
        run: |scenario| Box::pin(teardown::teardown(scenario)),
    },
];

impl Step {
    fn id(&self, profile: &Profile) -> &'static str {
        match self.id {
            "{weight}" if profile.parameters.contains_key("weight") => "weight",
            "{weight}" => "parameters",
            id => id,
        }
    }

    fn title(&self, scenario: &Scenario<'_>) -> String {
        let profile = &scenario.profile;
        let updated = profile.updated_parameters.as_ref();
        let to = updated.map(|updated| format!(" to {}", in_words(updated)));
        self.title
            .replace("{pods}", &scenario.pods.len().to_string())
            .replace("{parameters}", &in_words(&profile.parameters))
            .replace("{to}", &to.unwrap_or_default())
            .replace("{static}", profile.static_load_balancer)
    }
}

struct Tour<'a> {
    scenario: Scenario<'a>,
    printer: &'a Printer,
    load: Option<LoadGenerator>,
    /// All requests, after the last one.
    traffic: Option<TrafficReport>,
    reports: Vec<StepReport>,
    /// Another driver than the mock did not get past the first step.
    is_stuck: bool,
}

/// Runs every step, also after one has failed; of a driver that does not get past the first step, only the
/// last one, which cleans up.
pub(super) async fn run(
    environment: &mut DemoEnvironment,
    printer: &Printer,
    pod_count: u16,
) -> io::Result<Report> {
    let mut tour = Tour {
        scenario: Scenario::new(environment, printer, pod_count),
        printer,
        load: None,
        traffic: None,
        reports: Vec::new(),
        is_stuck: false,
    };
    let has_internal = tour.scenario.profile.has_internal;
    let steps = STEPS
        .iter()
        .filter(|step| has_internal || step.id != INTERNAL);
    let steps: Vec<_> = steps.collect();
    for (step, number) in steps.iter().zip(1..) {
        let (id, title) = (step.id(&tour.scenario.profile), step.title(&tour.scenario));
        printer.step_started(number, steps.len(), id, &title)?;
        tour.take(step, id, title).await?;
    }
    let (scenario, is_stuck) = (tour.scenario, tour.is_stuck);
    let mut leaked = scenario.environment.cloud.left_behind().await;
    leaked.extend(teardown::left_in_cluster(&scenario.environment.client()).await);
    let report = Report::new(tour.reports, leaked, tour.traffic);
    printer.summary(&report)?;
    if is_stuck {
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

impl Tour<'_> {
    /// Runs a step, and reports it.
    async fn take(&mut self, step: &Step, id: &'static str, title: String) -> io::Result<()> {
        if step.id == TEARDOWN
            && let Some(load) = self.load.take()
        {
            // The load balancer is deleted, so its clients have to be gone.
            self.traffic = Some(load.stop().await);
        }
        let sent = self.load.as_ref().map(LoadGenerator::report);
        let before = self.scenario.environment.calls();
        let began = Instant::now();
        let outcome = match self.is_stuck && step.id != TEARDOWN {
            true => Ok(StepOutcome::Skipped("the first step failed")),
            false => (step.run)(&mut self.scenario).await,
        };
        let environment = &*self.scenario.environment;
        let load = self.load.as_ref().zip(sent);
        let mut report = StepReport {
            id,
            title,
            passed: false,
            ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            webhooks: difference(&before, &environment.calls()),
            traffic: load.map(|(load, sent)| load.report().since(&sent)),
            error: None,
            skipped: None,
        };
        match outcome {
            Ok(StepOutcome::Passed) => report.passed = true,
            Ok(StepOutcome::Skipped(reason)) => report.skipped = Some(reason.to_owned()),
            Err(error) => {
                report.error = Some(error);
                self.is_stuck |= step.id == REGISTER && !environment.has_mock();
            }
        }
        let cloud = environment.cloud.describe().await;
        self.printer.step_ended(&report, &cloud)?;
        self.reports.push(report);
        // With a single pod, requests fail whenever that is not registered.
        if step.id == REGISTER && self.scenario.pods.len() > 1 {
            let cloud = environment.forwarding_cloud();
            self.load = cloud.and_then(requests);
        }
        Ok(())
    }
}

/// The paths of requests: most take no time, and some are always being answered, so that a backend is never
/// removed while nothing is open on it.
const PATHS: [&str; 2] = ["/", "/slow?ms=100"];
/// The most requests in a second.
const RATE: u32 = 1600;

/// Sends requests to the load balancer that has backends, if there is one, while the tour changes everything
/// behind it.
fn requests(cloud: &Cloud) -> Option<LoadGenerator> {
    let traffic = cloud.traffic().into_values();
    let mut listeners = traffic.flat_map(|load_balancer| load_balancer.listeners);
    let addr = listeners.find(|it| !it.backends.is_empty())?.listens?;
    let request = move |client: usize| Some((addr, PATHS[client % PATHS.len()].to_owned()));
    Some(LoadGenerator::start(RATE, request))
}

/// Creates everything again, for the user to try kubectl.
pub(super) async fn set_up_again(
    environment: &mut DemoEnvironment,
    printer: &Printer,
    pod_count: u16,
) -> io::Result<()> {
    let silent = Printer::new(Output::Json);
    let kubeconfig = environment.kubeconfig().display().to_string();
    let mut scenario = Scenario::new(environment, &silent, pod_count);
    if let Err(error) = pods::register(&mut scenario).await {
        return printer.line(format!("setting everything up again failed: {error}"));
    }
    printer.line("")?;
    printer.line("Everything is running again. In another terminal, try:")?;
    printer.line(format!("  export KUBECONFIG={kubeconfig}"))?;
    for command in [
        "kubectl get lbd,lb,bg,br -A".to_owned(),
        format!("kubectl get br -n {NAMESPACE} -w"),
        format!("kubectl delete pod -n {NAMESPACE} my-pod-0"),
        format!("kubectl describe lb -n {NAMESPACE} {LOAD_BALANCER_NAME}"),
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
            "Or open {url}/ in a browser: the cloud, its calls, and switches for requests and faults."
        ))?;
    }
    if let Some(cloud) = scenario.environment.forwarding_cloud() {
        let traffic = cloud.traffic().into_values();
        let listeners = traffic.flat_map(|load_balancer| load_balancer.listeners);
        let serving = listeners.filter(|it| !it.backends.is_empty());
        for addr in serving.filter_map(|it| it.listens) {
            printer.line(format!("  curl http://{addr}/   # the load balancer"))?;
        }
    }
    printer.line("Ctrl-C ends it.")
}

/// Deletes what the demo asked another driver for.
pub(super) async fn clean_up(environment: &mut DemoEnvironment, printer: &Printer) {
    // A closed output must not stop the deletion.
    let say = |text: &str| drop(printer.line(text));
    say("deleting what the demo created; with a second Ctrl-C it is left behind");
    let silent = Printer::new(Output::Json);
    let mut scenario = Scenario::new(environment, &silent, 0);
    match teardown::clean_up(&mut scenario).await {
        Ok(()) => say("deleted"),
        Err(error) => drop(writeln!(
            io::stderr(),
            "lbcf: the driver's cloud may have something left: {error}"
        )),
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
