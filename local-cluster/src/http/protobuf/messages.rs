//! The fields of messages that `kubectl create` sends, as far as it fills them.

use super::FieldType::{
    Bool, BytesMap, Count, Flag, IntOrString, Integer, Message, QuantityMap, Text, TextMap, Time,
    Wrapped,
};
use super::MessageField;
use super::{many, one};

const OWNER: &[MessageField] = &[
    one(1, "kind", Text),
    one(3, "name", Text),
    one(4, "uid", Text),
    one(5, "apiVersion", Text),
    one(6, "controller", Bool),
    one(7, "blockOwnerDeletion", Bool),
];

const METADATA: &[MessageField] = &[
    one(1, "name", Text),
    one(2, "generateName", Text),
    one(3, "namespace", Text),
    one(5, "uid", Text),
    one(6, "resourceVersion", Text),
    one(8, "creationTimestamp", Time),
    one(11, "labels", TextMap),
    one(12, "annotations", TextMap),
    many(13, "ownerReferences", Message(OWNER)),
    many(14, "finalizers", Text),
];

const NAMED_OBJECT: MessageField = one(1, "metadata", Message(METADATA));

const NAMED: &[MessageField] = &[one(1, "name", Text)];

const PORT: &[MessageField] = &[
    one(1, "name", Text),
    one(2, "protocol", Text),
    one(3, "port", Integer),
    one(4, "targetPort", IntOrString),
    one(5, "nodePort", Integer),
];

const SERVICE_SPEC: &[MessageField] = &[
    many(1, "ports", Message(PORT)),
    one(2, "selector", TextMap),
    one(3, "clusterIP", Text),
    one(4, "type", Text),
    one(7, "sessionAffinity", Text),
    one(10, "externalName", Text),
];

const SELECTOR: &[MessageField] = &[
    one(1, "matchLabels", TextMap),
    many(2, "matchExpressions", Message(EXPRESSION)),
];

const EXPRESSION: &[MessageField] = &[
    one(1, "key", Text),
    one(2, "operator", Text),
    many(3, "values", Text),
];

const CONTAINER_PORT: &[MessageField] = &[
    one(1, "name", Text),
    one(2, "hostPort", Integer),
    one(3, "containerPort", Integer),
    one(4, "protocol", Text),
    one(5, "hostIP", Text),
];

const VARIABLE: &[MessageField] = &[one(1, "name", Text), one(2, "value", Text)];

const RESOURCES: &[MessageField] = &[
    one(1, "limits", QuantityMap),
    one(2, "requests", QuantityMap),
];

const CONTAINER: &[MessageField] = &[
    one(1, "name", Text),
    one(2, "image", Text),
    many(3, "command", Text),
    many(4, "args", Text),
    one(5, "workingDir", Text),
    many(6, "ports", Message(CONTAINER_PORT)),
    many(7, "env", Message(VARIABLE)),
    one(8, "resources", Message(RESOURCES)),
    one(14, "imagePullPolicy", Text),
    one(16, "stdin", Flag),
    one(18, "tty", Flag),
];

const POD_SPEC: &[MessageField] = &[
    many(2, "containers", Message(CONTAINER)),
    one(3, "restartPolicy", Text),
    one(4, "terminationGracePeriodSeconds", Integer),
    one(5, "activeDeadlineSeconds", Integer),
    one(6, "dnsPolicy", Text),
    one(7, "nodeSelector", TextMap),
    one(8, "serviceAccountName", Text),
    one(10, "nodeName", Text),
    many(20, "initContainers", Message(CONTAINER)),
];

const TEMPLATE: &[MessageField] = &[NAMED_OBJECT, one(2, "spec", Message(POD_SPEC))];

const DEPLOYMENT: &[MessageField] = &[NAMED_OBJECT, one(2, "spec", Message(DEPLOYMENT_SPEC))];

const DEPLOYMENT_SPEC: &[MessageField] = &[
    one(1, "replicas", Integer),
    one(2, "selector", Message(SELECTOR)),
    one(3, "template", Message(TEMPLATE)),
    one(5, "minReadySeconds", Integer),
    one(6, "revisionHistoryLimit", Integer),
    one(7, "paused", Flag),
    one(9, "progressDeadlineSeconds", Integer),
];

const JOB: &[MessageField] = &[NAMED_OBJECT, one(2, "spec", Message(JOB_SPEC))];

