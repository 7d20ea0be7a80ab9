//! Histories by seed.

use super::kind::Kind;
use super::objects::{self, LOAD_BALANCERS, NODES, PODS, SERVICE, SHARED_LB, WEIGHTS};
use super::random::{Random, of, web};
use super::shop::URL;
use super::step::{Cascade, Fault, HistoryStep, Name, Target, UserAction};
use crate::manifests::{DRIVER, EXCLUDED_FROM_LOAD_BALANCERS, NAMESPACE, SYSTEM};
use serde_json::{Value, json};

/// What happens, in order. Its [`Display`](std::fmt::Display) is a script of kubectl commands.
#[derive(Debug, Clone)]
pub struct History {
    /// The seed that it follows from.
    pub seed: u64,
    /// Whether there are two controllers, of which one leads.
    pub(super) has_replicas: bool,
    /// Whether the drivers list backends, and the controllers audit them.
    pub(super) has_audits: bool,
    /// Whether the cluster is stored, so that it can be restored.
    pub(super) is_stored: bool,
    pub(super) steps: Vec<HistoryStep>,
}

impl History {
    /// The history of a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        // Each change of the leader takes seconds, and so does each backup.
        let has_replicas = seed % 5 == 4;
        let is_stored = seed % 10 == 3 || seed % 20 == 9;
        // What is left over after a restore is found only by audits.
        let has_audits = is_stored || seed % 3 == 1;
        let mut random = Random::new(seed, has_replicas, has_audits);
        let mut steps = setup(&mut random);
        if random.below(3) == 0 {
            steps.extend(random.set_up_shop());
        }
        if random.below(4) == 0 {
            steps.extend(random.shared_address());
        }
        if has_replicas {
            steps.extend(random.late_leader());
        }
        let count = random.below(20) + 6;
        let backup = random.below(count / 2);
        let restore = backup + random.below(8) + 1;
        for number in 0..count {
            if is_stored && number == backup {
                steps.push(HistoryStep::Settle);
                steps.push(HistoryStep::Fault(Fault::BackUp));
                random.is_backed_up = true;
                steps.extend(random.since_backup());
            }
            if random.is_backed_up && number == restore {
                steps.push(HistoryStep::Fault(Fault::Restore));
                random.is_backed_up = false;
            }
            steps.push(random.step());
        }
        if random.is_backed_up {
            steps.push(HistoryStep::Fault(Fault::Restore));
        }
        Self {
            seed,
            has_replicas,
            has_audits,
            is_stored,
            steps,
        }
    }

    /// The same history without faults, and with a single controller: what can happen on any cluster.
    #[must_use]
    pub fn without_faults(mut self) -> Self {
        self.has_replicas = false;
        self.is_stored = false;
        self.steps
            .retain(|step| !matches!(step, HistoryStep::Fault(_)));
        self
    }

    /// The number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether nothing happens in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl Random {
    pub(super) fn user_action(&mut self) -> UserAction {
        match self.below(24) {
            0..5 => self.pod(),
            5..9 => self.group(),
            9..11 => self.load_balancer(),
            11..13 => self.bind(),
            13 => self.service(),
            14 => self.node(),
            15..20 => self.shop(),
            _ => self.record(),
        }
    }

    fn pod(&mut self) -> UserAction {
        let name = self.one_of(&PODS);
        let pod = web(Kind::Pod, name);
        match self.below(7) {
            0 | 1 => UserAction::Create(Kind::Pod, objects::pod(NAMESPACE, name)),
            6 => {
                let phase = self.one_of(&["Succeeded", "Failed"]);
                let ready = json!([{"type": "Ready", "status": "False"}]);
                UserAction::PatchStatus(pod, json!({"phase": phase, "conditions": ready}))
            }
            2 => UserAction::Delete(pod, Cascade::Background),
            3 => {
                let app = self.one_of(&["web", "other"]);
                UserAction::Patch(pod, json!({"metadata": {"labels": {"app": app}}}))
            }
            _ => {
                let ready = self.one_of(&["True", "False"]);
                let ready = json!({"conditions": [{"type": "Ready", "status": ready}]});
                UserAction::PatchStatus(pod, ready)
            }
        }
    }

    fn group(&mut self) -> UserAction {
        let name = self.one_of(&["pods", "canary", "addresses", "nodes"]);
        let group = web(Kind::Group, name);
        match self.below(8) {
            0..3 => UserAction::Create(Kind::Group, self.new_group(name)),
            3 => {
                let weight = self.one_of(&WEIGHTS);
                UserAction::Patch(group, json!({"spec": {"parameters": {"weight": weight}}}))
            }
            4 => {
                let lbs = self.load_balancers();
                UserAction::Patch(group, json!({"spec": {"loadBalancers": lbs}}))
            }
            _ => UserAction::Delete(group, self.cascade()),
        }
    }

    /// Two groups register the same pods with different weights, and one of them is deleted.
    fn shared_address(&mut self) -> Vec<HistoryStep> {
        let lb = self.one_of(&LOAD_BALANCERS);
        let mut groups = ["pods", "canary"];
        if self.below(2) == 0 {
            groups.reverse();
        }
        let mut steps = Vec::new();
        for (name, weight) in groups.into_iter().zip(WEIGHTS) {
            let mut group = objects::group(NAMESPACE, name, &[lb], weight);
            group["spec"]["pods"] = objects::pods();
            steps.push(HistoryStep::User(UserAction::Create(Kind::Group, group)));
            steps.push(HistoryStep::Settle);
        }
        let deleted = web(Kind::Group, self.one_of(&groups));
        let delete = UserAction::Delete(deleted, Cascade::Background);
        steps.extend([HistoryStep::User(delete), HistoryStep::Settle]);
        steps
    }

    pub(super) fn new_group(&mut self, name: &str) -> Value {
        let (lbs, weight) = (self.load_balancers(), self.one_of(&WEIGHTS));
        let mut group = objects::group(NAMESPACE, name, &lbs, weight);
        let (field, selection) = match name {
            "addresses" => ("static", objects::addresses(self.below(3) + 1)),
            "nodes" => ("service", objects::nodes()),
            _ => ("pods", objects::pods()),
        };
        group["spec"][field] = selection;
        group
    }

    fn load_balancers(&mut self) -> Vec<&'static str> {
        match self.below(8) {
            0 | 1 => LOAD_BALANCERS.to_vec(),
            2 => vec![self.one_of(&LOAD_BALANCERS), SHARED_LB],
            _ => vec![self.one_of(&LOAD_BALANCERS)],
        }
    }

    pub(super) fn cascade(&mut self) -> Cascade {
        self.one_of(&[Cascade::Background, Cascade::Foreground, Cascade::Orphan])
    }

    fn load_balancer(&mut self) -> UserAction {
        let name = self.one_of(&LOAD_BALANCERS);
        let lb = web(Kind::LoadBalancer, name);
        match self.below(4) {
            0 | 1 => UserAction::Create(
                Kind::LoadBalancer,
                objects::load_balancer(NAMESPACE, name, DRIVER),
            ),
            2 => {
                let bandwidth = self.one_of(&["1", "2", "3"]);
                let attributes = json!({"max-bandwidth-out": bandwidth});
                UserAction::Patch(lb, json!({"spec": {"attributes": attributes}}))
            }
            _ => UserAction::Delete(lb, self.cascade()),
        }
    }

    fn bind(&mut self) -> UserAction {
        let both = [("left", DRIVER), ("right", DRIVER)];
        let lbs = self.one_of(&[&both[..1], &both[1..], &both]);
        let weight = self.one_of(&WEIGHTS);
        let mut new = objects::bind(NAMESPACE, "bind", lbs, weight);
        // One source replaces the other.
        let sources = match self.below(3) {
            0 => [Value::Null, objects::nodes()],
            _ => [objects::pods(), Value::Null],
        };
        [new["spec"]["pods"], new["spec"]["service"]] = sources;
        match self.below(4) {
            0 | 1 => UserAction::Create(Kind::Bind, new),
            2 => UserAction::Patch(web(Kind::Bind, "bind"), json!({"spec": new["spec"]})),
            _ => UserAction::Delete(web(Kind::Bind, "bind"), self.cascade()),
        }
    }

    fn service(&mut self) -> UserAction {
        let node_port = 30_080 + self.below(2);
        let new = objects::service(node_port);
        match self.below(3) {
            0 => UserAction::Create(Kind::Service, new),
            1 => {
                let ports = json!({"spec": {"ports": new["spec"]["ports"]}});
                UserAction::Patch(web(Kind::Service, SERVICE), ports)
            }
            _ => UserAction::Delete(web(Kind::Service, SERVICE), Cascade::Background),
        }
    }

    fn node(&mut self) -> UserAction {
        let node = of("", Kind::Node, self.one_of(&NODES));
        match self.below(3) {
            0 => {
                let cordoned = self.one_of(&[true, false]);
                UserAction::Patch(node, json!({"spec": {"unschedulable": cordoned}}))
            }
            1 => {
                let value = self.one_of(&[Some("true"), None]);
                let label = EXCLUDED_FROM_LOAD_BALANCERS;
                UserAction::Patch(node, json!({"metadata": {"labels": {label: value}}}))
            }
            _ => {
                let ready = self.one_of(&["True", "False"]);
                let ready = json!({"conditions": [{"type": "Ready", "status": ready}]});
                UserAction::PatchStatus(node, ready)
            }
        }
    }

    fn record(&mut self) -> UserAction {
        let number = usize::try_from(self.below(8)).unwrap_or_default();
        let record = Target {
            kind: Kind::Record,
            namespace: NAMESPACE.to_owned(),
            name: Name::Record(number),
        };
        // Without its finalizer a record goes at once, and only audits find the backend that it leaves.
        let actions = if self.has_audits { 7 } else { 6 };
        match self.below(actions) {
            0 => UserAction::Delete(record, Cascade::Background),
            1 => UserAction::RestoreRecord(number),
            2 => UserAction::Patch(record, json!({"spec": {"parameters": {"weight": "99"}}})),
            3 => UserAction::Patch(record, json!({"spec": {"lbInfo": {"lbID": "lb-edited"}}})),
            4 => UserAction::Patch(record, json!({"metadata": {"labels": null}})),
            5 => UserAction::Patch(record, json!({"spec": {"staticAddr": "192.0.2.99:80"}})),
            _ => UserAction::Patch(record, json!({"metadata": {"finalizers": null}})),
        }
    }
}

/// What most histories need: a driver, load balancers, some pods, and a group.
fn setup(random: &mut Random) -> Vec<HistoryStep> {
    let mut steps = vec![UserAction::Create(
        Kind::Driver,
        objects::driver(SYSTEM, DRIVER, URL, random.has_audits),
    )];
    for lb in LOAD_BALANCERS {
        let lb = objects::load_balancer(NAMESPACE, lb, DRIVER);
        steps.push(UserAction::Create(Kind::LoadBalancer, lb));
    }
    for name in &PODS[..2] {
        steps.push(UserAction::Create(Kind::Pod, objects::pod(NAMESPACE, name)));
    }
    steps.push(UserAction::Create(Kind::Service, objects::service(30_080)));
    let name = random.one_of(&["pods", "addresses", "nodes"]);
    steps.push(UserAction::Create(Kind::Group, random.new_group(name)));
    let mut steps: Vec<HistoryStep> = steps.into_iter().map(HistoryStep::User).collect();
    if random.below(2) == 0 {
        steps.push(HistoryStep::Settle);
    }
    steps
}
