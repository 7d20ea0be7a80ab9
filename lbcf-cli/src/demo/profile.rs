//! A profile of the demo: what the fields of its objects are, and which steps they can show. The steps are
//! the same functions for each.

mod azure;
mod clb;
mod fixture;

pub use fixture::FixtureProblem;
pub(super) use fixture::{described, read_fixture, served_fixture};

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
    /// What those of the first group become.
    pub(super) updated_parameters: Option<StringMap>,
    /// What the driver refuses.
    pub(super) refused_parameters: Option<StringMap>,
    /// Those of the Bind.
    pub(super) bind_parameters: StringMap,
    /// What those of the first LoadBalancer become; where its fields are those of the example, what changes.
    pub(super) updated_attributes: Option<StringMap>,
    /// The load balancer of the static addresses, in words.
    pub(super) static_load_balancer: &'static str,
    /// What the demo cannot show with it, in words.
    pub(super) without: Option<&'static str>,
    /// The fixture that the fields are from.
    pub(super) source: Option<String>,
    /// The steps in their order.
    pub(super) steps: &'static [TourStep],
}

/// The fields of the LoadBalancers that the demo creates.
#[derive(Debug, Clone)]
pub(super) struct LoadBalancers {
    pub(super) first: LoadBalancerFields,
    /// `None` if the demo cannot have so many.
    pub(super) of_bind: Option<[LoadBalancerFields; 2]>,
    /// `None` if nothing is known of static addresses.
    pub(super) of_static: Option<LoadBalancerFields>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
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
        let fields = self
            .load_balancers
            .as_ref()
            .and_then(|all| all.of_static.as_ref());
        Manifest::of_load_balancer(EXISTING_LOAD_BALANCER, fields)
    }

    /// A group, with the parameters of the profile.
    pub(super) fn group(&self, file: (&'static str, &'static str)) -> Manifest {
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

/// A merge patch from one map to another.
pub(super) fn patch(old: &StringMap, new: &StringMap) -> Value {
    let removed = old.keys().filter(|key| !new.contains_key(*key));
    let removed = removed.map(|key| (key.clone(), Value::Null));
    let set = new.iter().map(|(key, value)| (key.clone(), json!(value)));
    Value::Object(removed.chain(set).collect())
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
