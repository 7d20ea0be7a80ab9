//! The rehearsal: an embedded cluster with copies of the objects, and the controller.

use super::Plan;
use super::copy::{Copy, copy};
use super::stand_in::{Driver, StandIn};
use crate::drivers::{Drivers, host_of};
use crate::local_stack::{LocalStack, StackError};
use kube::Client;
use kube::api::DynamicObject;
use lbcf_controller::names::CONTROLLER;
use lbcf_controller::{Backoff, DriverAddresses, Options};
use lbcf_inspect::Cluster;
use local_cluster::{LocalClusterOptions, RequestCounts};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// The number of looks without a call and a write after which a rehearsal is over, and the time between two.
const QUIET: u32 = 20;
const INTERVAL: Duration = Duration::from_millis(15);
/// The longest rehearsal.
const LONGEST: Duration = Duration::from_secs(60);
/// Longer than any rehearsal.
const NEVER: Duration = Duration::from_secs(3600);

/// Rehearses a change of a cluster: `change` gets a client of the copy. `manifests` are the objects that it applies, if they
/// are known.
///
/// # Errors
/// The embedded cluster or the controller does not start.
pub async fn rehearse<T>(
    cluster: &Cluster,
    manifests: &[DynamicObject],
    drivers: &Drivers,
    change: impl AsyncFnOnce(Client) -> T,
) -> Result<(Plan, T), StackError> {
    let copy = copy(cluster, manifests);
    let options = LocalClusterOptions {
        nodes: Vec::new(),
        run_pods: false,
        ..LocalClusterOptions::default()
    };
    let mut stack = LocalStack::unserved(options).await?;
    let rehearsed = rehearse_in(&mut stack, copy, drivers, change).await;
    stack.shut_down().await;
    rehearsed
}

async fn rehearse_in<T>(
    stack: &mut LocalStack,
    mut copy: Copy,
    drivers: &Drivers,
    change: impl AsyncFnOnce(Client) -> T,
) -> Result<(Plan, T), StackError> {
    let stand_in = StandIn::start(stood_in_for(&mut copy, drivers)).await;
    let stand_in = stand_in.map_err(|error| StackError::Prepare(error.to_string()))?;
    let hosts = copy.drivers.values().filter_map(|it| host_of(url(it)));
    let to_stand_in = hosts.map(|host| (host.clone(), format!("{}/{host}", stand_in.url)));
    let options = options(to_stand_in.collect());
    if let Some(embedded) = stack.embedded() {
        embedded.import(copy.objects).map_err(StackError::Cluster)?;
    }
    stack.start_controller(options).await?;
    // What is still to be done is not the change's doing.
    let mut is_over = rest(stack, &stand_in).await;
    let mut notes = copy.notes;
    let open = stand_in.take_calls().len();
    if open > 0 {
        notes.push(format!(
            "the controller has work to do without this change: {open} calls"
        ));
    }
    let before = writes(stack);
    let changed = change(stack.client_as("lbcf")).await;
    is_over &= rest(stack, &stand_in).await;
    if !is_over {
        let longest = LONGEST.as_secs();
        notes.push(format!("it goes on after {longest} s, which is not shown"));
    }
    let calls = stand_in.take_calls();
    notes.extend(stand_in.notes(&calls));
    let plan = Plan {
        calls,
        writes: writes(stack).since(&before),
        notes,
    };
    Ok((plan, changed))
}

/// Waits until nothing happens any more; false if that takes too long.
async fn rest(stack: &LocalStack, stand_in: &StandIn) -> bool {
    let activity = || (writes(stack), stand_in.count());
    let deadline = Instant::now() + LONGEST;
    let (mut before, mut looks) = (activity(), 0);
    // Looks, not time: each lets a busy machine go on with what is to happen.
    while looks < QUIET {
        if Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(INTERVAL).await;
        let now = activity();
        looks += 1;
        if now != before || !stack.is_at_rest() {
            (before, looks) = (now, 0);
        }
    }
    true
}

/// The controller's writes so far, without events.
fn writes(stack: &LocalStack) -> RequestCounts {
    let counts = stack.embedded().map(|it| it.requests()).unwrap_or_default();
    let writes = counts
        .iter()
        .filter(|(key, _)| key.user_agent == CONTROLLER && key.is_write() && !key.is_event());
    writes.map(|(key, count)| (key.clone(), count)).collect()
}

/// Nothing waits for a time that only protects traffic, and what is refused is not tried again.
fn options(connect_to: BTreeMap<String, String>) -> Options {
    let soon = Duration::from_millis(20);
    Options {
        backoff: Backoff {
            min: NEVER,
            step: NEVER,
            max: NEVER,
        },
        poll_interval: soon,
        status_interval: soon,
        endpoint_grace_period: Duration::ZERO,
        orphan_grace_period: Duration::ZERO,
        readiness_brake: Duration::ZERO,
        audit_period: Duration::ZERO,
        address_timeout: NEVER,
        driver_health_period: Some(NEVER),
        // Only the stand-in.
        driver_addresses: DriverAddresses::default(),
        driver_addresses_of_tenants: DriverAddresses::default(),
        connect_to,
        ..Options::default()
    }
}

/// The copied drivers, by the hosts of their URLs. Drivers of one host cannot be told apart, and are not asked.
fn stood_in_for(copy: &mut Copy, drivers: &Drivers) -> BTreeMap<String, Driver> {
    let mut by_host = BTreeMap::new();
    for (key, driver) in &copy.drivers {
        let Some(host) = host_of(url(driver)) else {
            continue;
        };
        let text = |name| driver.get(name).unwrap_or(&Value::Null);
        let (spec, status) = (text("spec"), text("status"));
        let mut stood_in_for = Driver {
            client: drivers.client(key, url(driver)).ok(),
            accepts_dry_runs: spec["acceptDryRunCall"] == true,
            healthz: json!({
                "healthy": true, "specification": status["specification"], "features": status["features"],
            }),
        };
        if by_host.contains_key(&host) {
            stood_in_for.client = None;
            let note = format!(
                "several drivers are at {host}: none is asked, and all are assumed to succeed"
            );
            copy.notes.push(note);
        }
        by_host.insert(host, stood_in_for);
    }
    by_host
}

fn url(driver: &Map<String, Value>) -> &str {
    let spec = driver.get("spec");
    spec.and_then(|it| it["url"].as_str()).unwrap_or_default()
}
