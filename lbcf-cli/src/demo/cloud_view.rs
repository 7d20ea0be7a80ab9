//! The state of the cloud, on which the demo asserts.

mod azure;
mod target;

pub(super) use target::{Registered, Target};

use super::kubectl::list_all;
use super::maps::in_words;
use kube::Client;
use lbcf_conformance::observer::{
    Observation, ObservedBackend, ObservedLoadBalancer, Observer, ObserverError,
};
use lbcf_controller::api::{BackendRecord, Conditions, condition_types};
use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::Cloud;
use mock_driver::azure::AzureState;
use std::collections::BTreeMap;
use target::{few, ip_of};

pub(super) struct CloudView {
    source: Source,
    /// The cluster, whose records name the pods of another driver's backends.
    client: Client,
}

/// Where the state of the cloud is read from.
pub(super) enum Source {
    Mock(Cloud),
    /// The cloud behind another driver, and what was there before the demo.
    Observer(Observer, Observation),
    /// The controller's BackendRecords: the cloud behind another driver is not accessible.
    Records,
}

impl Source {
    pub(super) async fn observer(observer: Observer) -> Result<Self, ObserverError> {
        let before = observer.observe().await?;
        Ok(Self::Observer(observer, before))
    }
}

impl CloudView {
    pub(super) const fn new(source: Source, client: Client) -> Self {
        Self { source, client }
    }

    /// False where only records are read.
    pub(super) const fn is_accessible(&self) -> bool {
        !matches!(self.source, Source::Records)
    }

    pub(super) async fn registered(&self) -> Result<Registered, String> {
        let targets = self.targets().await?.into_iter();
        let targets = targets.map(|target| (target.address, target.parameters));
        Ok(Registered {
            targets: targets.collect(),
        })
    }

    /// The targets of all load balancers, once for each.
    pub(super) async fn targets(&self) -> Result<Vec<Target>, String> {
        if let Source::Records = self.source {
            return self.recorded_targets().await;
        }
        let names = self.pod_names().await?;
        let backends = self.load_balancers().await?.into_iter();
        let backends = backends.flat_map(|it| it.backends);
        let target = |ObservedBackend { addr, parameters }| Target {
            address: names.get(&addr).cloned().unwrap_or_else(|| ip_of(&addr)),
            parameters,
        };
        Ok(backends.map(target).collect())
    }

    async fn recorded_targets(&self) -> Result<Vec<Target>, String> {
        let records = list_all::<BackendRecord>(&self.client).await?.into_iter();
        let is_registered = |record: &BackendRecord| {
            let status = record.status.as_ref();
            status.is_some_and(|it| it.conditions.is_true(condition_types::REGISTERED))
        };
        let target = |record: BackendRecord| Target {
            parameters: (*record.spec.parameters).clone(),
            address: record
                .spec
                .pod_backend
                .map(|pod| pod.name)
                .unwrap_or_default(),
        };
        Ok(records.filter(is_registered).map(target).collect())
    }

    /// The resources of the Azure-like cloud, if it is one.
    pub(super) fn azure(&self) -> Option<AzureState> {
        match &self.source {
            Source::Mock(cloud) if cloud.is_azure() => cloud.state().azure,
            _ => None,
        }
    }

    /// The [`Target::address`] of a pod, which is given by name and address.
    pub(super) fn address_of(&self, (name, ip): &(String, String)) -> String {
        match self.source {
            Source::Mock(_) => ip.clone(),
            Source::Observer(..) | Source::Records => name.clone(),
        }
    }

    /// The targets when exactly these pods are registered, given by name and address.
    pub(super) fn expected(&self, pods: &[(String, String)], parameters: &StringMap) -> Registered {
        let target = |pod| (self.address_of(pod), parameters.clone());
        Registered {
            targets: pods.iter().map(target).collect(),
        }
    }

    /// A few lines for the text output.
    pub(super) async fn describe(&self) -> Vec<String> {
        let lines = self.described().await;
        let lines = lines.unwrap_or_else(|error| vec![error]);
        match lines.is_empty() {
            true => vec!["empty".to_owned()],
            false => lines,
        }
    }

