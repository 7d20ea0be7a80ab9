//! Histories by seed.

use super::kind::Kind;
use super::objects::{self, LOAD_BALANCERS, NODES, PODS, SERVICE, SHOP, WEIGHTS};
use super::step::{Cascade, Fault, HistoryStep, Name, Target, UserAction};
use crate::manifests::{DRIVER, EXCLUDED_FROM_LOAD_BALANCERS, NAMESPACE, SYSTEM};
use crate::seed::scrambled;
use serde_json::{Value, json};

/// What happens, in order. Its [`Display`](std::fmt::Display) is a script of kubectl commands.
#[derive(Debug, Clone)]
pub struct History {
    /// The seed that it follows from.
    pub seed: u64,
    /// Whether there are two controllers, of which one leads.
    pub(super) has_replicas: bool,
    pub(super) steps: Vec<HistoryStep>,
}

impl History {
    /// The history of a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        let mut random = Random {
            seed,
            number: 0,
            // Each change of the leader takes seconds.
            has_replicas: seed % 5 == 4,
        };
        let mut steps = setup(&mut random);
        if random.has_replicas {
            steps.extend(random.late_leader());
        }
        for _ in 0..random.below(20) + 6 {
            steps.push(random.step());
        }
        Self {
            seed,
            has_replicas: random.has_replicas,
            steps,
        }
    }

    /// The same history without faults, and with a single controller: what can happen on any cluster.
    #[must_use]
    pub fn without_faults(mut self) -> Self {
        self.has_replicas = false;
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

struct Random {
    seed: u64,
    number: u64,
    has_replicas: bool,
}

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.number += 1;
        // The low bits of a small seed's first numbers are as random as the others.
        scrambled(self.seed, self.number) % limit
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let index = self.below(choices.len() as u64);
        choices[usize::try_from(index).unwrap_or_default()]
    }

    fn step(&mut self) -> HistoryStep {
        match self.below(40) {
            0..5 => HistoryStep::Settle,
            5..8 => HistoryStep::Fault(self.fault()),
            _ => HistoryStep::User(self.user_action()),
        }
    }

    fn fault(&mut self) -> Fault {
        if self.has_replicas && self.below(2) == 0 {
            return self.one_of(&[Fault::PauseLeader, Fault::ResumeController]);
        }
        match self.below(6) {
            0 | 1 => Fault::KillController,
            2 => Fault::FailRequests(self.below(1000)),
            3 => Fault::DriverDown,
            4 => Fault::DriverUp,
            _ => Fault::FailCalls(self.below(1000)),
        }
    }

    /// The leader is paused while it registers pods, and goes on when they have been deregistered by the
    /// other one.
    fn late_leader(&mut self) -> Vec<HistoryStep> {
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
        for status in ["False", "True"] {
            steps.extend(all(status));
        }
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

    fn user_action(&mut self) -> UserAction {
        match self.below(20) {
            0..5 => self.pod(),
            5..9 => self.group(),
            9..11 => self.load_balancer(),
            11..13 => self.bind(),
            13 => self.service(),
            14 => self.node(),
            15 => self.shop(),
            _ => self.record(),
        }
    }

    fn pod(&mut self) -> UserAction {
        let name = self.one_of(&PODS);
        let pod = web(Kind::Pod, name);
        match self.below(6) {
            0 | 1 => UserAction::Create(Kind::Pod, objects::pod(NAMESPACE, name)),
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

    fn new_group(&mut self, name: &str) -> Value {
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
        match self.below(3) {
            0 => LOAD_BALANCERS.to_vec(),
            _ => vec![self.one_of(&LOAD_BALANCERS)],
        }
    }

    fn cascade(&mut self) -> Cascade {
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
        let lbs: &[&str] = self.one_of(&[&["left"][..], &["right"], &["left", "right"]]);
        let weight = self.one_of(&WEIGHTS);
        let new = objects::bind("bind", lbs, weight);
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
        let node = Target {
            kind: Kind::Node,
            namespace: String::new(),
            name: Name::Known(self.one_of(&NODES)),
        };
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

    /// Everything of the shop is in one namespace, which is deleted as a whole.
    fn shop(&mut self) -> UserAction {
        let (lb, group) = ("shop-lb", "shop-group");
        match self.below(6) {
            0 => UserAction::Create(Kind::Namespace, json!({"metadata": {"name": SHOP}})),
            1 => UserAction::Create(
                Kind::LoadBalancer,
                objects::load_balancer(SHOP, lb, "shop-driver"),
            ),
            2 => UserAction::Create(Kind::Pod, objects::pod(SHOP, "shop-pod")),
            3 => {
                let mut group = objects::group(SHOP, group, &[lb], "50");
                group["spec"]["pods"] = objects::pods();
                UserAction::Create(Kind::Group, group)
            }
            4 => UserAction::Create(Kind::Driver, objects::driver(SHOP, "shop-driver", URL)),
            _ => UserAction::Delete(
                Target {
                    kind: Kind::Namespace,
                    namespace: String::new(),
                    name: Name::Known(SHOP),
                },
                Cascade::Background,
            ),
        }
    }

    fn record(&mut self) -> UserAction {
        let number = usize::try_from(self.below(8)).unwrap_or_default();
        let record = Target {
            kind: Kind::Record,
            namespace: NAMESPACE.to_owned(),
            name: Name::Record(number),
        };
        match self.below(6) {
            0 => UserAction::Delete(record, Cascade::Background),
            1 => UserAction::RestoreRecord(number),
            2 => UserAction::Patch(record, json!({"spec": {"parameters": {"weight": "99"}}})),
            3 => UserAction::Patch(record, json!({"spec": {"lbInfo": {"lbID": "lb-edited"}}})),
            4 => UserAction::Patch(record, json!({"metadata": {"labels": null}})),
            _ => UserAction::Patch(record, json!({"spec": {"staticAddr": "192.0.2.99:80"}})),
        }
    }
}

/// Stands for the driver's URL, which is another one in each run.
pub(super) const URL: &str = "http://DRIVER";

fn web(kind: Kind, name: &'static str) -> Target {
    Target {
        kind,
        namespace: NAMESPACE.to_owned(),
        name: Name::Known(name),
    }
}

/// What most histories need: a driver, load balancers, some pods, and a group.
fn setup(random: &mut Random) -> Vec<HistoryStep> {
    let mut steps = vec![UserAction::Create(
        Kind::Driver,
        objects::driver(SYSTEM, DRIVER, URL),
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
