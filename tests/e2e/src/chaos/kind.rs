//! The kinds that histories are about, without their Rust types: what a user writes is JSON, and the model
//! shares no code with the controller.

use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Namespace,
    Node,
    Pod,
    Service,
    Driver,
    LoadBalancer,
    Group,
    Bind,
    Record,
    Event,
}

impl Kind {
    /// The kinds of LBCF.
    pub(super) const LBCF: [Self; 5] = [
        Self::Driver,
        Self::LoadBalancer,
        Self::Group,
        Self::Bind,
        Self::Record,
    ];

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Namespace => ("Namespace", "namespaces"),
            Self::Node => ("Node", "nodes"),
            Self::Pod => ("Pod", "pods"),
            Self::Service => ("Service", "services"),
            Self::Driver => ("LoadBalancerDriver", "loadbalancerdrivers"),
            Self::LoadBalancer => ("LoadBalancer", "loadbalancers"),
            Self::Group => ("BackendGroup", "backendgroups"),
            Self::Bind => ("Bind", "binds"),
            Self::Record => ("BackendRecord", "backendrecords"),
            Self::Event => ("Event", "events"),
        }
    }

    /// As kubectl takes it.
    pub(super) fn plural(self) -> &'static str {
        self.names().1
    }

    pub(super) fn name(self) -> &'static str {
        self.names().0
    }

    pub(super) fn api_version(self) -> String {
        self.resource().api_version
    }

    fn resource(self) -> ApiResource {
        let (kind, plural) = self.names();
        let (group, version) = match self {
            Self::Namespace | Self::Node | Self::Pod | Self::Service | Self::Event => ("", "v1"),
            Self::Bind => ("lbcf.tkestack.io", "v1"),
            _ => ("lbcf.tkestack.io", "v1beta1"),
        };
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural)
    }

    /// The objects of a namespace; all objects of the cluster where it is empty.
    pub(super) fn api(self, client: &Client, namespace: &str) -> Api<DynamicObject> {
        let (client, resource) = (client.clone(), self.resource());
        match namespace {
            "" => Api::all_with(client, &resource),
            namespace => Api::namespaced_with(client, namespace, &resource),
        }
    }
}
