//! The checks of single fields of built-in kinds.

use super::walker::Check::{All, Keys, Most, OneOf, Range, Required, Text, Unique, UniqueText};
use super::walker::{Check, Row};
use crate::names;

const PORT_NAME: &str = "must be an IANA_SVC_NAME (at most 15 characters, matching regex [a-z0-9]([a-z0-9-]*[a-z0-9])*, it must contain at least one letter [a-z], and hyphens cannot be adjacent to other hyphens): e.g. \"http\"";
const KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const HOOK_NAME: &str = "should be a domain with at least three segments separated by dots";

const LABEL: Check = Text(names::is_label, names::LABEL);
const SUBDOMAIN: Check = Text(names::is_subdomain, names::SUBDOMAIN);
const PORT: Check = Range(1, 65_535);
const REQUIRED: &[Check] = &[Required];
const NAME: &[Check] = &[Required, LABEL, Unique];
const PROTOCOL: Check = OneOf(&["SCTP", "TCP", "UDP"]);
const TRAFFIC: Check = OneOf(&["Cluster", "Local"]);

/// The rows of a built-in kind; those of a pod template are part of its workload.
pub(super) fn rows(group: &str, plural: &str) -> &'static [Row] {
    match (group, plural) {
        ("", "pods") => &[("spec", &[All(POD_SPEC)])],
        ("", "services") => SERVICE,
        ("", "configmaps" | "secrets") => &[("data|binaryData", &[Keys(is_config_key, KEY)])],
        ("coordination.k8s.io", "leases") => LEASE,
        ("discovery.k8s.io", "endpointslices") => SLICE,
        ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets") => WORKLOAD,
        ("apiextensions.k8s.io", _) => DEFINITION,
        ("admissionregistration.k8s.io", plural) if plural.ends_with("webhookconfigurations") => {
            &[("webhooks[*]", &[All(WEBHOOK)])]
        }
        _ => &[],
    }
}

/// Fields that keep the value that they once have.
pub(super) fn immutable(group: &str, plural: &str) -> &'static [&'static str] {
    match (group, plural) {
        ("", "secrets") => &["type"],
        ("", "nodes") => &["spec.podCIDRs", "spec.providerID"],
        ("discovery.k8s.io", "endpointslices") => &["addressType"],
        ("apps", "deployments" | "replicasets" | "daemonsets") => &["spec.selector"],
        ("apps", "statefulsets") => &[
            "spec.selector",
            "spec.serviceName",
            "spec.podManagementPolicy",
            "spec.volumeClaimTemplates",
        ],
        _ => &[],
    }
}

const POD_SPEC: &[Row] = &[
    ("volumes[*].name", NAME),
    ("containers", REQUIRED),
    ("containers|initContainers[*]", &[All(CONTAINER)]),
    ("restartPolicy", &[OneOf(&["Always", "OnFailure", "Never"])]),
    ("activeDeadlineSeconds", &[Range(1, i32::MAX as i64)]),
];

const CONTAINER: &[Row] = &[
    ("name", NAME),
    ("image", REQUIRED),
    (
        "imagePullPolicy",
        &[OneOf(&["Always", "IfNotPresent", "Never"])],
    ),
    ("ports[*].name", &[Text(is_port_name, PORT_NAME), Unique]),
    ("ports[*].containerPort", &[Required, PORT]),
    ("ports[*].protocol", &[PROTOCOL]),
    ("env[*].name", REQUIRED),
    ("volumeMounts[*].name", REQUIRED),
    ("volumeMounts[*].mountPath", &[Required, Unique]),
];

const WORKLOAD: &[Row] = &[
    ("spec.replicas", &[Range(0, i64::MAX)]),
    ("spec.selector", REQUIRED),
    ("spec.template.spec", &[All(POD_SPEC)]),
    ("spec.template.spec.restartPolicy", &[OneOf(&["Always"])]),
];

const SERVICE: &[Row] = &[
    (
        "spec.type",
        &[OneOf(&[
            "ClusterIP",
            "ExternalName",
            "LoadBalancer",
            "NodePort",
        ])],
    ),
    ("spec.sessionAffinity", &[OneOf(&["ClientIP", "None"])]),
    ("spec.internalTrafficPolicy", &[TRAFFIC]),
    ("spec.externalTrafficPolicy", &[TRAFFIC]),
    ("spec.ports[*].name", &[LABEL, Unique]),
    ("spec.ports[*].port", &[Required, PORT]),
    ("spec.ports[*].targetPort", &[PORT]),
    ("spec.ports[*].protocol", &[PROTOCOL]),
];

const LEASE: &[Row] = &[
    ("spec.leaseDurationSeconds", &[Range(1, i64::MAX)]),
    ("spec.leaseTransitions", &[Range(0, i64::MAX)]),
];

const SLICE: &[Row] = &[
    ("addressType", &[Required, OneOf(&["FQDN", "IPv4", "IPv6"])]),
    ("endpoints", &[Most(1000)]),
    ("endpoints[*]", &[All(ENDPOINT)]),
    ("ports", &[Most(20_000)]),
    ("ports[*].name", &[UniqueText, LABEL]),
    // The number of a port may be anything, as in Kubernetes.
    ("ports[*].protocol", &[Required, PROTOCOL]),
    (
        "ports[*].appProtocol",
        &[Text(names::is_label_key, names::LABEL_KEY)],
    ),
];