const JOB_SPEC: &[MessageField] = &[
    one(1, "parallelism", Integer),
    one(2, "completions", Integer),
    one(3, "activeDeadlineSeconds", Integer),
    one(6, "template", Message(TEMPLATE)),
    one(7, "backoffLimit", Integer),
    one(8, "ttlSecondsAfterFinished", Integer),
];

const CRON_JOB: &[MessageField] = &[NAMED_OBJECT, one(2, "spec", Message(CRON_JOB_SPEC))];

const CRON_JOB_SPEC: &[MessageField] = &[
    one(1, "schedule", Text),
    one(2, "startingDeadlineSeconds", Integer),
    one(3, "concurrencyPolicy", Text),
    one(4, "suspend", Bool),
    one(5, "jobTemplate", Message(JOB)),
    one(8, "timeZone", Text),
];

const ROLE: &[MessageField] = &[NAMED_OBJECT, many(2, "rules", Message(RULE))];

const RULE: &[MessageField] = &[
    many(1, "verbs", Text),
    many(2, "apiGroups", Text),
    many(3, "resources", Text),
    many(4, "resourceNames", Text),
    many(5, "nonResourceURLs", Text),
];

const ROLE_BINDING: &[MessageField] = &[
    NAMED_OBJECT,
    many(2, "subjects", Message(SUBJECT)),
    one(3, "roleRef", Message(ROLE_REFERENCE)),
];

const SUBJECT: &[MessageField] = &[
    one(1, "kind", Text),
    one(2, "apiGroup", Text),
    one(3, "name", Text),
    one(4, "namespace", Text),
];

const ROLE_REFERENCE: &[MessageField] = &[
    one(1, "apiGroup", Text),
    one(2, "kind", Text),
    one(3, "name", Text),
];

const BUDGET: &[MessageField] = &[NAMED_OBJECT, one(2, "spec", Message(BUDGET_SPEC))];

const BUDGET_SPEC: &[MessageField] = &[
    one(1, "minAvailable", IntOrString),
    one(2, "selector", Message(SELECTOR)),
    one(3, "maxUnavailable", IntOrString),
];

const QUOTA: &[MessageField] = &[NAMED_OBJECT, one(2, "spec", Message(QUOTA_SPEC))];

const QUOTA_SPEC: &[MessageField] = &[one(1, "hard", QuantityMap), many(2, "scopes", Text)];

const PRIORITY_CLASS: &[MessageField] = &[
    NAMED_OBJECT,
    one(2, "value", Integer),
    one(3, "globalDefault", Flag),
    one(4, "description", Text),
    one(5, "preemptionPolicy", Text),
];

const INGRESS: &[MessageField] = &[NAMED_OBJECT, one(2, "spec", Message(INGRESS_SPEC))];

const INGRESS_SPEC: &[MessageField] = &[
    one(1, "defaultBackend", Message(INGRESS_BACKEND)),
    many(2, "tls", Message(INGRESS_TLS)),
    many(3, "rules", Message(INGRESS_RULE)),
    one(4, "ingressClassName", Text),
];

const INGRESS_TLS: &[MessageField] = &[many(1, "hosts", Text), one(2, "secretName", Text)];

const INGRESS_RULE: &[MessageField] =
    &[one(1, "host", Text), one(2, "http", Wrapped(INGRESS_PATHS))];

const INGRESS_PATHS: &[MessageField] = &[many(1, "paths", Message(INGRESS_PATH))];

const INGRESS_PATH: &[MessageField] = &[
    one(1, "path", Text),
    one(2, "backend", Message(INGRESS_BACKEND)),
    one(3, "pathType", Text),
];

const INGRESS_BACKEND: &[MessageField] = &[one(4, "service", Message(INGRESS_SERVICE))];

const INGRESS_SERVICE: &[MessageField] =
    &[one(1, "name", Text), one(2, "port", Message(INGRESS_PORT))];

const INGRESS_PORT: &[MessageField] = &[one(1, "name", Text), one(2, "number", Integer)];

const DELETE_OPTIONS: &[MessageField] = &[
    one(1, "gracePeriodSeconds", Count),
    one(2, "preconditions", Message(PRECONDITIONS)),
    one(3, "orphanDependents", Bool),
    one(4, "propagationPolicy", Text),
    many(5, "dryRun", Text),
];

