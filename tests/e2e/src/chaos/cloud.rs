//! What the cloud has for other reasons than that it is declared.

use super::kind::Kind;
use crate::World;
use kube::Client;
use kube::api::ListParams;
use mock_driver::{Endpoint, ObservedLoadBalancer, Target};
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct CloudHistory {
    /// IDs of load balancers, and addresses that a user registered there.
    by_hand: BTreeSet<(String, String)>,
    /// The uids of objects that the cluster has forgotten in a restore.
    forgotten: BTreeSet<String>,
}

impl CloudHistory {
    /// Registers a backend without a recordID at one of the load balancers that exist.
    pub(super) fn bind_by_hand(&mut self, world: &World, number: u64) {
        let observed = world.cloud.observe().load_balancers;
        let count = u64::try_from(observed.len()).unwrap_or_default().max(1);
        let index = usize::try_from(number % count).unwrap_or_default();
        let Some(lb) = observed.get(index) else {
            return;
        };
        let id = |key: &str| lb.lb_info.get(key).cloned().unwrap_or_default();
        let endpoint = Endpoint {
            load_balancer: id("lbID"),
            listener: id("lblID"),
            domain: None,
            url: None,
        };
        let address = format!("198.51.100.{number}:80");
        let target = Target {
            weight: 1,
            parameters: [("weight".to_owned(), "1".to_owned())].into(),
            record_id: None,
        };
        // A load balancer that is being created has no listener yet.
        if world.cloud.bind(&endpoint, &address, target).is_ok() {
            self.by_hand.insert((id("lbID"), address));
        }
    }

    /// The addresses that a user registered at a load balancer.
    pub(super) fn by_hand(&self, lb: &ObservedLoadBalancer) -> BTreeSet<&str> {
        let here = lb.lb_info.get("lbID");
        let here = self.by_hand.iter().filter(|(id, _)| here == Some(id));
        here.map(|(_, address)| address.as_str()).collect()
    }

    /// Notes what existed before a restore, and does not any more.
    pub(super) fn forget(&mut self, before: BTreeSet<String>, after: &BTreeSet<String>) {
        let lost = before.into_iter().filter(|uid| !after.contains(uid));
        self.forgotten.extend(lost);
    }

    /// The IDs of load balancers that were created for objects that the cluster has forgotten. No object
    /// has their identity, and drivers cannot list load balancers, so that they stay until a user deletes
    /// them.
    pub(super) fn left_over(&self, world: &World) -> BTreeSet<String> {
        let all = world.cloud.state().load_balancers.into_iter();
        let of_forgotten = all.filter(|lb| {
            let token = lb.client_token.as_deref().unwrap_or_default();
            self.forgotten.iter().any(|uid| token.contains(uid))
        });
        of_forgotten.map(|lb| lb.id).collect()
    }
}

/// The uids of the objects that declare load balancers.
pub(super) async fn declaring(client: &Client) -> BTreeSet<String> {
    let mut uids = BTreeSet::new();
    for kind in [Kind::LoadBalancer, Kind::Bind] {
        let objects = kind.api(client, "").list(&ListParams::default()).await;
        let objects = objects.into_iter().flat_map(|list| list.items);
        uids.extend(objects.filter_map(|object| object.metadata.uid));
    }
    uids
}
