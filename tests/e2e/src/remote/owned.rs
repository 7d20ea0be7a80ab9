//! What the tests own on a remote cluster.

use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use lbcf_controller::api::{BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver};

/// Names of namespaces and nodes that begin with this belong to the tests.
pub(crate) const PREFIX: &str = "lbcf-e2e-";
/// The label of nodes and namespaces of the tests.
pub(super) const LABEL: &str = "lbcf.tkestack.io/e2e";
/// The lease whose existence says that everything below belongs to the tests.
pub(super) const MARKER: &str = "lbcf-e2e";
/// Allows the standby its own lease, which the manifests do not.
pub(super) const STANDBY_ROLE: &str = "lbcf-e2e-standby";
/// The lease of the standby, which never leads.
pub(crate) const STANDBY: &str = "standby";

const SYSTEM: Option<&str> = Some(crate::manifests::SYSTEM);

/// An object of which there is one in the cluster.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub(super) group: &'static str,
    pub(super) kind: &'static str,
    pub(super) plural: &'static str,
    pub(super) namespace: Option<&'static str>,
    pub(super) name: &'static str,
}

impl Named {
    const fn new(
        (group, kind, plural): (&'static str, &'static str, &'static str),
        namespace: Option<&'static str>,
        name: &'static str,
    ) -> Self {
        Self {
            group,
            kind,
            plural,
            namespace,
            name,
        }
    }

    pub(super) fn api(&self, client: &Client) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(self.group, "v1", self.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, self.plural);
        match self.namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
            None => Api::all_with(client.clone(), &resource),
        }
    }

    /// As kubectl takes it.
    pub(super) fn describe(&self) -> String {
        let namespace = self.namespace.map(|name| format!(" -n {name}"));
        let Self { plural, name, .. } = self;
        format!("{plural} {name}{}", namespace.unwrap_or_default())
    }
}

const RBAC: &str = "rbac.authorization.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";
const ROLE: (&str, &str, &str) = (RBAC, "Role", "roles");
const ROLE_BINDING: (&str, &str, &str) = (RBAC, "RoleBinding", "rolebindings");
const LEASE: (&str, &str, &str) = ("coordination.k8s.io", "Lease", "leases");

/// What a world creates outside its namespaces. Webhook configurations come first, because without a
/// controller the API server refuses the deletion of what they are about.
pub(super) const OF_WORLDS: [Named; 6] = [
    Named::new(
        (
            ADMISSION,
            "MutatingWebhookConfiguration",
            "mutatingwebhookconfigurations",
        ),
        None,
        lbcf_controller::admission::MUTATING_CONFIGURATION,
    ),
    Named::new(
        (
            ADMISSION,
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
        ),
        None,
        lbcf_controller::admission::VALIDATING_CONFIGURATION,
    ),
    Named::new(LEASE, SYSTEM, "lbcf-controller"),
    Named::new(LEASE, SYSTEM, STANDBY),
    Named::new(
        ("", "Secret", "secrets"),
        SYSTEM,
        "lbcf-controller-admission",
    ),
    Named::new(
        ("", "Secret", "secrets"),
        SYSTEM,
        lbcf_controller::names::RECORD_KEY_SECRET,
    ),
];

/// What all worlds need: the controller's permissions.
pub(super) const OF_ALL: [Named; 7] = [
    Named::new(
        (RBAC, "ClusterRoleBinding", "clusterrolebindings"),
        None,
        "lbcf-controller",
    ),
    Named::new(
        (RBAC, "ClusterRole", "clusterroles"),
        None,
        "lbcf-controller",
    ),
    Named::new(ROLE_BINDING, SYSTEM, "lbcf-controller"),
    Named::new(ROLE, SYSTEM, "lbcf-controller"),
    Named::new(ROLE_BINDING, SYSTEM, STANDBY_ROLE),
    Named::new(ROLE, SYSTEM, STANDBY_ROLE),
    Named::new(
        ("", "ServiceAccount", "serviceaccounts"),
        SYSTEM,
        "lbcf-controller",
    ),
];

/// The kinds of LBCF: all of their objects belong to the tests.
pub(super) fn kinds() -> [ApiResource; 5] {
    [
        ApiResource::erase::<Bind>(&()),
        ApiResource::erase::<BackendGroup>(&()),
        ApiResource::erase::<BackendRecord>(&()),
        ApiResource::erase::<LoadBalancer>(&()),
        ApiResource::erase::<LoadBalancerDriver>(&()),
    ]
}

pub(super) fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

pub(super) fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}
