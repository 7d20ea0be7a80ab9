//! `Running` gone wrong: creations that do not end, or end more than once.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::{told, view};

/// After how many Succ [`Defect::SuccThenRunning`] says Running once more.
const ONCE_MORE_AFTER: u64 = 4;

pub(super) fn before(defect: Defect, at: &Context, call: &mut Call) -> Option<Answer> {
    if call.does("createLoadBalancer") {
        return before_create(defect, at, call);
    }
    match defect {
        Defect::DeleteWhileCreatingLeaks
            if call.does("deleteLoadBalancer") && call.map("lbInfo").is_empty() =>
        {
            // The right driver finds the creation by the recordID.
            call.set("recordID", "forgotten");
            None
        }
        Defect::ForgetsOnRestart if call.does("ensureBackend") => {
            let instance = call.endpoint()?.load_balancer;
            let mut made = view::made(&at.cloud).into_iter();
            let is_made = made.any(|made| made.endpoint.load_balancer == instance);
            let forgotten = is_made && !at.memory.knows("made here", &instance);
            forgotten.then(|| Answer::fail("no such load balancer in memory"))
        }
        _ => None,
    }
}

fn before_create(defect: Defect, at: &Context, call: &mut Call) -> Option<Answer> {
    let record = call.record_id().to_owned();
    match defect {
        Defect::CreateRunsForever => {
            run_forever(call);
            None
        }
        Defect::HttpCreateRunsForever if call.wants_http() => {
            run_forever(call);
            None
        }
        Defect::PollStartsAgain if !at.memory.knows("ended", &record) => {
            let number = at.memory.count(defect.id(), &record);
            if number > 0 {
                view::make_one_more(&at.cloud, &format!("{record}, once more: {number}"));
            }
            None
        }
        Defect::SuccThenRunning if at.memory.number(defect.id(), &record) == ONCE_MORE_AFTER => {
            at.memory.count(defect.id(), &record);
            Some(Answer::running("looking whether it is still there"))
        }
        Defect::EarlyPollFails if told::comes_early(at, call) => {
            Some(Answer::fail("asked too early"))
        }
        Defect::JobLostOnRestart => {
            let is_made = |token: Option<&str>| token == Some(record.as_str());
            let state = at.cloud.state();
            let mut instances = state.load_balancers.iter();
            let running =
                instances.any(|it| it.creating.is_some() && is_made(it.client_token.as_deref()));
            if running && !at.memory.knows(defect.id(), &record) {
                return Some(Answer::fail("no such job"));
            }
            at.memory.put(defect.id(), &record, true);
            None
        }
        _ => None,
    }
}

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    if !call.is("createLoadBalancer") {
        return;
    }
    match defect {
        Defect::CreateRunsForever | Defect::HttpCreateRunsForever
            if call.noted && !answer.says("Fail") =>
        {
            *answer = Answer::running("creating");
        }
        Defect::PollStartsAgain if answer.is_succ() && !call.dry_run() => {
            at.memory.put("ended", call.record_id(), true);
        }
        Defect::SuccThenRunning if answer.is_succ() && !call.dry_run() => {
            at.memory.count(defect.id(), call.record_id());
        }
        _ => {}
    }
}

/// Lets the right driver look at the request and make nothing.
fn run_forever(call: &mut Call) {
    call.noted = true;
    call.set("dryRun", true);
}
