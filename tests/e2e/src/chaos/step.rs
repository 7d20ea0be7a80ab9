//! One step of a history.

use super::kind::Kind;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum HistoryStep {
    /// What a user does with an object. Where the API server refuses it, nothing happens.
    User(UserAction),
    Fault(Fault),
    /// Everything that was started comes to rest.
    Settle,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum UserAction {
    Create(Kind, Value),
    Patch(Target, Value),
    /// Changes the status, as kubelets and node controllers do.
    PatchStatus(Target, Value),
    Delete(Target, Cascade),
    /// Creates a deleted record again, as a backup or a late leader does; the number chooses one.
    RestoreRecord(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Target {
    pub(super) kind: Kind,
    /// Empty for objects of the cluster.
    pub(super) namespace: String,
    pub(super) name: Name,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Name {
    Known(&'static str),
    /// Records have names that follow from what they are for; the number chooses one that exists.
    Record(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cascade {
    Background,
    Foreground,
    Orphan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The controller is killed, and another one starts.
    KillController,
    /// Like [`Fault::KillController`]; about every third request of the new one fails.
    FailRequests(u64),
    /// Responses to the controllers' writes of records come late until the leader is paused.
    SlowApiServer,
    /// Of two controllers the leader is stopped until [`Fault::ResumeController`]; the other one leads. After
    /// [`Fault::SlowApiServer`] it is stopped while it waits for a response.
    PauseLeader,
    ResumeController,
    DriverDown,
    DriverUp,
    /// About every third call fails, hangs, or is carried out without a response.
    FailCalls(u64),
    /// All watches of controllers end, and their requests fail for a moment.
    RestartApiServer,
    /// All watches of controllers end with 410, and so do some that start later.
    ExpireWatches(u64),
    /// Some requests of controllers conflict, are to be sent again later (429), fail, or are carried out
    /// without a response.
    OverloadApiServer(u64),
    /// Of a stored cluster.
    BackUp,
    /// What was stored since [`Fault::BackUp`] has never been.
    Restore,
    /// The controllers' wall clock, by this many hours.
    ClockJump(i64),
    /// A user registers a backend at a load balancer of the cloud; the number chooses one.
    BindByHand(u64),
}