const ENDPOINT: &[Row] = &[
    ("addresses", &[Required, Most(100)]),
    ("nodeName", &[SUBDOMAIN]),
    ("hostname", &[LABEL]),
    ("hints?.forZones", &[Most(8)]),
    (
        "hints?.forZones[*].name",
        &[Text(names::is_label_value, names::LABEL_VALUE), UniqueText],
    ),
    ("hints?.forNodes", &[Most(8)]),
    ("hints?.forNodes[*].name", &[SUBDOMAIN, UniqueText]),
];

const DEFINITION: &[Row] = &[
    (
        "spec.group",
        &[
            Required,
            SUBDOMAIN,
            Text(
                |group| group.contains('.'),
                "should be a domain with at least one dot",
            ),
        ],
    ),
    ("spec.scope", &[Required, OneOf(&["Cluster", "Namespaced"])]),
    ("spec.names.plural", &[Required, LETTER_LABEL]),
    ("spec.names.singular", &[Required, LETTER_LABEL]),
    ("spec.names.kind", &[Required, KIND]),
    ("spec.names.listKind", &[Required, KIND]),
    ("spec.names.shortNames[*]", &[Required, LETTER_LABEL]),
    ("spec.names.categories[*]", &[Required, LETTER_LABEL]),
    ("spec.conversion?.strategy", &[OneOf(&["None"])]),
    ("spec.versions[*]", &[All(VERSION)]),
];

const VERSION: &[Row] = &[
    ("name", &[Required, LETTER_LABEL, Unique]),
    ("schema.openAPIV3Schema", REQUIRED),
    ("subresources?.scale?.specReplicasPath", &[Required, SPEC]),
    (
        "subresources?.scale?.statusReplicasPath",
        &[Required, STATUS],
    ),
    ("subresources?.scale?.labelSelectorPath", &[SPEC_OR_STATUS]),
    ("additionalPrinterColumns[*]", &[All(COLUMN)]),
    ("selectableFields", &[Most(8)]),
    ("selectableFields[*].jsonPath", &[Required, Unique]),
];

const COLUMN: &[Row] = &[
    ("name", REQUIRED),
    (
        "type",
        &[
            Required,
            OneOf(&["boolean", "date", "integer", "number", "string"]),
        ],
    ),
    (
        "jsonPath",
        &[
            Required,
            Text(
                |path| path.starts_with('.'),
                "must be a simple json path starting with .",
            ),
        ],
    ),
];

const LETTER_LABEL: Check = Text(is_letter_label, names::LETTER_LABEL);
const KIND: Check = Text(
    |kind| is_letter_label(&kind.to_lowercase()),
    names::LETTER_LABEL,
);
const SPEC: Check = Text(
    |path| path.starts_with(".spec."),
    "should be a json path under .spec",
);
const STATUS: Check = Text(
    |path| path.starts_with(".status."),
    "should be a json path under .status",
);
const SPEC_OR_STATUS: Check = Text(
    |path| path.starts_with(".spec.") || path.starts_with(".status."),
    "should be a json path under either .spec or .status",
);

const WEBHOOK: &[Row] = &[
    (
        "name",
        &[Required, SUBDOMAIN, Text(has_3_parts, HOOK_NAME), Unique],
    ),
    ("rules[*]", &[All(WEBHOOK_RULE)]),
    ("failurePolicy", &[OneOf(&["Fail", "Ignore"])]),
    ("matchPolicy", &[OneOf(&["Equivalent", "Exact"])]),
    ("reinvocationPolicy", &[OneOf(&["IfNeeded", "Never"])]),
    ("sideEffects", &[Required, OneOf(&["None", "NoneOnDryRun"])]),
    ("timeoutSeconds", &[Range(1, 30)]),
    ("admissionReviewVersions", REQUIRED),
    ("admissionReviewVersions[*]", &[LETTER_LABEL, Unique]),
    ("clientConfig.service?.name", &[Required, LABEL]),
    ("clientConfig.service?.namespace", &[Required, LABEL]),
    ("clientConfig.service?.port", &[PORT]),
];

const WEBHOOK_RULE: &[Row] = &[
    ("operations|apiGroups|apiVersions|resources", REQUIRED),
    (
        "operations[*]",
        &[OneOf(&["*", "CONNECT", "CREATE", "DELETE", "UPDATE"])],
    ),
    ("apiVersions|resources[*]", REQUIRED),
    ("scope", &[OneOf(&["*", "Cluster", "Namespaced"])]),
];

fn is_letter_label(name: &str) -> bool {
    names::is_label(name) && name.starts_with(|c: char| c.is_ascii_lowercase())
}

fn has_3_parts(name: &str) -> bool {
    name.split('.').count() >= 3
}

fn is_port_name(name: &str) -> bool {
    let has_letter = name.contains(|c: char| c.is_ascii_lowercase());
    name.len() <= 15 && has_letter && names::is_label(name) && !name.contains("--")
}

fn is_config_key(key: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_path = key == "." || key.starts_with("..");
    (1..=253).contains(&key.len()) && key.chars().all(plain) && !is_path
}
