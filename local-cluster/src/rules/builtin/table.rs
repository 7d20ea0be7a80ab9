//! The checks of single fields of built-in kinds.

use super::walker::Check::{All, Most, OneOf, Range, Required, Text, Unique, UniqueText};
use super::walker::{Check, Row};
use crate::names;

const PORT_NAME: &str = "must be an IANA_SVC_NAME (at most 15 characters, matching regex [a-z0-9]([a-z0-9-]*[a-z0-9])*, it must contain at least one letter [a-z], and hyphens cannot be adjacent to other hyphens): e.g. \"http\"";
const HOOK_NAME: &str = "should be a domain with at least three segments separated by dots";

const LABEL: Check = Text(names::is_label, names::LABEL);
const SUBDOMAIN: Check = Text(names::is_subdomain, names::SUBDOMAIN);
const PORT: Check = Range(1, 65_535);
const REQUIRED: &[Check] = &[Required];
const NAME: &[Check] = &[Required, LABEL, Unique];
const PROTOCOL: Check = OneOf(&["SCTP", "TCP", "UDP"]);

/// The rows of a built-in kind; those of a pod template are part of its workload.
pub(super) fn rows(group: &str, plural: &str) -> &'static [Row] {
    match (group, plural) {
        ("", "pods") => &[("spec", &[All(POD_SPEC)])],
        ("", "services") => SERVICE,
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
        ("", "nodes") => &["spec.podCIDRs"],
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
];

const CONTAINER: &[Row] = &[
    ("name", NAME),
    ("image", REQUIRED),
    ("ports[*].name", &[Text(is_port_name, PORT_NAME), Unique]),
    ("ports[*].containerPort", &[Required, PORT]),
    ("ports[*].protocol", &[PROTOCOL]),
];

const WORKLOAD: &[Row] = &[
    ("spec.replicas", &[Range(0, i64::MAX)]),
    ("spec.selector", REQUIRED),
    ("spec.template.spec", &[All(POD_SPEC)]),
];

const SERVICE: &[Row] = &[
    ("spec.ports[*].name", &[LABEL, Unique]),
    ("spec.ports[*].port", &[Required, PORT]),
    ("spec.ports[*].targetPort", &[PORT]),
    ("spec.ports[*].protocol", &[PROTOCOL]),
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
    (
        "spec.conversion?.strategy",
        &[OneOf(&["None", "Webhook"]), NO_WEBHOOK],
    ),
    ("spec.versions[*]", &[All(VERSION)]),
];

const VERSION: &[Row] = &[
    ("name", &[LETTER_LABEL, Unique]),
    ("subresources?.scale?.specReplicasPath", REQUIRED),
    ("subresources?.scale?.statusReplicasPath", REQUIRED),
    ("additionalPrinterColumns[*].name", REQUIRED),
    ("additionalPrinterColumns[*].type", &[Required, COLUMN]),
    ("additionalPrinterColumns[*].jsonPath", REQUIRED),
    ("selectableFields", &[Most(8)]),
    ("selectableFields[*].jsonPath", &[Required, Unique]),
];

const LETTER_LABEL: Check = Text(names::is_letter_label, names::LETTER_LABEL);
const KIND: Check = Text(
    |kind| names::is_letter_label(&kind.to_lowercase()),
    names::MIXED_LETTER_LABEL,
);
const COLUMN: Check = Text(
    |column| matches!(column, "boolean" | "date" | "integer" | "number" | "string"),
    "must be one of boolean,date,integer,number,string",
);
const NO_WEBHOOK: Check = Text(
    |strategy| strategy != "Webhook",
    "no webhooks are called here",
);
const WEBHOOK: &[Row] = &[
    (
        "name",
        &[Required, SUBDOMAIN, Text(has_3_parts, HOOK_NAME), Unique],
    ),
    (
        "rules[*].operations|apiGroups|apiVersions|resources",
        REQUIRED,
    ),
    ("sideEffects", &[Required, OneOf(&["None", "NoneOnDryRun"])]),
    ("admissionReviewVersions", REQUIRED),
    ("admissionReviewVersions[*]", &[LETTER_LABEL, Unique]),
    ("clientConfig.service?.name", &[Required, LABEL]),
    ("clientConfig.service?.namespace", &[Required, LABEL]),
    ("clientConfig.service?.port", &[PORT]),
];

fn has_3_parts(name: &str) -> bool {
    name.split('.').count() >= 3
}

fn is_port_name(name: &str) -> bool {
    let has_letter = name.contains(|c: char| c.is_ascii_lowercase());
    name.len() <= 15 && has_letter && names::is_label(name) && !name.contains("--")
}
