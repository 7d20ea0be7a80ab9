//! Work in two steps with time between them, so that something can happen in between: another
//! request, or a disconnect.

use crate::Defect;
use crate::cloud_lookup;
use crate::concurrency::uses_stale_targets;
use crate::driver::Driver;
use crate::history;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use std::time::Duration;
use tokio::time::sleep;

/// The time between the two steps.
const HOLD: Duration = Duration::from_millis(100);
/// How many concurrent `ensureBackend` calls [`Defect::ParallelFails`] allows.
const PARALLEL_LIMIT: u64 = 10;

/// Work that a disconnect of the caller cancels.
pub(crate) async fn attached(driver: &Driver, request: &mut HookRequest) {
    if driver.has(Defect::CreateConcurrentDuplicates) && request.does("createLoadBalancer") {
        check_then_create(driver, request).await;
    }
    if driver.has(Defect::DiesWithConnection) && request.does("createLoadBalancer") {
        create_then_record(driver, request).await;
    }
    if driver.has(Defect::DuplicateBindingRace) && request.does("ensureBackend") {
        let key = request.backend_key();
        if history::bound_parameters(driver, request).is_none() {
            let in_flight = driver.memory.enter("binding", &key);
            sleep(HOLD).await;
            // The concurrent calls found nothing bound either; unless they were cancelled, they
            // bind it too.
            let are_binding = driver.memory.number("binding", &key) > 1;
            let have_bound = history::bound_parameters(driver, request).is_some();
            request.noted = in_flight.others > 0 && (are_binding || have_bound);
        }
    }
}

/// Work that completes even if the caller disconnects.
pub(crate) async fn detached(driver: &Driver, request: &HookRequest) -> Option<Reply> {
    let races = [Defect::LostUpdateRace, Defect::EnsureDeregisterRace];
    let is_stale = |defect: &Defect| driver.has(*defect) && uses_stale_targets(*defect, request);
    if races.iter().any(is_stale) {
        sleep(HOLD).await;
    }
    if driver.has(Defect::BatchLosesOne) && request.does("ensureBackend") && request.existed {
        let in_flight = driver.memory.enter("batch", &request.load_balancer_key());
        sleep(HOLD).await;
        if in_flight.others == 1 {
            return Some(Reply::succ());
        }
    }
    if driver.has(Defect::ParallelFails) && request.does("ensureBackend") {
        let backend = request.backend_key();
        let in_flight = driver
            .memory
            .enter("parallel", &request.load_balancer_key());
        if in_flight.others >= PARALLEL_LIMIT {
            driver.memory.put("throttled", &backend, true);
        }
        sleep(HOLD).await;
        if driver.memory.contains("throttled", &backend) {
            return Some(Reply::fail("TooManyRequests"));
        }
    }
    None
}

/// What comes after the driver's work: a batch has one answer.
pub(crate) async fn answered(driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    const FAILED: &str = "batch failed";
    if !driver.has(Defect::BatchFailsTogether) || !request.does("ensureBackend") {
        return;
    }
    let key = request.load_balancer_key();
    let in_flight = driver.memory.enter("batch", &key);
    if !reply.is_succ() {
        driver.memory.put(FAILED, &key, reply.message());
    }
    sleep(HOLD).await;
    if let Some(message) = driver.memory.get(FAILED, &key) {
        *reply = Reply::fail(message.as_str().unwrap_or_default());
    }
    drop(in_flight);
    if driver.memory.number("batch", &key) == 0 {
        driver.memory.remove(FAILED, &key);
    }
}

/// Each call that arrives before the first has created its load balancer creates another one.
async fn check_then_create(driver: &Driver, request: &HookRequest) {
    let record = request.record_id();
    if driver.memory.contains("created for", record) {
        return;
    }
    let in_flight = driver.memory.enter("creating", record);
    sleep(HOLD).await;
    driver.memory.put("created for", record, true);
    if in_flight.others > 0 {
        let token = format!("{record}, once more: {}", in_flight.others);
        cloud_lookup::create_another(&driver.cloud, &token);
    }
}

/// Creates the load balancer and records it in two steps: a caller that disconnects in between
/// leaves an unknown one behind.
async fn create_then_record(driver: &Driver, request: &HookRequest) {
    let record = request.record_id();
    if driver.memory.contains("recorded", record) {
        return;
    }
    let mut unrecorded = UnrecordedCreation {
        driver: Some(driver),
        record,
    };
    sleep(HOLD).await;
    unrecorded.driver = None;
    driver.memory.put("recorded", record, true);
}

/// Leaves a load balancer behind when dropped with its driver.
#[derive(Debug)]
struct UnrecordedCreation<'a> {
    driver: Option<&'a Driver>,
    record: &'a str,
}

impl Drop for UnrecordedCreation<'_> {
    fn drop(&mut self) {
        if let Some(driver) = self.driver {
            let number = driver.memory.count("cancelled", self.record);
            let token = format!("half of {}: {number}", self.record);
            cloud_lookup::create_another(&driver.cloud, &token);
        }
    }
}