const PRECONDITIONS: &[MessageField] = &[one(1, "uid", Text), one(2, "resourceVersion", Text)];

const ACCESS: &[MessageField] = &[
    one(1, "resourceAttributes", Message(RESOURCE_ACCESS)),
    one(2, "nonResourceAttributes", Message(PATH_ACCESS)),
];

/// The access of another user.
const ACCESS_OF: &[MessageField] = &[
    one(1, "resourceAttributes", Message(RESOURCE_ACCESS)),
    one(2, "nonResourceAttributes", Message(PATH_ACCESS)),
    one(3, "user", Text),
    many(4, "groups", Text),
    one(6, "uid", Text),
];

const RESOURCE_ACCESS: &[MessageField] = &[
    one(1, "namespace", Text),
    one(2, "verb", Text),
    one(3, "group", Text),
    one(4, "version", Text),
    one(5, "resource", Text),
    one(6, "subresource", Text),
    one(7, "name", Text),
];

const PATH_ACCESS: &[MessageField] = &[one(1, "path", Text), one(2, "verb", Text)];

/// The fields of a kind's message; `None` for kinds that are not decoded.
pub(super) fn message_of(api_version: &str, kind: &str) -> Option<&'static [MessageField]> {
    const NAMESPACE: &[MessageField] = &[NAMED_OBJECT];
    const CONFIG_MAP: &[MessageField] = &[
        NAMED_OBJECT,
        one(2, "data", TextMap),
        one(3, "binaryData", BytesMap),
        one(4, "immutable", Bool),
    ];
    const SECRET: &[MessageField] = &[
        NAMED_OBJECT,
        one(2, "data", BytesMap),
        one(3, "type", Text),
        one(4, "stringData", TextMap),
        one(5, "immutable", Bool),
    ];
    const SERVICE_ACCOUNT: &[MessageField] = &[
        NAMED_OBJECT,
        many(3, "imagePullSecrets", Message(NAMED)),
        one(4, "automountServiceAccountToken", Bool),
    ];
    const SERVICE: &[MessageField] = &[NAMED_OBJECT, one(2, "spec", Message(SERVICE_SPEC))];
    const SELF_ACCESS: &[MessageField] = &[NAMED_OBJECT, one(2, "spec", Message(ACCESS))];
    const SUBJECT_ACCESS: &[MessageField] = &[NAMED_OBJECT, one(2, "spec", Message(ACCESS_OF))];
    const SELF_RULES: &[MessageField] = &[
        NAMED_OBJECT,
        one(2, "spec", Message(&[one(1, "namespace", Text)])),
    ];
    match (api_version, kind) {
        ("authentication.k8s.io/v1", "SelfSubjectReview") => Some(NAMESPACE),
        ("authorization.k8s.io/v1", "SelfSubjectAccessReview") => Some(SELF_ACCESS),
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview") => Some(SELF_RULES),
        ("authorization.k8s.io/v1", "SubjectAccessReview" | "LocalSubjectAccessReview") => {
            Some(SUBJECT_ACCESS)
        }
        // Clients send the version of the object that they delete.
        (_, "DeleteOptions") => Some(DELETE_OPTIONS),
        ("v1", "Namespace") => Some(NAMESPACE),
        ("v1", "ConfigMap") => Some(CONFIG_MAP),
        ("v1", "Secret") => Some(SECRET),
        ("v1", "ServiceAccount") => Some(SERVICE_ACCOUNT),
        ("v1", "Service") => Some(SERVICE),
        ("v1", "ResourceQuota") => Some(QUOTA),
        ("apps/v1", "Deployment") => Some(DEPLOYMENT),
        ("batch/v1", "Job") => Some(JOB),
        ("batch/v1", "CronJob") => Some(CRON_JOB),
        ("networking.k8s.io/v1", "Ingress") => Some(INGRESS),
        ("policy/v1", "PodDisruptionBudget") => Some(BUDGET),
        ("rbac.authorization.k8s.io/v1", "Role" | "ClusterRole") => Some(ROLE),
        ("rbac.authorization.k8s.io/v1", "RoleBinding" | "ClusterRoleBinding") => {
            Some(ROLE_BINDING)
        }
        ("scheduling.k8s.io/v1", "PriorityClass") => Some(PRIORITY_CLASS),
        _ => None,
    }
}
