//! The faults of histories.

use super::kind::Kind;
use super::random::{Random, web};
use super::step::{Cascade, Fault, HistoryStep, UserAction};
use crate::chaos::objects::PODS;
use serde_json::json;

impl Random {
    pub(super) fn fault(&mut self) -> Fault {
        if self.has_replicas && self.below(3) == 0 {
            return self.one_of(&[Fault::PauseLeader, Fault::ResumeController]);
        }
        match self.below(14) {
            0 | 1 => Fault::KillController,
            2 => Fault::FailRequests(self.below(1000)),
            3 => Fault::DriverDown,
            4 => Fault::DriverUp,
            5 | 6 => Fault::FailCalls(self.below(1000)),
            7 => Fault::RestartApiServer,
            8 => Fault::ExpireWatches(self.below(1000)),
            9 | 10 => Fault::OverloadApiServer(self.below(1000)),
            11 | 12 => Fault::ClockJump(self.one_of(&[-24, -1, 1, 24])),
            _ => Fault::BindByHand(self.below(100)),
        }
    }

    /// What a restore undoes: a group registers addresses, and pods are deregistered.
    pub(super) fn since_backup(&mut self) -> Vec<HistoryStep> {
        let group = self.new_group("addresses");
        let mut actions = vec![UserAction::Create(Kind::Group, group)];
        if !self.has_replicas {
            let not_ready = json!({"conditions": [{"type": "Ready", "status": "False"}]});
            let pods = PODS.iter().map(|pod| web(Kind::Pod, pod));
            actions.extend(pods.map(|pod| UserAction::PatchStatus(pod, not_ready.clone())));
        }
        let actions = actions.into_iter().map(HistoryStep::User);
        actions.chain([HistoryStep::Settle]).collect()
    }

    /// The leader is paused while it registers pods, and goes on when they have been deregistered by the
    /// other one.
    pub(super) fn late_leader(&mut self) -> Vec<HistoryStep> {
        let group = self.one_of(&["pods", "canary"]);
        let ready = |status| json!({"conditions": [{"type": "Ready", "status": status}]});
        let mut steps = vec![
            HistoryStep::User(UserAction::Create(Kind::Group, self.new_group(group))),
            HistoryStep::Settle,
        ];
        let all = |status| {
            let pods = PODS.iter().map(|pod| web(Kind::Pod, pod));
            let patches = pods.map(move |pod| UserAction::PatchStatus(pod, ready(status)));
            patches.map(HistoryStep::User).collect::<Vec<_>>()
        };
        steps.extend(all("False"));
        steps.push(HistoryStep::Settle);
        steps.push(HistoryStep::Fault(Fault::SlowApiServer));
        steps.extend(all("True"));
        steps.push(HistoryStep::Fault(Fault::PauseLeader));
        match self.below(2) {
            0 => steps.extend(all("False")),
            _ => {
                let group = web(Kind::Group, group);
                let delete = UserAction::Delete(group, Cascade::Background);
                steps.push(HistoryStep::User(delete));
            }
        }
        steps.push(HistoryStep::Settle);
        steps.push(HistoryStep::Fault(Fault::ResumeController));
        steps
    }
}