    async fn described(&self) -> Result<Vec<String>, String> {
        if let Some(state) = self.azure() {
            return Ok(azure::describe(&state));
        }
        if let Source::Records = self.source {
            let targets = self.registered().await?.targets;
            let line = |(pod, parameters): (&String, &StringMap)| {
                format!("record of {pod}, {}", in_words(parameters))
            };
            return Ok(few(targets.iter().map(line).collect()));
        }
        let names = self.pod_names().await?;
        let mut lines = Vec::new();
        for it in self.load_balancers().await? {
            let identity: Vec<_> = it.lb_info.values().map(String::as_str).collect();
            let attributes = it.attributes.iter();
            let attributes: Vec<_> = attributes
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            lines.push(format!("{}  {}", identity.join("/"), attributes.join(" ")));
            let backend = |it: &ObservedBackend| {
                let parameters = in_words(&it.parameters);
                match names.get(&it.addr) {
                    Some(name) => format!("{} of {name} {parameters}", it.addr),
                    None => format!("{} {parameters}", ip_of(&it.addr)),
                }
            };
            lines.extend(few(it.backends.iter().map(backend).collect()));
        }
        Ok(lines)
    }

    /// The load balancers and targets that are left in the cloud.
    pub(super) async fn left_behind(&self) -> Vec<String> {
        if let Some(state) = self.azure() {
            return azure::left_behind(&state);
        }
        let load_balancers = match self.load_balancers().await {
            Ok(load_balancers) => load_balancers,
            Err(error) => return vec![format!("cloud: {error}")],
        };
        let mut left = Vec::new();
        for it in load_balancers {
            left.push(format!("cloud: load balancer {:?}", it.lb_info));
            let targets = it.backends.iter();
            left.extend(targets.map(|backend| format!("cloud: target {}", backend.addr)));
        }
        left
    }

    /// The attributes of the load balancers; none where only records are read.
    pub(super) async fn attributes(&self) -> Result<Vec<StringMap>, String> {
        if let Some(state) = self.azure() {
            return Ok(azure::attributes(&state));
        }
        let load_balancers = self.load_balancers().await?.into_iter();
        Ok(load_balancers.map(|it| it.attributes).collect())
    }

    /// Of another driver's, those that are new or have backends that are, with only those; none where only
    /// records are read.
    async fn load_balancers(&self) -> Result<Vec<ObservedLoadBalancer>, String> {
        match &self.source {
            Source::Mock(cloud) => Ok(observe(cloud)),
            Source::Observer(observer, before) => {
                let observed = observer
                    .observe()
                    .await
                    .map_err(|error| error.to_string())?;
                let all = observed.load_balancers.into_iter();
                Ok(all.filter_map(|it| since(before, it)).collect())
            }
            Source::Records => Ok(Vec::new()),
        }
    }

    /// The pods of another driver's backends, by the addresses of their records.
    async fn pod_names(&self) -> Result<BTreeMap<String, String>, String> {
        if let Source::Mock(_) = self.source {
            return Ok(BTreeMap::new());
        }
        let records = list_all::<BackendRecord>(&self.client).await?.into_iter();
        let named = records.filter_map(|record| {
            Some((record.status?.backend_addr, record.spec.pod_backend?.name))
        });
        Ok(named.collect())
    }
}

fn observe(cloud: &Cloud) -> Vec<ObservedLoadBalancer> {
    let all = cloud.observe().load_balancers.into_iter();
    all.map(|it| ObservedLoadBalancer {
        lb_info: it.lb_info,
        attributes: it.attributes,
        backends: it
            .backends
            .into_iter()
            .map(|backend| ObservedBackend {
                addr: backend.addr,
                parameters: backend.parameters,
            })
            .collect(),
    })
    .collect()
}

fn since(before: &Observation, mut it: ObservedLoadBalancer) -> Option<ObservedLoadBalancer> {
    let Some(before) = before.load_balancer(&it.lb_info) else {
        return Some(it);
    };
    it.backends
        .retain(|backend| before.backend(&backend.addr).is_none());
    (!it.backends.is_empty()).then_some(it)
}
