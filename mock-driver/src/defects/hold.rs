//! Work that takes its time between a first step and a second, so that something can come in
//! between: another call, or a hang-up.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::concurrency::works_from_old_news;
use super::context::Context;
use super::{ledger, view};
use tokio::time::sleep;

/// How many `ensureBackend` at a time are not too many for [`Defect::ParallelFails`].
const TOO_MANY: u64 = 10;

/// What is broken off when the caller hangs up.
pub(super) async fn while_connected(at: &Context, call: &mut Call) {
    if at.has(Defect::CreateConcurrentDuplicates) && call.does("createLoadBalancer") {
        look_wait_and_make(at, call).await;
    }
    if at.has(Defect::DiesWithConnection) && call.does("createLoadBalancer") {
        make_and_note_later(at, call).await;
    }
    if at.has(Defect::DuplicateBindingRace) && call.does("ensureBackend") {
        let key = call.backend_key();
        if ledger::bound_parameters(at, call).is_none() {
            let at_work = at.memory.enter("binding", &key);
            sleep(at.pace.hold).await;
            // The others found nothing bound either, and those that did not hang up bind it.
            let are_there = at.memory.number("binding", &key) > 1;
            let have_bound = ledger::bound_parameters(at, call).is_some();
            call.noted = at_work.others > 0 && (are_there || have_bound);
        }
    }
}

/// What takes its time whether or not somebody waits for it.
pub(super) async fn side_by_side(at: &Context, call: &Call) -> Option<Answer> {
    let races = [Defect::LostUpdateRace, Defect::EnsureDeregisterRace];
    let old_news = |defect: &Defect| at.has(*defect) && works_from_old_news(*defect, call);
    if races.iter().any(old_news) {
        sleep(at.pace.hold).await;
    }
    if at.has(Defect::ParallelFails) && call.does("ensureBackend") {
        let at_work = at.memory.enter("parallel", &call.load_balancer_key());
        if at_work.others >= TOO_MANY {
            at.memory.put("was too many", &call.backend_key(), true);
        }
        sleep(at.pace.hold).await;
        if at.memory.knows("was too many", &call.backend_key()) {
            return Some(Answer::fail("TooManyRequests"));
        }
    }
    None
}

/// Each of the calls that come before the first has made its load balancer makes one of its own.
async fn look_wait_and_make(at: &Context, call: &Call) {
    let record = call.record_id();
    if at.memory.knows("made as", record) {
        return;
    }
    let at_work = at.memory.enter("making", record);
    sleep(at.pace.hold).await;
    at.memory.put("made as", record, true);
    if at_work.others > 0 {
        let token = format!("{record}, once more: {}", at_work.others);
        view::make_one_more(&at.cloud, &token);
    }
}

/// The load balancer is made in two steps: a caller that hangs up in between leaves one that
/// nobody knows.
async fn make_and_note_later(at: &Context, call: &Call) {
    let record = call.record_id();
    if at.memory.knows("noted", record) {
        return;
    }
    let mut half = HalfMade {
        at: Some(at),
        record,
    };
    sleep(at.pace.hold).await;
    half.at = None;
    at.memory.put("noted", record, true);
}

/// A load balancer of which nothing is noted yet.
#[derive(Debug)]
struct HalfMade<'a> {
    at: Option<&'a Context>,
    record: &'a str,
}

impl Drop for HalfMade<'_> {
    fn drop(&mut self) {
        if let Some(at) = self.at {
            let number = at.memory.count("broken off", self.record);
            let token = format!("half of {}: {number}", self.record);
            view::make_one_more(&at.cloud, &token);
        }
    }
}
