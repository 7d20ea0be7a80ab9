//! Running a history.

use super::controllers::USER_AGENT;
use super::history::History;
use super::invariants::violations;
use super::kind::Kind;
use super::objects::{LIST_BACKENDS, NODES, SHOP};
use super::perform::Environment;
use super::step::HistoryStep;
use crate::cluster::is_remote;
use crate::manifests::{NAMESPACE, SYSTEM};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::json;
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;

/// So long nothing is written and no driver called before what is wrong counts as wrong for good. It is
/// longer than the back-offs of the test's controllers, the driver's timeout, and the pause before a watch is
/// repeated, which is the longer the more often it failed. Other clusters have controllers of their own that
/// wait: that of namespaces for a minute.
fn rest() -> Duration {
    Duration::from_secs(if is_remote() { 90 } else { 40 })
}
/// So long nothing may be written or called when all is right.
const QUIET: Duration = Duration::from_millis(300);
/// The longest that a step waits for everything that was started; what fails is repeated for ever.
const SETTLE: Duration = Duration::from_secs(3);
/// The longest that coming to rest may take, on a machine that is busy with other things.
const DEADLINE: Duration = Duration::from_secs(300);

/// What was found wrong after a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// One line each.
    pub violations: Vec<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for violation in &self.violations {
            writeln!(f, "- {violation}")?;
        }
        Ok(())
    }
}

/// Performs a history, ends all faults, and waits until everything is as declared; then deletes everything,
/// and waits until nothing is left.
///
/// # Errors
/// What is still wrong when nothing happens any longer, or that something happens for ever.
pub async fn run(history: &History) -> Result<(), Finding> {
    let mut environment = Environment::new(history).await;
    for step in &history.steps {
        match step {
            HistoryStep::Settle => settle(&environment).await,
            step => environment.perform(step).await,
        }
    }
    environment.heal().await;
    until_right(&mut environment, "after the history").await?;
    delete_everything(&environment).await;
    until_right(&mut environment, "after everything was deleted").await
}

/// Waits until the violations are gone and everything is at rest.
async fn until_right(environment: &mut Environment, when: &str) -> Result<(), Finding> {
    let deadline = Instant::now() + DEADLINE;
    let finding = |environment: &Environment, mut violations: Vec<String>, what: &str| {
        let controllers = environment.describe();
        violations.push(format!("({what} {when}; {controllers})"));
        Err(Finding { violations })
    };
    loop {
        let (before, began) = (activity(environment), Instant::now());
        let mut seen = violations(environment).await;
        while !seen.is_empty() && began.elapsed() < rest() {
            tokio::time::sleep(QUIET / 6).await;
            if let Some(problem) = environment.replace_ended().await {
                return finding(environment, seen, &problem);
            }
            seen = violations(environment).await;
        }
        if let Some(problem) = environment.replace_ended().await {
            return finding(environment, seen, &problem);
        }
        if seen.is_empty() {
            // Right, but it has to stay so without any work.
            let before = activity(environment);
            tokio::time::sleep(QUIET).await;
            if activity(environment) == before {
                return Ok(());
            }
        } else if activity(environment) == before {
            return finding(environment, seen, "at rest");
        }
        if Instant::now() > deadline {
            return finding(environment, seen, "never at rest");
        }
    }
}

/// Waits until nothing has happened for a time, or for a few seconds where something fails again and again.
async fn settle(environment: &Environment) {
    let deadline = Instant::now() + SETTLE;
    let (mut before, mut since) = (activity(environment), Instant::now());
    while since.elapsed() < QUIET && Instant::now() < deadline {
        tokio::time::sleep(QUIET / 20).await;
        let now = activity(environment);
        if now != before {
            (before, since) = (now, Instant::now());
        }
    }
}

/// The writes and calls of the controllers so far. Events, renewed leases and audits do not count.
fn activity(environment: &Environment) -> (u64, usize) {
    let requests = environment.world.cluster.requests();
    let writes = requests.count(|key| {
        let is_renewal = key.resource == "coordination.k8s.io/leases";
        key.user_agent == USER_AGENT && key.is_write() && !key.is_event() && !is_renewal
    });
    (writes, environment.proxy.count_without(LIST_BACKENDS))
}

/// As a user does who deletes groups before load balancers, and everything in the background.
async fn delete_everything(environment: &Environment) {
    let client = environment.world.client();
    // On other nodes pods are not stopped.
    for node in NODES {
        let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
        let (api, params) = (Kind::Node.api(&client, ""), PatchParams::default());
        let _ = api
            .patch_status(node, &params, &Patch::Strategic(ready))
            .await;
    }
    for kind in [Kind::Bind, Kind::Group, Kind::LoadBalancer, Kind::Pod] {
        let namespaces = [NAMESPACE, SHOP, SYSTEM];
        for namespace in namespaces {
            let api = kind.api(&client, namespace);
            let objects = api.list(&ListParams::default()).await;
            for object in objects.into_iter().flat_map(|list| list.items) {
                let name = object.metadata.name.unwrap_or_default();
                let _ = api.delete(&name, &DeleteParams::background()).await;
            }
        }
    }
    let _ = Kind::Namespace
        .api(&client, "")
        .delete(SHOP, &DeleteParams::default())
        .await;
}
