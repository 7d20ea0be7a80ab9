//! Which backends an owner has of a Service. No I/O, no clock.

use super::endpoints::{EndpointCandidates, EndpointPort};
use super::nodes::{self, CandidateNode, NodePort};
use crate::api::{BackendRecord, DeregisterPolicy, ServiceSelection};
use crate::backends::Eligibility;
use crate::index::{NodeView, ServiceView, unit_of};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the backends may consist of.
#[derive(Debug)]
pub(crate) enum ServiceCandidates {
    Nodes {
        service: Option<Arc<ServiceView>>,
        nodes: Vec<CandidateNode>,
    },
    Endpoints(EndpointCandidates),
}

/// One backend of a Service.
#[derive(Debug, Clone)]
pub(crate) enum BackendOfService<'a> {
    Node {
        service: &'a str,
        port: NodePort,
        node: &'a NodeView,
    },
    Endpoint {
        service: &'a str,
        endpoint: EndpointPort,
    },
}

impl ServiceCandidates {
    pub(crate) fn backends<'a>(
        &'a self,
        selection: &'a ServiceSelection,
        policy: Option<DeregisterPolicy>,
    ) -> Vec<(BackendOfService<'a>, Eligibility)> {
        let name = &selection.name;
        match self {
            Self::Nodes { service, nodes } => {
                let service = service.iter();
                let on_nodes = service.flat_map(|it| nodes::backends(it, selection, nodes));
                let backends = on_nodes.map(|(port, node)| BackendOfService::Node {
                    service: name,
                    port,
                    node,
                });
                backends.map(|it| (it, Eligibility::Registered)).collect()
            }
            Self::Endpoints(candidates) => {
                let endpoints = candidates.backends(selection, policy).into_iter();
                let backends = endpoints.map(|endpoint| {
                    let eligibility = endpoint.eligibility;
                    let service = name.as_str();
                    (
                        BackendOfService::Endpoint { service, endpoint },
                        eligibility,
                    )
                });
                backends.collect()
            }
        }
    }

    /// The names of the records of addresses that no slice has now. Those that become backends again in the
    /// meantime are not registered again (d61). `is_at_its_load_balancer` tells whether a record's load
    /// balancer is still what it was.
    pub(crate) fn awaited(
        &self,
        records: &[Arc<BackendRecord>],
        is_at_its_load_balancer: impl Fn(&BackendRecord) -> bool,
    ) -> BTreeSet<String> {
        let Self::Endpoints(candidates) = self else {
            return BTreeSet::new();
        };
        let is_awaited = |record: &&Arc<BackendRecord>| {
            record.spec.endpoint_backend.is_some()
                && candidates.awaited.contains(unit_of(record))
                && is_at_its_load_balancer(record)
        };
        let records = records.iter().filter(is_awaited);
        records
            .filter_map(|record| record.metadata.name.clone())
            .collect()
    }
}
