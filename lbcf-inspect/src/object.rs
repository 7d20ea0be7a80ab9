//! References to objects, as users write them for kubectl.

use lbcf_controller::api::GROUP;
use lbcf_controller::{ObjectKey, names};
use std::fmt;

/// A kind that is read, most of which can be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // Kubernetes' and LBCF's own names.
pub enum Kind {
    LoadBalancerDriver,
    LoadBalancer,
    BackendGroup,
    Bind,
    BackendRecord,
    Service,
    EndpointSlice,
    Pod,
    Node,
    Deployment,
    Lease,
    Event,
    CustomResourceDefinition,
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
}

/// A kind, and where the API server has it.
pub(crate) struct KindInfo {
    pub(crate) kind: Kind,
    pub(crate) name: &'static str,
    pub(crate) plural: &'static str,
    /// Names that kubectl knows beside these.
    short: &'static str,
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    /// True if objects of other namespaces refer to those in `kube-system`.
    pub(crate) is_shared: bool,
}

/// Kind, its three names, where the API server has it, and whether it is shared.
type Row = (Kind, [&'static str; 3], [&'static str; 2], bool);

const fn info((kind, [name, plural, short], [group, version], is_shared): Row) -> KindInfo {
    KindInfo {
        kind,
        name,
        plural,
        short,
        group,
        version,
        is_shared,
    }
}

#[rustfmt::skip]
pub(crate) const KINDS: &[KindInfo] = &[
    info((Kind::LoadBalancerDriver, ["LoadBalancerDriver", "loadbalancerdrivers", "lbd driver"], [GROUP, "v1beta1"], true)),
    info((Kind::LoadBalancer, ["LoadBalancer", "loadbalancers", "lb"], [GROUP, "v1beta1"], true)),
    info((Kind::BackendGroup, ["BackendGroup", "backendgroups", "bg"], [GROUP, "v1beta1"], false)),
    info((Kind::Bind, ["Bind", "binds", ""], [GROUP, "v1"], false)),
    info((Kind::BackendRecord, ["BackendRecord", "backendrecords", "br"], [GROUP, "v1beta1"], false)),
    info((Kind::Service, ["Service", "services", "svc"], ["", "v1"], true)),
    info((Kind::EndpointSlice, ["EndpointSlice", "endpointslices", ""], ["discovery.k8s.io", "v1"], false)),
    info((Kind::Pod, ["Pod", "pods", "po"], ["", "v1"], false)),
    info((Kind::Node, ["Node", "nodes", "no"], ["", "v1"], false)),
    info((Kind::Deployment, ["Deployment", "deployments", "deploy"], ["apps", "v1"], true)),
    info((Kind::Lease, ["Lease", "leases", ""], ["coordination.k8s.io", "v1"], true)),
    info((Kind::Event, ["Event", "events", "ev"], ["", "v1"], false)),
];

/// Kinds that only the installation consists of: the definitions, and admission.
#[rustfmt::skip]
pub(crate) const INSTALLATION: &[KindInfo] = &[
    info((Kind::CustomResourceDefinition, ["CustomResourceDefinition", "customresourcedefinitions", ""], ["apiextensions.k8s.io", "v1"], true)),
    info((Kind::MutatingWebhookConfiguration, ["MutatingWebhookConfiguration", "mutatingwebhookconfigurations", ""], ["admissionregistration.k8s.io", "v1"], true)),
    info((Kind::ValidatingWebhookConfiguration, ["ValidatingWebhookConfiguration", "validatingwebhookconfigurations", ""], ["admissionregistration.k8s.io", "v1"], true)),
];

impl Kind {
    fn names(self) -> (&'static str, &'static str) {
        let found = KINDS.iter().find(|it| it.kind == self);
        found.map_or(("", ""), |it| (it.name, it.plural))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names().0)
    }
}

/// The text names no kind that can be asked about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: KIND/NAME is needed, such as bg/web; kinds are {allowed}")]
pub struct UnknownKind {
    text: String,
    allowed: String,
}

/// An object by kind, namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace, empty for a node, and its name.
    pub key: ObjectKey,
}

impl ObjectRef {
    /// The object of this kind.
    #[must_use]
    pub const fn new(kind: Kind, key: ObjectKey) -> Self {
        Self { kind, key }
    }

    /// Another object of its namespace.
    pub(crate) fn beside(&self, kind: Kind, name: &str) -> Self {
        Self::new(kind, ObjectKey::new(&*self.key.namespace, name))
    }

    /// The driver or load balancer that it refers to by this name.
    pub(crate) fn resolve(&self, kind: Kind, name: &str) -> Self {
        Self::new(kind, names::resolve(&self.key.namespace, name))
    }

    /// Reads `KIND/NAME` with any name of the kind that kubectl knows.
    ///
    /// # Errors
    /// [`UnknownKind`] lists the kinds.
    pub fn parse(text: &str, namespace: &str) -> Result<Self, UnknownKind> {
        let parts = text.split_once('/').filter(|(_, name)| !name.is_empty());
        let kind = parts.and_then(|(kind, _)| {
            let kind = kind
                .split('.')
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase();
            let is_named = |it: &&KindInfo| {
                let mut short = it.short.split(' ');
                kind == it.name.to_ascii_lowercase()
                    || kind == it.plural
                    || short.any(|it| it == kind)
            };
            let mut kinds = KINDS.iter().filter(|_| !kind.is_empty());
            kinds.find(is_named).map(|it| it.kind)
        });
        let (Some(kind), Some((_, name))) = (kind, parts) else {
            let allowed: Vec<_> = KINDS.iter().map(|it| it.plural).collect();
            return Err(UnknownKind {
                text: text.to_owned(),
                allowed: allowed.join(", "),
            });
        };
        let namespace = if kind == Kind::Node { "" } else { namespace };
        Ok(Self::new(kind, ObjectKey::new(namespace, name)))
    }

    /// Its arguments for kubectl.
    pub(crate) fn arguments(&self) -> String {
        let (_, plural) = self.kind.names();
        let ObjectKey { namespace, name } = &self.key;
        match namespace.is_empty() {
            true => format!("{plural}/{name}"),
            false => format!("-n {namespace} {plural}/{name}"),
        }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.namespace.is_empty() {
            true => write!(f, "{} {}", self.kind, self.key.name),
            false => write!(f, "{} {}", self.kind, self.key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_where_the_crds_have_them() {
        for crd in lbcf_controller::api::crds() {
            let (names, versions) = (crd.spec.names, crd.spec.versions);
            let row = KINDS.iter().find(|it| it.name == names.kind).unwrap();
            let expected = [&*names.plural, &*crd.spec.group, &*versions[0].name];
            assert_eq!([row.plural, row.group, row.version], expected);
        }
    }

    #[test]
    fn objects_are_named_as_for_kubectl() {
        for text in [
            "bg/web",
            "BackendGroup/web",
            "backendgroups.lbcf.tkestack.io/web",
        ] {
            let read = ObjectRef::parse(text, "ns").unwrap();
            assert_eq!(read.to_string(), "BackendGroup ns/web");
            assert_eq!(read.arguments(), "-n ns backendgroups/web");
        }
        let node = ObjectRef::parse("no/a", "ns").unwrap();
        assert_eq!(
            (&*node.to_string(), &*node.arguments()),
            ("Node a", "nodes/a")
        );
        for text in ["web", "bg/", "/web", "ingress/web", ""] {
            let error = ObjectRef::parse(text, "ns").unwrap_err().to_string();
            assert!(
                error.contains(&format!("{text:?}")) && error.contains("backendgroups"),
                "{error}"
            );
        }
    }
}
