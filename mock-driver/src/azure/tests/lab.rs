//! A cloud with a clock that tests advance, and services on it.

use crate::azure::driver::steps::Steps;
use crate::azure::fields::AzureAttributes;
use crate::azure::naming;
use crate::azure::plan::Service;
use crate::azure::{AzureApi, AzureRequest, AzureState, Member, SharedLoadBalancer};
use crate::cloud::{Clock, Cloud};
use crate::resources::Quotas;
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{HookError, fields};
use std::time::Duration;

/// A cloud, and a client of it.
pub(super) struct Lab {
    pub(super) cloud: Cloud,
    pub(super) clock: Clock,
    pub(super) api: AzureApi,
}

pub(super) fn map(pairs: &[(&str, &str)]) -> StringMap {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

pub(super) fn attributes(pairs: &[(&str, &str)]) -> AzureAttributes {
    fields::read("attributes", &map(pairs)).unwrap()
}

/// The service `default/{name}` with TCP port 80.
pub(super) fn service(name: &str, pairs: &[(&str, &str)]) -> Service {
    let spec = map(&[("service", &format!("default/{name}")), ("port", "80")]);
    Service {
        frontend: naming::frontend(name),
        resource_group: "kubernetes".to_owned(),
        spec: fields::read("lbSpec", &spec).unwrap(),
        attributes: attributes(pairs),
    }
}

pub(super) const INTERNAL: (&str, &str) = ("azure-load-balancer-internal", "true");
pub(super) const SHARED: (&str, &str) = ("azure-shared-securityrule", "true");
pub(super) const AUTO: (&str, &str) = ("azure-load-balancer-mode", "auto");

impl Lab {
    pub(super) fn new() -> Self {
        Self::with_provisioning_of(Duration::ZERO)
    }

    pub(super) fn with_provisioning_of(takes: Duration) -> Self {
        let clock = Clock::manual();
        let cloud = Cloud::azure().with_clock(clock.clone());
        let api = AzureApi::new(cloud.clone(), takes);
        Self { cloud, clock, api }
    }

    /// A driver that has just started.
    pub(super) fn steps(&self) -> Steps {
        Steps::new(self.api.clone())
    }

    pub(super) async fn ensure(&self, service: &Service) -> String {
        self.steps().ensure(service).await.unwrap()
    }

    pub(super) async fn delete(&self, service: &Service) {
        let deleted = self.try_delete(service).await;
        deleted.unwrap();
    }

    pub(super) async fn try_delete(&self, service: &Service) -> Result<(), HookError> {
        let group = &service.resource_group;
        self.steps().delete(&service.frontend, group).await
    }

    /// Registers a backend of a service.
    pub(super) fn bind(&self, service: &Service, address: &str) {
        self.cloud.with_azure(|state| {
            let frontend = &service.frontend;
            let done = state.edit(
                |it| it.pools.contains_key(frontend),
                |it| {
                    let pool = it.pools.get_mut(frontend).unwrap();
                    pool.members.insert(address.to_owned(), Member::default());
                },
            );
            done.unwrap();
        });
    }

    pub(super) fn state(&self) -> AzureState {
        self.api.state()
    }

    /// What exists for services: the names of load balancers and public IPs, and the number of rules.
    pub(super) fn left(&self) -> (Vec<String>, Vec<String>, usize) {
        let state = self.state();
        let names = |ids: Vec<String>| ids;
        (
            names(
                state
                    .load_balancers
                    .keys()
                    .map(ToString::to_string)
                    .collect(),
            ),
            names(state.public_ips.keys().map(ToString::to_string).collect()),
            self.security_rules().len(),
        )
    }

    pub(super) fn security_rules(&self) -> Vec<(String, Vec<String>)> {
        let state = self.state();
        let group = state.security_groups.into_values().next().unwrap().resource;
        let rules = group.rules.into_iter();
        rules
            .map(|(name, rule)| (name, Vec::from_iter(rule.destinations)))
            .collect()
    }

    pub(super) fn load_balancer(&self, name: &str) -> SharedLoadBalancer {
        let id = crate::azure::ResourceId::new("kubernetes", name);
        self.state().load_balancers[&id].resource.clone()
    }

    /// The kinds that were changed since `requests` requests, in order.
    pub(super) fn requests_since(&self, requests: usize) -> Vec<String> {
        let requests = self.api.requests().split_off(requests);
        let shown = |request: AzureRequest| {
            let refused = request.refused.map(|code| format!(" {code}"));
            format!(
                "{} {}{}",
                request.method,
                request.kind,
                refused.unwrap_or_default()
            )
        };
        requests.into_iter().map(shown).collect()
    }

    /// Has the cloud's API end after so many writes, as a driver that is killed sees it.
    pub(super) fn fail_after(&self, calls: u32) {
        self.clock.advance(Duration::from_secs(1));
        let calls_per_second = Some(calls);
        self.cloud.set_quotas(Quotas {
            calls_per_second,
            ..Quotas::default()
        });
    }

    pub(super) fn recover(&self) {
        self.cloud.set_quotas(Quotas::default());
    }
}
