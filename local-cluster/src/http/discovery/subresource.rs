//! Which subresources there are.

use crate::http::subresource as served;
use crate::resources::Kind;

/// A part of a resource with an address of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subresource {
    pub(super) name: &'static str,
    /// What is sent to it, unless that is the resource itself.
    pub(super) kind: Option<&'static str>,
    /// The group and version of that kind, unless they are the resource's.
    pub(super) of: Option<(&'static str, &'static str)>,
    pub(super) verbs: &'static [&'static str],
}

const CHANGE: &[&str] = &["get", "patch", "update"];
const CREATE: &[&str] = &["create"];
const STREAM: &[&str] = &["create", "get"];
const PROXY: &[&str] = &["create", "delete", "get", "patch", "update"];

const STATUS: Subresource = part("status", CHANGE);
const SCALE: Subresource = other("scale", "autoscaling", "Scale", CHANGE);

/// The subresources besides `status` that a cluster serves.
const OTHERS: &[(&str, &str, Subresource)] = &[
    ("", "namespaces", part("finalize", &["update"])),
    ("", "nodes", of_kind("proxy", "NodeProxyOptions", PROXY)),
    ("", "pods", of_kind("attach", "PodAttachOptions", STREAM)),
    ("", "pods", of_kind("binding", "Binding", CREATE)),
    ("", "pods", part("ephemeralcontainers", CHANGE)),
    ("", "pods", other("eviction", "policy", "Eviction", CREATE)),
    ("", "pods", of_kind("exec", "PodExecOptions", STREAM)),
    ("", "pods", part("log", &["get"])),
    (
        "",
        "pods",
        of_kind("portforward", "PodPortForwardOptions", STREAM),
    ),
    ("", "pods", of_kind("proxy", "PodProxyOptions", PROXY)),
    ("", "pods", part("resize", CHANGE)),
    ("", "replicationcontrollers", SCALE),
    (
        "",
        "serviceaccounts",
        other("token", "authentication.k8s.io", "TokenRequest", CREATE),
    ),
    (
        "",
        "services",
        of_kind("proxy", "ServiceProxyOptions", PROXY),
    ),
    ("apps", "deployments", SCALE),
    ("apps", "replicasets", SCALE),
    ("apps", "statefulsets", SCALE),
    (
        "certificates.k8s.io",
        "certificatesigningrequests",
        part("approval", CHANGE),
    ),
];

const fn part(name: &'static str, verbs: &'static [&'static str]) -> Subresource {
    Subresource {
        name,
        kind: None,
        of: None,
        verbs,
    }
}

const fn of_kind(
    name: &'static str,
    kind: &'static str,
    verbs: &'static [&'static str],
) -> Subresource {
    Subresource {
        kind: Some(kind),
        ..part(name, verbs)
    }
}

const fn other(
    name: &'static str,
    group: &'static str,
    kind: &'static str,
    verbs: &'static [&'static str],
) -> Subresource {
    Subresource {
        of: Some((group, "v1")),
        ..of_kind(name, kind, verbs)
    }
}

impl Subresource {
    /// The subresources of a kind, by name. Those that are not served are not listed, as who finds
    /// one listed uses it.
    pub(super) fn of(kind: &Kind) -> Vec<Self> {
        let others = OTHERS
            .iter()
            .filter(|(group, plural, _)| kind.is(group, plural))
            .map(|(_, _, part)| *part);
        let scale = kind.is_custom().then_some(SCALE);
        let mut found: Vec<Self> = others
            .chain(scale)
            .chain([STATUS])
            .filter(|part| served::Subresource::of(kind, part.name).is_some())
            .collect();
        found.sort_by_key(|part| part.name);
        found
    }
}
