//! What happens in the second namespace, which is deleted as a whole.

use super::kind::Kind;
use super::objects::{self, SHARED_LB, SHOP, SHOP_DRIVER, SHOP_LBS, SHOP_PODS, WEIGHTS};
use super::random::{Random, of};
use super::step::{Cascade, HistoryStep, UserAction};
use crate::manifests::{DRIVER, NAMESPACE, SYSTEM};
use serde_json::{Value, json};

/// Stands for the driver's URL, which is another one in each run.
pub(super) const URL: &str = "http://DRIVER";

impl Random {
    /// A shop in which everything is in use.
    pub(super) fn set_up_shop(&mut self) -> Vec<HistoryStep> {
        let mut actions = vec![self.new_namespace(), self.new_driver(), self.new_shared()];
        for (lb, driver) in SHOP_LBS {
            let lb = objects::load_balancer(SHOP, lb, driver);
            actions.push(UserAction::Create(Kind::LoadBalancer, lb));
        }
        let pods = SHOP_PODS.map(|pod| objects::pod(SHOP, pod));
        actions.extend(pods.map(|pod| UserAction::Create(Kind::Pod, pod)));
        let groups = ["shop-group", "shop-addresses"].map(|name| self.new_shop_group(name));
        actions.extend(groups.map(|group| UserAction::Create(Kind::Group, group)));
        actions.push(UserAction::Create(Kind::Bind, self.new_shop_bind()));
        actions.into_iter().map(HistoryStep::User).collect()
    }

    pub(super) fn shop(&mut self) -> UserAction {
        match self.below(20) {
            0 => self.new_namespace(),
            1 => self.new_driver(),
            2 | 3 => {
                let (lb, driver) = self.one_of(&SHOP_LBS);
                match self.below(3) {
                    0 => UserAction::Delete(of(SHOP, Kind::LoadBalancer, lb), self.cascade()),
                    _ => {
                        let lb = objects::load_balancer(SHOP, lb, driver);
                        UserAction::Create(Kind::LoadBalancer, lb)
                    }
                }
            }
            4..7 => self.shop_pod(),
            7..11 => {
                let name = self.one_of(&["shop-group", "shop-addresses"]);
                let group = of(SHOP, Kind::Group, name);
                match self.below(4) {
                    0 => UserAction::Delete(group, self.cascade()),
                    1 => {
                        let lbs = self.shop_load_balancers();
                        UserAction::Patch(group, json!({"spec": {"loadBalancers": lbs}}))
                    }
                    _ => UserAction::Create(Kind::Group, self.new_shop_group(name)),
                }
            }
            11..14 => match (self.below(3), self.new_shop_bind()) {
                (0, _) => UserAction::Delete(of(SHOP, Kind::Bind, "shop-bind"), self.cascade()),
                (1, bind) => {
                    let spec = json!({"spec": bind["spec"]});
                    UserAction::Patch(of(SHOP, Kind::Bind, "shop-bind"), spec)
                }
                (_, bind) => UserAction::Create(Kind::Bind, bind),
            },
            14 => {
                let is_draining = self.one_of(&[Some("true"), None]);
                let label = json!({"lbcf.tkestack.io/driver-draining": is_draining});
                let driver = of(SHOP, Kind::Driver, SHOP_DRIVER);
                UserAction::Patch(driver, json!({"metadata": {"labels": label}}))
            }
            15..17 => self.shared(),
            _ => UserAction::Delete(of("", Kind::Namespace, SHOP), Cascade::Background),
        }
    }

    fn shop_pod(&mut self) -> UserAction {
        let name = self.one_of(&SHOP_PODS);
        let pod = of(SHOP, Kind::Pod, name);
        match self.below(4) {
            0 => UserAction::Delete(pod, Cascade::Background),
            1 => {
                let ready = self.one_of(&["True", "False"]);
                let ready = json!({"conditions": [{"type": "Ready", "status": ready}]});
                UserAction::PatchStatus(pod, ready)
            }
            _ => UserAction::Create(Kind::Pod, objects::pod(SHOP, name)),
        }
    }

    /// The load balancer of the system, which namespaces may use that its scope names.
    fn shared(&mut self) -> UserAction {
        let lb = of(SYSTEM, Kind::LoadBalancer, SHARED_LB);
        match self.below(4) {
            0 | 1 => self.new_shared(),
            2 => {
                let scope = self.scope();
                UserAction::Patch(lb, json!({"spec": {"scope": scope}}))
            }
            _ => UserAction::Delete(lb, self.cascade()),
        }
    }

    fn scope(&mut self) -> Value {
        self.one_of(&[&["*"][..], &[SHOP], &[NAMESPACE], &[SHOP, NAMESPACE]])
            .into()
    }

    fn new_shared(&mut self) -> UserAction {
        let mut lb = objects::load_balancer(SYSTEM, SHARED_LB, DRIVER);
        lb["spec"]["scope"] = self.scope();
        UserAction::Create(Kind::LoadBalancer, lb)
    }

    fn new_namespace(&self) -> UserAction {
        UserAction::Create(Kind::Namespace, json!({"metadata": {"name": SHOP}}))
    }

    fn new_driver(&self) -> UserAction {
        let driver = objects::driver(SHOP, SHOP_DRIVER, URL, self.has_audits);
        UserAction::Create(Kind::Driver, driver)
    }

    fn shop_load_balancers(&mut self) -> Vec<&'static str> {
        let [(own, _), (of_system, _)] = SHOP_LBS;
        self.one_of(&[
            &[own][..],
            &[of_system],
            &[SHARED_LB],
            &[own, SHARED_LB],
            &[own, of_system, SHARED_LB],
        ])
        .to_vec()
    }

    fn new_shop_group(&mut self, name: &str) -> Value {
        let (lbs, weight) = (self.shop_load_balancers(), self.one_of(&WEIGHTS));
        let mut group = objects::group(SHOP, name, &lbs, weight);
        match name {
            "shop-addresses" => group["spec"]["static"] = objects::addresses(10),
            _ => group["spec"]["pods"] = objects::pods(),
        }
        group
    }

    fn new_shop_bind(&mut self) -> Value {
        let lbs: &[(&str, &str)] = self.one_of(&[
            &[("own", SHOP_DRIVER)][..],
            &[("of-system", DRIVER)],
            &[("own", SHOP_DRIVER), ("of-system", DRIVER)],
        ]);
        objects::bind(SHOP, "shop-bind", lbs, self.one_of(&WEIGHTS))
    }
}
