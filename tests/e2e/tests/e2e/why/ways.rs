//! Ways into the states that no situation shows, by the reason of their condition.

use super::situations::Event::{self, Fault, Ready, Run};
use super::situations::{CREATE_POD, EXPOSE, of_service};

/// A reason, how an object gets it, and what ends it besides that everything is deleted and the cloud works again.
pub(super) type Way = (&'static str, &'static [Event], &'static [Event]);

/// Reasons to which there is no way here.
pub(super) const NO_WAY: &[&str] = &[
    // As OperationFailed, but for what the driver says.
    "Conflict Internal NotFound PermissionDenied QuotaExceeded Throttled Unavailable",
    // The API server refuses such objects.
    "InvalidEndpointSlice NoAddresses NoLoadBalancers NoPorts",
    // They end with the next reconciliation, or after a while.
    "AwaitingAdoption BackendNotAvailable DelayedDeregisterBackend LoadBalancerGone",
    // It was Creating, Ensuring, Draining or Registering before.
    "StillRunning",
    // Of pods and Services, which have no finalizer of ours for it.
    "NotRegistered SyncLoadBalancerFailed",
    // The mock cancels deregistrations; another driver is in waiting/records.rs.
    "DelayedEnsureBackend",
    // Nothing waits: they tell what was done, or found.
    "NoRoomForReplacement OrphanedBackends ReplacementTimedOut",
];

macro_rules! fault {
    ($webhook:literal, $action:literal) => {
        Fault(concat!(
            r#"{"match":{"webhook":""#,
            $webhook,
            r#""},"action":"#,
            $action,
            "}"
        ))
    };
}

/// Creates an object with this name and spec.
macro_rules! create {
    ($version:literal, $kind:literal, $name:literal, $spec:literal) => {
        Run(concat!(
            r#"printf '%s' '{"apiVersion":"lbcf.tkestack.io/"#,
            $version,
            r#"","kind":""#,
            $kind,
            r#"","metadata":{"name":""#,
            $name,
            r#""},"spec":"#,
            $spec,
            "}' | kubectl create -f -"
        ))
    };
}

macro_rules! patch {
    ($object:literal, $patch:literal) => {
        Run(concat!(
            "kubectl patch --type=merge -p '",
            $patch,
            "' ",
            $object
        ))
    };
}

/// Removes the schema of a kind, as if its CRD were of another version.
macro_rules! unchecked {
    ($plural:literal) => {
        Run(concat!(
            r#"kubectl patch --type=json -p '[{"op":"replace","path":"/spec/versions/0/schema","value":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]' crd "#,
            $plural,
            ".lbcf.tkestack.io"
        ))
    };
}

const BIND: Event = create!(
    "v1",
    "Bind",
    "web",
    r#"{"loadBalancers":[{"name":"a","driver":"lbcf-clb","spec":{"lbVpcID":"vpc-12345678","lbListenerPort":"82","lbListenerProtocol":"TCP"},"attributes":{"chargeType":"TRAFFIC_POSTPAID_BY_HOUR"}}],"pods":{"ports":[{"port":80,"protocol":"TCP"}],"byLabel":{"selector":{"app":"web"}}}}"#
);
/// A load balancer of the same driver with another listener.
const OTHER: Event = create!(
    "v1beta1",
    "LoadBalancer",
    "other",
    r#"{"lbDriver":"lbcf-clb","lbSpec":{"lbVpcID":"vpc-12345678","lbListenerPort":"81","lbListenerProtocol":"TCP"},"attributes":{}}"#
);
const NAME_OTHER: Event = patch!("bg web-group", r#"{"spec":{"loadBalancers":["other"]}}"#);
const ONLY_NEW_PODS: Event = patch!(
    "bg web-group",
    r#"{"spec":{"pods":{"byLabel":{"except":["web-0","web-1"]}}}}"#
);
const CHANGE_BIND: Event = Run(
    r#"kubectl wait bind/web --for=condition=Ready --timeout=600s
    kubectl patch bind web --type=json -p '[{"op":"replace","path":"/spec/loadBalancers/0/attributes","value":{}}]'"#,
);
const SERVICE_GROUP: Event =
    of_service!(r#""mode":"Endpoints","name":"web-service","port":{"port":80,"protocol":"TCP"}"#);
const STATIC_GROUP: Event = create!(
    "v1beta1",
    "BackendGroup",
    "fixed",
    r#"{"loadBalancers":["web-lb"],"parameters":{"weight":"50"},"static":["10.9.9.9:80"]}"#
);
const DELETE_DRIVER: Event = Run("kubectl delete lbd -n kube-system lbcf-clb --wait=false");

pub(super) const WAYS: &[Way] = &[
    (
        "AwaitingReplacement",
        &[
            fault!("ensureBackend", r#"{"running":{}}"#),
            CREATE_POD,
            ONLY_NEW_PODS,
        ],
        &[],
    ),
    (
        "Creating",
        &[fault!("createLoadBalancer", r#"{"running":{}}"#), OTHER],
        &[],
    ),
    (
        "LoadBalancerNotCreated",
        &[
            fault!("createLoadBalancer", r#"{"fail":{}}"#),
            OTHER,
            NAME_OTHER,
        ],
        &[],
    ),
    (
        "CreateFailed",
        &[fault!("createLoadBalancer", r#"{"fail":{}}"#), BIND],
        &[],
    ),
    (
        "InvalidResponse",
        &[fault!("ensureBackend", r#""malformed""#), CREATE_POD],
        &[],
    ),
    (
        "BackendRecordConflict",
        &[
            create!(
                "v1beta1",
                "BackendRecord",
                "0fe7abb869500d388a4dc5f068242893",
                r#"{"lbName":"web-lb","lbDriver":"lbcf-clb","lbInfo":{},"staticAddr":"10.9.9.8:80","parameters":{}}"#
            ),
            STATIC_GROUP,
        ],
        &[],
    ),
    (
        "BackendRecordsRefused",
        &[
            Run(
                r#"printf '%s' '{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"strict"},"webhooks":[{"name":"strict.example.com","clientConfig":{"url":"https://127.0.0.1:1/"},"rules":[{"apiGroups":["lbcf.tkestack.io"],"apiVersions":["*"],"operations":["CREATE"],"resources":["backendrecords"]}],"sideEffects":"None","admissionReviewVersions":["v1"]}]}' | kubectl create -f -"#,
            ),
            CREATE_POD,
        ],
        &[],
    ),
    ("DriverInUse", &[DELETE_DRIVER], &[]),
    ("DriverDeleting", &[DELETE_DRIVER, OTHER], &[]),
    (
        "LoadBalancerDeleting",
        &[
            fault!("deregisterBackend", r#"{"running":{}}"#),
            Run("kubectl delete lb web-lb --wait=false"),
        ],
        &[],
    ),
    (
        "DriverUnreadable",
        &[
            unchecked!("loadbalancerdrivers"),
            patch!(
                "lbd -n kube-system lbcf-clb",
                r#"{"spec":{"driverType":5}}"#
            ),
            OTHER,
        ],
        &[patch!(
            "lbd -n kube-system lbcf-clb",
            r#"{"spec":{"driverType":"Webhook"}}"#
        )],
    ),
    (
        "LoadBalancerUnreadable",
        &[
            unchecked!("loadbalancers"),
            patch!("lb web-lb", r#"{"spec":{"attributes":5}}"#),
        ],
        &[patch!("lb web-lb", r#"{"spec":{"attributes":null}}"#)],
    ),
    (
        "EndpointsNotReady",
        &[EXPOSE, SERVICE_GROUP, Ready("web-0", false)],
        &[],
    ),
    (
        "TooManyUnready",
        &[
            patch!("bg web-group", r#"{"spec":{"minRegistered":2}}"#),
            Ready("web-0", false),
        ],
        &[],
    ),
    ("Unhealthy", &[fault!("healthz", r#"{"fail":{}}"#)], &[]),
    (
        "OwnedByOtherNamespace",
        &[Run(
            r#"info=$(kubectl get lb web-lb -o jsonpath='{.status.lbInfo}')
            kubectl create namespace lbcf-e2e-green
            printf '%s' "{\"apiVersion\":\"lbcf.tkestack.io/v1beta1\",\"kind\":\"LoadBalancer\",\"metadata\":{\"name\":\"mine\"},\"spec\":{\"lbDriver\":\"lbcf-clb\",\"lbSpec\":$info,\"attributes\":{}}}" | kubectl create -n lbcf-e2e-green -f -"#,
        )],
        &[Run("kubectl delete lb -n lbcf-e2e-green mine --wait=false")],
    ),
    (
        "EnsureFailed",
        &[
            BIND,
            fault!("ensureLoadBalancer", r#"{"fail":{}}"#),
            CHANGE_BIND,
        ],
        &[],
    ),
    (
        "Ensuring",
        // b130: one that did not fail before stays as it is.
        &[
            BIND,
            Fault(r#"{"match":{"webhook":"ensureLoadBalancer","times":1},"action":{"fail":{}}}"#),
            fault!("ensureLoadBalancer", r#"{"running":{}}"#),
            CHANGE_BIND,
        ],
        &[],
    ),
    (
        "NotCreatedByController",
        &[Run(
            r#"uid=$(kubectl create configmap owner -o jsonpath='{.metadata.uid}')
            printf '%s' '{"apiVersion":"lbcf.tkestack.io/v1beta1","kind":"BackendRecord","metadata":{"name":"mine","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","controller":true,"uid":"'$uid'"}]},"spec":{"lbName":"web-lb","lbDriver":"lbcf-clb","lbInfo":{},"staticAddr":"10.9.9.8:80","parameters":{}}}' | kubectl create -f -"#,
        )],
        &[Run("kubectl delete backendrecord mine")],
    ),
    (
        "UnreadableBackendRecord",
        &[
            unchecked!("backendrecords"),
            Run(r#"record=$(kubectl get backendrecords -o name | head -n 1)
                kubectl patch --type=merge -p '{"spec":{"parameters":5}}' $record
                kubectl label $record unreadable=yes"#),
            Run("kubectl delete bg web-group --wait=false; kubectl delete lb web-lb --wait=false"),
        ],
        &[Run(
            r#"kubectl patch --type=merge -p '{"spec":{"parameters":{}}}' $(kubectl get backendrecords -l unreadable=yes -o name)"#,
        )],
    ),
];
