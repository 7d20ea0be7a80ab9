//! A profile of the demo: the fields of its objects for one kind of driver. The steps are the same functions for each.

pub(super) mod fixture;
pub(super) mod mocks;

use super::examples::{BIND, EXISTING_LOAD_BALANCER, Example, LOAD_BALANCER, Manifest};
use super::maps::patch;
use lbcf_conformance::fixture::LoadBalancerSample;
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub(super) struct Profile {
    /// Those of the LoadBalancers; `None` for those in `deploy/examples`.
    pub(super) load_balancers: Option<LoadBalancers>,
    /// The parameters of the groups at first.
    pub(super) parameters: StringMap,
    /// The parameters that the first group gets later.
    pub(super) updated_parameters: Option<StringMap>,
    /// Parameters that the driver refuses.
    pub(super) refused_parameters: Option<StringMap>,
    /// The parameters of the Bind.
    pub(super) bind_parameters: StringMap,
    /// The attributes that the first LoadBalancer gets later; where it is that of the example, those that change.
    pub(super) updated_attributes: Option<StringMap>,
    /// The load balancer of the static addresses, in words.
    pub(super) static_load_balancer: &'static str,
    /// Something that the demo cannot show with it, in words.
    pub(super) without: Option<&'static str>,
    /// The fixture that the fields are from.
    pub(super) source: Option<String>,
    /// Its load balancers can become internal.
    pub(super) has_internal: bool,
}

/// The fields of the LoadBalancers that the demo creates.
#[derive(Debug, Clone)]
pub(super) struct LoadBalancers {
    pub(super) first: LoadBalancerSample,
    /// `None` if the demo cannot have so many.
    pub(super) of_bind: Option<[LoadBalancerSample; 2]>,
    /// `None` if nothing is known of static addresses.
    pub(super) of_static: Option<LoadBalancerSample>,
}

impl Profile {
    pub(super) fn load_balancer(&self) -> Manifest {
        let fields = self.load_balancers.as_ref().map(|all| &all.first);
        load_balancer(LOAD_BALANCER, fields)
    }

    pub(super) fn load_balancer_of_static(&self) -> Manifest {
        let fields = self
            .load_balancers
            .as_ref()
            .and_then(|all| all.of_static.as_ref());
        load_balancer(EXISTING_LOAD_BALANCER, fields)
    }

    /// A group, with the parameters of the profile.
    pub(super) fn group(&self, file: Example) -> Manifest {
        Manifest {
            file,
            changes: vec![("/spec/parameters", json!(self.parameters))],
        }
    }

    /// The Bind; `None` if there are no fields for its load balancers.
    pub(super) fn bind(&self) -> Option<Manifest> {
        let mut changes = vec![("/spec/parameters", json!(self.bind_parameters))];
        if let Some(all) = &self.load_balancers {
            let [one, other] = all.of_bind.as_ref()?;
            changes.extend([
                ("/spec/loadBalancers/0/spec", json!(one.lb_spec)),
                ("/spec/loadBalancers/0/attributes", json!(one.attributes)),
                ("/spec/loadBalancers/1/spec", json!(other.lb_spec)),
                ("/spec/loadBalancers/1/attributes", json!(other.attributes)),
            ]);
        }
        Some(Manifest {
            file: BIND,
            changes,
        })
    }

    /// The patch of the first LoadBalancer's attributes.
    pub(super) fn attributes_patch(&self, updated: &StringMap) -> Value {
        let old = self
            .load_balancers
            .as_ref()
            .map(|all| &all.first.attributes);
        match old {
            Some(old) => patch(old, updated),
            None => json!(updated),
        }
    }
}

fn load_balancer(file: Example, fields: Option<&LoadBalancerSample>) -> Manifest {
    let changes = fields.map(|fields| {
        vec![
            ("/spec/lbSpec", json!(fields.lb_spec)),
            ("/spec/attributes", json!(fields.attributes)),
        ]
    });
    Manifest {
        file,
        changes: changes.unwrap_or_default(),
    }
}
