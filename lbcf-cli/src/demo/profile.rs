//! A profile of the demo: what the fields of its objects are, and which steps they can show. The steps are
//! the same functions for each.

mod azure;
mod clb;

use super::kubectl::{BIND, EXISTING_LOAD_BALANCER, LOAD_BALANCER};
use super::steps::TourStep;
use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::cli::Profile as MockProfile;
use serde_json::{Value, json};

/// The fields of the demo's objects for one kind of driver.
#[derive(Debug, Clone)]
pub(super) struct Profile {
    /// Those of the LoadBalancers; `None` for those in `deploy/examples`.
    pub(super) load_balancers: Option<LoadBalancers>,
    /// Those of the groups, at first.
    pub(super) parameters: StringMap,
    /// To what those of the first group change.
    pub(super) updated_parameters: Option<StringMap>,
    /// What the driver refuses.
    pub(super) refused_parameters: Option<StringMap>,
    /// Those of the Bind.
    pub(super) bind_parameters: StringMap,
    /// What changes on the first LoadBalancer.
    pub(super) updated_attributes: Option<StringMap>,
    /// The load balancer of the static addresses, in words.
    pub(super) static_load_balancer: &'static str,
    /// What the demo cannot show with it, in words.
    pub(super) without: Option<&'static str>,
    /// The steps in their order.
    pub(super) steps: &'static [TourStep],
}

/// The fields of the LoadBalancers that the demo creates.
#[derive(Debug, Clone)]
pub(super) struct LoadBalancers {
    pub(super) first: LoadBalancerFields,
    pub(super) of_bind: [LoadBalancerFields; 2],
    pub(super) of_static: LoadBalancerFields,
}

#[derive(Debug, Clone)]
pub(super) struct LoadBalancerFields {
    pub(super) lb_spec: StringMap,
    pub(super) attributes: StringMap,
}

/// A manifest in `deploy/examples`, and the values by JSON pointer that are different in the demo.
#[derive(Debug, Clone)]
pub(super) struct Manifest {
    pub(super) file: (&'static str, &'static str),
    pub(super) changes: Vec<(&'static str, Value)>,
}

impl Profile {
    pub(super) fn of_mock(profile: MockProfile) -> Self {
        match profile {
            MockProfile::Clb => clb::profile(),
            MockProfile::Azure => azure::profile(),
        }
    }

    pub(super) fn load_balancer(&self) -> Manifest {
        let fields = self.load_balancers.as_ref().map(|all| &all.first);
        Manifest::of_load_balancer(LOAD_BALANCER, fields)
    }

    pub(super) fn load_balancer_of_static(&self) -> Manifest {
        let fields = self.load_balancers.as_ref().map(|all| &all.of_static);
        Manifest::of_load_balancer(EXISTING_LOAD_BALANCER, fields)
    }

    /// A group, with the parameters of the profile.
    pub(super) fn group(&self, file: (&'static str, &'static str)) -> Manifest {
        Manifest {
            file,
            changes: vec![("/spec/parameters", json!(self.parameters))],
        }
    }

    pub(super) fn bind(&self) -> Manifest {
        let mut changes = vec![("/spec/parameters", json!(self.bind_parameters))];
        if let Some(all) = &self.load_balancers {
            let [one, other] = &all.of_bind;
            changes.extend([
                ("/spec/loadBalancers/0/spec", json!(one.lb_spec)),
                ("/spec/loadBalancers/0/attributes", json!(one.attributes)),
                ("/spec/loadBalancers/1/spec", json!(other.lb_spec)),
                ("/spec/loadBalancers/1/attributes", json!(other.attributes)),
            ]);
        }
        Manifest {
            file: BIND,
            changes,
        }
    }
}

impl From<(&'static str, &'static str)> for Manifest {
    fn from(file: (&'static str, &'static str)) -> Self {
        Self {
            file,
            changes: Vec::new(),
        }
    }
}

impl Manifest {
    fn of_load_balancer(
        file: (&'static str, &'static str),
        fields: Option<&LoadBalancerFields>,
    ) -> Self {
        let changes = fields.map(|fields| {
            vec![
                ("/spec/lbSpec", json!(fields.lb_spec)),
                ("/spec/attributes", json!(fields.attributes)),
            ]
        });
        Self {
            file,
            changes: changes.unwrap_or_default(),
        }
    }
}

/// Parameters in words, such as `weight 50`.
pub(super) fn in_words(parameters: &StringMap) -> String {
    let words = parameters
        .iter()
        .map(|(key, value)| format!("{key} {value}"));
    words.collect::<Vec<_>>().join(", ")
}

fn map<const N: usize>(pairs: [(&str, &str); N]) -> StringMap {
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    pairs.into()
}
