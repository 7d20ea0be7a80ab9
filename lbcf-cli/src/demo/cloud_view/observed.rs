//! The cloud of another driver, as the observer of its fixture shows it. The names of pods are those of the
//! records with the same address.

use super::{Target, few};
use crate::demo::kubectl::list_all;
use crate::demo::profile::in_words;
use kube::Client;
use lbcf_conformance::observer::{Observation, ObservedLoadBalancer, Observer, ObserverError};
use lbcf_controller::api::BackendRecord;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(in crate::demo) struct ObservedCloud {
    observer: Observer,
    /// What was there before the demo.
    before: Observation,
}

impl ObservedCloud {
    pub(in crate::demo) async fn new(observer: Observer) -> Result<Self, ObserverError> {
        let before = observer.observe().await?;
        Ok(Self { observer, before })
    }

    /// The load balancers that are new, or have backends that are; with only those.
    pub(super) async fn load_balancers(&self) -> Result<Vec<ObservedLoadBalancer>, String> {
        let observed = self.observer.observe().await;
        let observed = observed.map_err(|error| error.to_string())?;
        let all = observed.load_balancers.into_iter();
        Ok(all.filter_map(|it| self.since_before(it)).collect())
    }

    fn since_before(&self, mut it: ObservedLoadBalancer) -> Option<ObservedLoadBalancer> {
        let Some(before) = self.before.load_balancer(&it.lb_info) else {
            return Some(it);
        };
        it.backends
            .retain(|backend| before.backend(&backend.addr).is_none());
        (!it.backends.is_empty()).then_some(it)
    }

    pub(super) async fn targets(&self, client: &Client) -> Result<Vec<Target>, String> {
        let names = names(client).await?;
        let backends = self.load_balancers().await?.into_iter();
        let backends = backends.flat_map(|it| it.backends);
        let target = |backend: lbcf_conformance::observer::ObservedBackend| Target {
            address: names.get(&backend.addr).unwrap_or(&backend.addr).clone(),
            parameters: backend.parameters,
        };
        Ok(backends.map(target).collect())
    }

    pub(super) async fn describe(&self, client: &Client) -> Result<Vec<String>, String> {
        let names = names(client).await?;
        let mut lines = Vec::new();
        for it in self.load_balancers().await? {
            let lb_info: Vec<_> = it.lb_info.values().map(String::as_str).collect();
            lines.push(format!(
                "{}  {}",
                lb_info.join("/"),
                in_words(&it.attributes)
            ));
            let backends = it.backends.iter().map(|backend| {
                let name = names.get(&backend.addr).map_or("no record", String::as_str);
                let parameters = in_words(&backend.parameters);
                format!("{} of {name} {parameters}", backend.addr)
            });
            lines.extend(few(backends.collect()));
        }
        Ok(lines)
    }

    pub(super) async fn left_behind(&self) -> Vec<String> {
        match self.load_balancers().await {
            Ok(left) => left
                .into_iter()
                .map(|it| format!("cloud: load balancer {:?}", it.lb_info))
                .collect(),
            Err(error) => vec![format!("cloud: {error}")],
        }
    }
}

/// The names of pods by the addresses of their records.
async fn names(client: &Client) -> Result<BTreeMap<String, String>, String> {
    let records = list_all::<BackendRecord>(client).await?.into_iter();
    let named = records
        .filter_map(|record| Some((record.status?.backend_addr, record.spec.pod_backend?.name)));
    Ok(named.collect())
}
