//! Defects of `Running`: creations that do not complete, or complete more than once.

use crate::Defect;
use crate::driver::Driver;
use crate::history::CREATED;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use crate::{cloud_lookup, last_reply};

/// After how many Succ [`Defect::SuccThenRunning`] returns Running once more.
const RUNNING_AFTER: u64 = 4;

pub(crate) fn before(defect: Defect, driver: &Driver, request: &mut HookRequest) -> Option<Reply> {
    if request.does("createLoadBalancer") {
        return before_create(defect, driver, request);
    }
    match defect {
        Defect::DeleteWhileCreatingLeaks
            if request.does("deleteLoadBalancer") && request.map("lbInfo").is_empty() =>
        {
            // The right driver finds the creation by the recordID.
            request.set("recordID", "forgotten");
            None
        }
        Defect::ForgetsOnRestart if request.does("ensureBackend") => {
            let instance = request.endpoint()?.load_balancer;
            let mut made = cloud_lookup::created_instances(&driver.cloud).into_iter();
            let is_made = made.any(|made| made.endpoint.load_balancer == instance);
            let forgotten = is_made && !driver.memory.contains(CREATED, &instance);
            forgotten.then(|| Reply::fail("no such load balancer in memory"))
        }
        _ => None,
    }
}

fn before_create(defect: Defect, driver: &Driver, request: &mut HookRequest) -> Option<Reply> {
    let record = request.record_id().to_owned();
    match defect {
        Defect::CreateRunsForever => {
            run_forever(request);
            None
        }
        Defect::HttpCreateRunsForever if request.wants_http() => {
            run_forever(request);
            None
        }
        Defect::PollStartsAgain if !driver.memory.contains("ended", &record) => {
            let number = driver.memory.count(defect.id(), &record);
            if number > 0 {
                cloud_lookup::create_another(
                    &driver.cloud,
                    &format!("{record}, once more: {number}"),
                );
            }
            None
        }
        Defect::SuccThenRunning if driver.memory.number(defect.id(), &record) == RUNNING_AFTER => {
            driver.memory.count(defect.id(), &record);
            Some(Reply::running("checking whether it still exists"))
        }
        Defect::EarlyPollFails if last_reply::is_early_poll(driver, request) => {
            Some(Reply::fail("polled too early"))
        }
        Defect::JobLostOnRestart => {
            let is_made = |token: Option<&str>| token == Some(record.as_str());
            let state = driver.cloud.state();
            let mut instances = state.load_balancers.iter();
            let running =
                instances.any(|it| it.creating.is_some() && is_made(it.client_token.as_deref()));
            if running && !driver.memory.contains(defect.id(), &record) {
                return Some(Reply::fail("no such job"));
            }
            driver.memory.put(defect.id(), &record, true);
            None
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    if defect == Defect::EnsureOutlivesDeregister && reply.is_succ() {
        register_late(defect, driver, request, reply);
    }
    if !request.is("createLoadBalancer") {
        return;
    }
    match defect {
        Defect::CreateRunsForever | Defect::HttpCreateRunsForever
            if request.noted && !reply.has_status("Fail") =>
        {
            *reply = Reply::running("creating");
        }
        Defect::PollStartsAgain if reply.is_succ() && !request.dry_run() => {
            driver.memory.put("ended", request.record_id(), true);
        }
        Defect::SuccThenRunning if reply.is_succ() && !request.dry_run() => {
            driver.memory.count(defect.id(), request.record_id());
        }
        _ => {}
    }
}

/// Registers a backend when ensureBackend is called for the second time, or when it is deregistered before that.
fn register_late(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    let (key, address) = (request.backend_key(), request.text("backendAddr"));
    let Some(endpoint) = request.endpoint() else {
        return;
    };
    if request.does("ensureBackend") && driver.memory.count(defect.id(), &key) == 0 {
        let _ = driver.cloud.unbind(&endpoint, address);
        *reply = Reply::running("registering");
    } else if request.does("deregisterBackend") && driver.memory.number(defect.id(), &key) == 1 {
        driver.memory.count(defect.id(), &key);
        let target = cloud_lookup::stray(request.map("parameters"));
        let _ = driver.cloud.bind(&endpoint, address, target);
    }
}

/// Makes the right driver check the request without creating anything.
fn run_forever(request: &mut HookRequest) {
    request.noted = true;
    request.set("dryRun", true);
}
