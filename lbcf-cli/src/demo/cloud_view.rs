//! The state of the cloud, on which the demo asserts.

mod azure;
mod observed;

pub(super) use observed::ObservedCloud;

use super::kubectl::list_all;
use super::profile::in_words;
use kube::Client;
use lbcf_controller::api::{BackendRecord, Conditions, condition_types};
use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::Cloud;
use mock_driver::azure::AzureState;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where the state of the cloud is read from.
#[derive(Clone)]
pub(super) enum CloudView {
    Mock(Cloud),
    /// The cloud behind another driver, and the cluster with the records of what it has.
    Observed(Arc<ObservedCloud>, Client),
    /// From the controller's BackendRecords: the cloud behind another driver is not accessible.
    Records(Client),
}

impl std::fmt::Debug for CloudView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Mock(_) => "CloudView::Mock",
            Self::Observed(..) => "CloudView::Observed",
            Self::Records(_) => "CloudView::Records",
        })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Registered {
    /// The parameters of each target by the pod's address, or by the pod's name with another driver.
    pub(super) targets: BTreeMap<String, StringMap>,
}

/// A backend that is registered with a load balancer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Target {
    /// The pod's address, or the pod's name with another driver; or a static address.
    pub(super) address: String,
    pub(super) parameters: StringMap,
}

impl Registered {
    /// Whether there are the same targets, with at least the expected parameters.
    pub(super) fn has_exactly(&self, expected: &Self) -> bool {
        self.targets.len() == expected.targets.len()
            && expected.targets.iter().all(|(address, parameters)| {
                let found = self.targets.get(address);
                found.is_some_and(|found| contains(found, parameters))
            })
    }
}

/// Whether a map has all fields of another.
pub(super) fn contains(map: &StringMap, fields: &StringMap) -> bool {
    fields
        .iter()
        .all(|(key, value)| map.get(key) == Some(value))
}

impl CloudView {
    pub(super) async fn registered(&self) -> Result<Registered, String> {
        let targets = self.targets().await?.into_iter();
        let targets = targets.map(|target| (target.address, target.parameters));
        Ok(Registered {
            targets: targets.collect(),
        })
    }

    /// The targets of all load balancers, once for each.
    pub(super) async fn targets(&self) -> Result<Vec<Target>, String> {
        Ok(match self {
            Self::Mock(cloud) => cloud
                .observe()
                .load_balancers
                .into_iter()
                .flat_map(|lb| lb.backends)
                .map(|backend| Target {
                    address: ip_of(&backend.addr),
                    parameters: backend.parameters,
                })
                .collect(),
            Self::Observed(cloud, client) => cloud.targets(client).await?,
            Self::Records(client) => list_all::<BackendRecord>(client)
                .await?
                .into_iter()
                .filter(|record| {
                    record.status.as_ref().is_some_and(|status| {
                        status.conditions.is_true(condition_types::REGISTERED)
                    })
                })
                .map(|record| Target {
                    parameters: (*record.spec.parameters).clone(),
                    address: record
                        .spec
                        .pod_backend
                        .map(|pod| pod.name)
                        .unwrap_or_default(),
                })
                .collect(),
        })
    }

    /// The resources of the Azure-like cloud, if it is one.
    pub(super) fn azure(&self) -> Option<AzureState> {
        match self {
            Self::Mock(cloud) if cloud.is_azure() => cloud.state().azure,
            _ => None,
        }
    }

    /// How [`Target::address`] names a pod, which is given by name and address.
    pub(super) fn address_of(&self, (name, ip): &(String, String)) -> String {
        match self {
            Self::Mock(_) => ip.clone(),
            Self::Observed(..) | Self::Records(_) => name.clone(),
        }
    }

    /// The targets when exactly these pods are registered, given by name and address.
    pub(super) fn expected(&self, pods: &[(String, String)], parameters: &StringMap) -> Registered {
        Registered {
            targets: pods
                .iter()
                .map(|pod| (self.address_of(pod), parameters.clone()))
                .collect(),
        }
    }

    /// A few lines for the text output.
    pub(super) async fn describe(&self) -> Vec<String> {
        let lines = match self {
            Self::Mock(cloud) if cloud.is_azure() => {
                azure::describe(&self.azure().unwrap_or_default())
            }
            Self::Mock(cloud) => cloud
                .observe()
                .load_balancers
                .iter()
                .flat_map(|lb| {
                    let info: Vec<_> = lb.lb_info.values().map(String::as_str).collect();
                    let attributes: Vec<_> = lb
                        .attributes
                        .iter()
                        .map(|(key, value)| format!("{key}={value}"))
                        .collect();
                    let head = format!("{}  {}", info.join("/"), attributes.join(" "));
                    let targets: BTreeSet<_> = lb
                        .backends
                        .iter()
                        .map(|backend| {
                            let parameters = in_words(&backend.parameters);
                            format!("{} {parameters}", ip_of(&backend.addr))
                        })
                        .collect();
                    std::iter::once(head).chain(few(targets))
                })
                .collect(),
            Self::Observed(cloud, client) => match cloud.describe(client).await {
                Ok(lines) => lines,
                Err(error) => vec![error],
            },
            Self::Records(_) => match self.registered().await {
                Ok(registered) => few(registered
                    .targets
                    .iter()
                    .map(|(pod, parameters)| format!("record of {pod}, {}", in_words(parameters)))
                    .collect()),
                Err(error) => vec![error],
            },
        };
        if lines.is_empty() {
            vec!["empty".to_owned()]
        } else {
            lines
        }
    }

    /// The load balancers and targets that are left in the cloud.
    pub(super) async fn left_behind(&self) -> Vec<String> {
        let cloud = match self {
            Self::Mock(cloud) => cloud,
            Self::Observed(cloud, _) => return cloud.left_behind().await,
            Self::Records(_) => return Vec::new(),
        };
        if let Some(state) = self.azure() {
            return azure::left_behind(&state);
        }
        let mut left = Vec::new();
        for lb in cloud.observe().load_balancers {
            left.push(format!("cloud: load balancer {:?}", lb.lb_info));
            left.extend(
                lb.backends
                    .iter()
                    .map(|backend| format!("cloud: target {}", backend.addr)),
            );
        }
        left
    }

    /// The attributes of the load balancers; none where only records are read.
    pub(super) async fn attributes(&self) -> Result<Vec<StringMap>, String> {
        if let Some(state) = self.azure() {
            return Ok(azure::attributes(&state));
        }
        Ok(match self {
            Self::Mock(cloud) => {
                let all = cloud.observe().load_balancers.into_iter();
                all.map(|lb| lb.attributes).collect()
            }
            Self::Observed(cloud, _) => {
                let all = cloud.load_balancers().await?.into_iter();
                all.map(|lb| lb.attributes).collect()
            }
            Self::Records(_) => Vec::new(),
        })
    }
}

/// The IP in an address of the mock, which is JSON; any other text unchanged.
fn ip_of(addr: &str) -> String {
    serde_json::from_str::<serde_json::Value>(addr)
        .ok()
        .and_then(|addr| addr.get("ip")?.as_str().map(str::to_owned))
        .unwrap_or_else(|| addr.to_owned())
}

/// At most eight of the lines, and how many more there are.
fn few(lines: BTreeSet<String>) -> Vec<String> {
    const MAX: usize = 8;
    let more = lines.len().saturating_sub(MAX);
    let mut few: Vec<String> = lines
        .into_iter()
        .take(MAX)
        .map(|line| format!("  {line}"))
        .collect();
    if more > 0 {
        few.push(format!("  … and {more} more"));
    }
    few
}
