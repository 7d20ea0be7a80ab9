//! The situations: what breaks, whom a user asks about, the cause in words, and what helps.

use std::fmt::{self, Debug, Formatter};

/// Something that happens.
#[derive(Debug)]
pub(super) enum Event {
    /// A user's line.
    Run(&'static str),
    /// A rule of the mock's faults.
    Fault(&'static str),
    FaultsEnd,
    DriverStops,
    DriverStarts,
    /// A pod's probe.
    Ready(&'static str, bool),
    /// What the kubelet or another controller writes.
    PodStatus(&'static str, &'static str),
    ControllerStarts,
}

#[derive(Clone, Copy)]
pub(super) enum Helps {
    /// The line that is printed.
    Line,
    /// What is advised, which is outside of the cluster or somebody's choice.
    Events(&'static [Event]),
}

impl Debug for Situation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

pub(super) struct Situation {
    pub(super) name: &'static str,
    /// A thread of a public tracker in which users ask about it, if there is one.
    pub(super) seen_in: &'static str,
    pub(super) asked: &'static str,
    pub(super) breaks: &'static [Event],
    /// A part of the first cause.
    pub(super) cause: &'static str,
    pub(super) helps: Helps,
    pub(super) has_controller: bool,
    /// The object that is asked about is deleted in the end.
    pub(super) ends_gone: bool,
}

pub(super) const BASE: Situation = Situation {
    name: "",
    seen_in: "",
    asked: "bg/web-group",
    breaks: &[],
    cause: "",
    helps: Helps::Line,
    has_controller: true,
    ends_gone: false,
};

pub(super) const CREATE_POD: Event =
    Event::Run("kubectl run web-2 --image=registry.example/web --labels=app=web");

/// A group of a Service.
macro_rules! of_service {
    ($selection:literal) => {
        Event::Run(concat!(
            r#"printf '%s' '{"apiVersion":"lbcf.tkestack.io/v1beta1","kind":"BackendGroup","metadata":{"name":"of-service"},"spec":{"loadBalancers":["web-lb"],"parameters":{"weight":"50"},"service":{"#,
            $selection,
            "}}}' | kubectl create -f -"
        ))
    };
}
pub(super) use of_service;

pub(super) const EXPOSE: Event =
    Event::Run("kubectl expose pod web-0 --name=web-service --port=80");

/// A driver with this URL, to which \1 is that of the other one.
macro_rules! other_driver {
    ($url:literal) => {
        Event::Run(concat!(
            r#"sleep 1; kubectl get lbd -n kube-system lbcf-clb -o json | sed -e 's/"name": "lbcf-clb"/"name": "lbcf-other"/' -e 's|"url": "\([^"]*\)"|"url": ""#,
            $url,
            r#""|' -e '/resourceVersion/d' | kubectl create -f -"#
        ))
    };
}

const OTHER_LOAD_BALANCER: Event = Event::Run(
    r#"kubectl get lb web-lb -o json | sed -e 's/"lbDriver": "lbcf-clb"/"lbDriver": "lbcf-other"/' -e 's/"name": "web-lb"/"name": "other"/' -e 's/"lbListenerPort": "80"/"lbListenerPort": "81"/' -e '/resourceVersion/d' | kubectl create -f -"#,
);

/// A driver's URL cannot be changed.
const OTHER_AGAIN: Helps = Helps::Events(&[Event::Run(
    r#"lb=$(kubectl get lb other -o json | sed -e 's/"lbDriver": "lbcf-other"/"lbDriver": "lbcf-clb"/' -e '/resourceVersion/d')
    kubectl delete lb other
    kubectl delete lbd -n kube-system lbcf-other
    printf '%s' "$lb" | kubectl create -f -"#,
)]);

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "a load balancer's name is misspelled",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#4235",
        breaks: &[Event::Run(
            r#"kubectl patch bg web-group --type=merge -p '{"spec":{"loadBalancers":["web-lbb"]}}'"#,
        )],
        cause: "LoadBalancer lbcf-e2e-web/web-lbb not found",
        ..BASE
    },
    Situation {
        name: "a label's value is misspelled",
        seen_in: "metallb/metallb#564",
        breaks: &[Event::Run(
            r#"kubectl patch bg web-group --type=merge -p '{"spec":{"pods":{"byLabel":{"selector":{"app":"wep"}}}}}'"#,
        )],
        cause: "byLabel selects no pod",
        ..BASE
    },
    Situation {
        name: "a label's key is misspelled",
        breaks: &[Event::Run(
            r#"kubectl patch bg web-group --type=merge -p '{"spec":{"pods":{"byLabel":{"selector":{"app":null,"ap":"web"}}}}}'"#,
        )],
        cause: "byLabel selects no pod",
        ..BASE
    },
    Situation {
        name: "the workload is scaled to zero",
        seen_in: "kubernetes/ingress-nginx#1551",
        breaks: &[
            Event::Run(
                "kubectl create deployment front --image=registry.example/front --replicas=0",
            ),
            Event::Run(
                r#"kubectl patch bg web-group --type=merge -p '{"spec":{"pods":{"byLabel":{"selector":{"app":"front"}}}}}'"#,
            ),
        ],
        cause: "Deployment lbcf-e2e-web/front, whose pods are selected, has 0 replicas",
        ..BASE
    },
    Situation {
        name: "all pods are excepted",
        breaks: &[Event::Run(
            r#"kubectl patch bg web-group --type=merge -p '{"spec":{"pods":{"byLabel":{"except":["web-0","web-1"]}}}}'"#,
        )],
        cause: ".spec.pods.byLabel.except has all that have the labels",
        ..BASE
    },
    Situation {
        name: "a pod's name is misspelled",
        breaks: &[Event::Run(
            r#"kubectl patch bg web-group --type=merge -p '{"spec":{"pods":{"byLabel":null,"byName":["web-00"]}}}'"#,
        )],
        cause: "byName: no such pod",
        ..BASE
    },
    Situation {
        name: "a readiness gate of others is not met",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#1205",
        breaks: &[Event::Run(
            r#"kubectl run web-2 --image=registry.example/web --labels=app=web --overrides='{"spec":{"readinessGates":[{"conditionType":"example.com/warm"}]}}'"#,
        )],
        cause: "Pod lbcf-e2e-web/web-2 is not Ready: the readiness gate example.com/warm is not met",
        helps: Helps::Events(&[Event::PodStatus(
            "web-2",
            r#"{"conditions":[{"type":"example.com/warm","status":"True"},{"type":"Ready","status":"True"}]}"#,
        )]),
        ..BASE
    },
    Situation {
        name: "a container crashes",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#3678",
        breaks: &[Event::PodStatus(
            "web-0",
            r#"{"conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"web","image":"","imageID":"","ready":false,"restartCount":7,"state":{"running":null,"waiting":{"reason":"CrashLoopBackOff","message":"back-off 5m0s restarting failed container"}}}]}"#,
        )],
        cause: "Pod lbcf-e2e-web/web-0 is not Ready: container web is in CrashLoopBackOff",
        helps: Helps::Events(&[Event::PodStatus(
            "web-0",
            r#"{"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"web","image":"","imageID":"","ready":true,"restartCount":8,"state":{"waiting":null}}]}"#,
        )]),
        ..BASE
    },
    Situation {
        name: "a readiness probe fails",
        seen_in: "kubernetes/kubernetes#81092",
        breaks: &[Event::Ready("web-0", false)],
        cause: "Pod lbcf-e2e-web/web-0 is not Ready: its readiness probe fails",
        helps: Helps::Events(&[Event::Ready("web-0", true)]),
        ..BASE
    },
    Situation {
        name: "a driver's name is misspelled",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#2625",
        asked: "lb/other",
        breaks: &[Event::Run(
            r#"kubectl get lb web-lb -o json | sed -e 's/"lbDriver": "lbcf-clb"/"lbDriver": "lbcf-clbb"/' -e 's/"name": "web-lb"/"name": "other"/' -e 's/"lbListenerPort": "80"/"lbListenerPort": "81"/' -e '/resourceVersion/d' | kubectl create -f -"#,
        )],
        cause: "LoadBalancerDriver kube-system/lbcf-clbb not found",
        ..BASE
    },
    Situation {
        name: "the driver of a Bind's load balancer does not exist",
        asked: "bind/web",
        breaks: &[Event::Run(
            r#"printf '%s' '{"apiVersion":"lbcf.tkestack.io/v1","kind":"Bind","metadata":{"name":"web"},"spec":{"loadBalancers":[{"name":"a","driver":"lbcf-other","spec":{"lbVpcID":"vpc-12345678","lbListenerPort":"82","lbListenerProtocol":"TCP"}}],"pods":{"ports":[{"port":80,"protocol":"TCP"}],"byLabel":{"selector":{"app":"web"}}}}}' | kubectl create -f -"#,
        )],
        cause: "load balancer a is not Created: spec.loadBalancers",
        helps: Helps::Events(&[Event::Run(
            r#"kubectl get lbd -n kube-system lbcf-clb -o json | sed -e 's/"name": "lbcf-clb"/"name": "lbcf-other"/' -e '/resourceVersion/d' | kubectl create -f -"#,
        )]),
        ..BASE
    },
    Situation {
        name: "a driver's URL is wrong",
        asked: "lb/other",
        breaks: &[other_driver!("http://127.0.0.1:1"), OTHER_LOAD_BALANCER],
        cause: "LoadBalancerDriver kube-system/lbcf-other does not respond at http://127.0.0.1:1",
        helps: OTHER_AGAIN,
        ..BASE
    },
    Situation {
        name: "a driver's URL is that of another server",
        asked: "lb/other",
        breaks: &[other_driver!("\\1/elsewhere"), OTHER_LOAD_BALANCER],
        cause: "webhook createLoadBalancer: the driver answered with HTTP status 404",
        helps: OTHER_AGAIN,
        ..BASE
    },
    Situation {
        name: "the driver is down",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#2488",
        breaks: &[Event::DriverStops, CREATE_POD],
        cause: "LoadBalancerDriver kube-system/lbcf-clb does not respond at http",
        helps: Helps::Events(&[Event::DriverStarts]),
        ..BASE
    },
    Situation {
        name: "the cloud has no room for a backend",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#3984",
        breaks: &[
            Event::Fault(
                r#"{"match":{"webhook":"ensureBackend"},"action":{"fail":{"message":"the load balancer has 20 targets, its quota"}}}"#,
            ),
            CREATE_POD,
        ],
        cause: "is not registered at web-lb: the load balancer has 20 targets, its quota",
        helps: Helps::Events(&[Event::FaultsEnd]),
        ..BASE
    },
    Situation {
        name: "the driver refuses a parameter",
        breaks: &[Event::Run(
            r#"kubectl patch bg web-group --type=merge -p '{"spec":{"parameters":{"weight":"1000"}}}'"#,
        )],
        cause: r#"weight: "1000""#,
        helps: Helps::Events(&[Event::Run(
            r#"kubectl patch bg web-group --type=merge -p '{"spec":{"parameters":{"weight":"100"}}}'"#,
        )]),
        ..BASE
    },
    Situation {
        name: "the driver refuses an attribute",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#2965",
        asked: "lb/web-lb",
        breaks: &[Event::Run(
            r#"kubectl patch lb web-lb --type=merge -p '{"spec":{"attributes":{"chargeType":"PREPAID"}}}'"#,
        )],
        cause: "a load balancer cannot change from or to",
        helps: Helps::Events(&[Event::Run(
            r#"kubectl patch lb web-lb --type=merge -p '{"spec":{"attributes":{"chargeType":"TRAFFIC_POSTPAID_BY_HOUR"}}}'"#,
        )]),
        ..BASE
    },
    Situation {
        name: "a load balancer's scope does not include the namespace",
        seen_in: "cilium/cilium#35460",
        breaks: &[
            Event::Run(
                r#"kubectl get lb web-lb -o json | sed -e 's/"name": "web-lb"/"name": "lbcf-shared"/' -e 's/"namespace": "lbcf-e2e-web"/"namespace": "kube-system"/' -e 's/"lbListenerPort": "80"/"lbListenerPort": "81"/' -e 's/"lbDriver":/"scope": ["other"], "lbDriver":/' -e '/resourceVersion/d' | kubectl create -n kube-system -f -"#,
            ),
            Event::Run(
                r#"kubectl patch bg web-group --type=merge -p '{"spec":{"loadBalancers":["lbcf-shared"]}}'"#,
            ),
        ],
        cause: "scope",
        ..BASE
    },
    Situation {
        name: "a Service's name is misspelled",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#2807",
        asked: "bg/of-service",
        breaks: &[
            EXPOSE,
            of_service!(
                r#""mode":"Endpoints","name":"web-servic","port":{"port":80,"protocol":"TCP"}"#
            ),
        ],
        cause: "Service lbcf-e2e-web/web-servic not found",
        ..BASE
    },
    Situation {
        name: "a Service's port does not exist",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#2474",
        asked: "bg/of-service",
        breaks: &[
            EXPOSE,
            of_service!(
                r#""mode":"Endpoints","name":"web-service","port":{"port":8080,"protocol":"TCP"}"#
            ),
        ],
        cause: "has no port 8080",
        ..BASE
    },
    Situation {
        name: "a Service has no node port",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#1695",
        asked: "bg/of-service",
        breaks: &[
            EXPOSE,
            of_service!(r#""name":"web-service","port":{"port":80,"protocol":"TCP"}"#),
        ],
        cause: "has no node ports",
        ..BASE
    },
    Situation {
        name: "all nodes are excluded from load balancers",
        seen_in: "cilium/cilium#38793",
        asked: "bg/of-service",
        breaks: &[
            Event::Run(
                "kubectl label nodes --all node.kubernetes.io/exclude-from-external-load-balancers=",
            ),
            Event::Run("kubectl expose pod web-0 --name=web-service --port=80 --type=NodePort"),
            of_service!(r#""name":"web-service","port":{"port":80,"protocol":"TCP"}"#),
        ],
        cause: "exclude-from-external-load-balancers excludes lbcf-e2e-1, lbcf-e2e-2",
        ..BASE
    },
    Situation {
        name: "a node selector matches no node",
        seen_in: "hetznercloud/hcloud-cloud-controller-manager#633",
        asked: "bg/of-service",
        breaks: &[
            Event::Run("kubectl label nodes --all role=worker"),
            Event::Run("kubectl expose pod web-0 --name=web-service --port=80 --type=NodePort"),
            of_service!(
                r#""name":"web-service","port":{"port":80,"protocol":"TCP"},"nodeSelector":{"role":"workers"}"#
            ),
        ],
        cause: "there is no node with the labels role=workers",
        ..BASE
    },
    Situation {
        name: "a Service's selector matches no pod",
        seen_in: "kubernetes/kubernetes#31805",
        asked: "bg/of-service",
        breaks: &[
            Event::Run("kubectl create service clusterip webb --tcp=80:80"),
            of_service!(r#""mode":"Endpoints","name":"webb","port":{"port":80,"protocol":"TCP"}"#),
        ],
        cause: "the selector of Service lbcf-e2e-web/webb selects no pod",
        ..BASE
    },
    Situation {
        name: "there are no endpoints in the zones",
        seen_in: "cilium/cilium#41022",
        asked: "bg/of-service",
        breaks: &[
            EXPOSE,
            of_service!(
                r#""mode":"Endpoints","name":"web-service","port":{"port":80,"protocol":"TCP"},"zones":["nowhere"]"#
            ),
        ],
        cause: "has no endpoints for zone nowhere",
        ..BASE
    },
    Situation {
        name: "the target port is a name that no container has",
        seen_in: "kubernetes/kubernetes#83145",
        asked: "bg/of-service",
        breaks: &[
            Event::Run(
                r#"kubectl run named-0 --image=registry.example/web --labels=app=named --overrides='{"spec":{"containers":[{"name":"web","image":"registry.example/web","ports":[{"name":"http","containerPort":8080}]}]}}'"#,
            ),
            Event::Run("kubectl expose pod named-0 --name=web-service --port=80 --target-port=htp"),
            of_service!(
                r#""mode":"Endpoints","name":"web-service","port":{"port":80,"protocol":"TCP"}"#
            ),
        ],
        cause: "BackendGroup lbcf-e2e-web/of-service is not Ready: EndpointSlice",
        ..BASE
    },
    Situation {
        name: "a Service has no selector and no endpoints",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#3505",
        asked: "bg/of-service",
        breaks: &[
            Event::Run(
                r#"printf '%s' '{"apiVersion":"v1","kind":"Service","metadata":{"name":"web-service"},"spec":{"ports":[{"port":80,"targetPort":80}]}}' | kubectl create -f -"#,
            ),
            of_service!(
                r#""mode":"Endpoints","name":"web-service","port":{"port":80,"protocol":"TCP"}"#
            ),
        ],
        cause: "has neither a selector nor an EndpointSlice",
        helps: Helps::Events(&[Event::Run(
            r#"printf '%s' '{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"web-1","labels":{"kubernetes.io/service-name":"web-service"}},"addressType":"IPv4","ports":[{"name":"","port":80,"protocol":"TCP"}],"endpoints":[{"addresses":["203.0.113.7"],"conditions":{"ready":true}}]}' | kubectl create -f -"#,
        )]),
        ..BASE
    },
    Situation {
        name: "a Service's class is misspelled",
        seen_in: "cilium/cilium#26939",
        asked: "svc/shop",
        breaks: &[Event::Run(
            r#"printf '%s' '{"apiVersion":"v1","kind":"Service","metadata":{"name":"shop"},"spec":{"type":"LoadBalancer","loadBalancerClass":"lbcf.tkestack.io/cbl","selector":{"app":"web"},"ports":[{"port":8080,"targetPort":80}]}}' | kubectl create -f -"#,
        )],
        cause: "has the class lbcf.tkestack.io/cbl, which no driver that it can use has",
        ..BASE
    },
    Situation {
        name: "a Service has no class",
        asked: "svc/shop",
        breaks: &[Event::Run(
            r#"printf '%s' '{"apiVersion":"v1","kind":"Service","metadata":{"name":"shop"},"spec":{"type":"LoadBalancer","selector":{"app":"web"},"ports":[{"port":8080,"targetPort":80}]}}' | kubectl create -f -"#,
        )],
        cause: "has no spec.loadBalancerClass",
        ..BASE
    },
    Situation {
        name: "a group is paused",
        seen_in: "kubernetes/ingress-nginx#1125",
        breaks: &[
            Event::Run("kubectl annotate bg web-group lbcf.tkestack.io/paused=true"),
            CREATE_POD,
        ],
        cause: "BackendGroup lbcf-e2e-web/web-group is paused by its annotation",
        ..BASE
    },
    Situation {
        name: "a load balancer is paused",
        asked: "pod/web-2",
        breaks: &[
            Event::Run("kubectl annotate lb web-lb lbcf.tkestack.io/paused=true"),
            CREATE_POD,
        ],
        cause: "LoadBalancer lbcf-e2e-web/web-lb is paused by its annotation",
        ..BASE
    },
    Situation {
        name: "no controller leads",
        seen_in: "kube-vip/kube-vip#475",
        has_controller: false,
        breaks: &[Event::Run(
            r#"printf '%s' '{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"lbcf-controller"},"spec":{"holderIdentity":"gone","leaseDurationSeconds":15,"renewTime":"2026-01-01T00:00:00.000000Z"}}' | kubectl create -n kube-system -f -"#,
        )],
        cause: "does not lead, nor does any other controller",
        helps: Helps::Events(&[Event::ControllerStarts]),
        ..BASE
    },
    Situation {
        name: "a pod lacks a label",
        asked: "pod/web-2",
        breaks: &[Event::Run(
            "kubectl run web-2 --image=registry.example/web --labels=app=wep",
        )],
        cause: "is not selected: BackendGroup lbcf-e2e-web/web-group selects pods with app=web",
        ..BASE
    },
    Situation {
        name: "a pod is excepted",
        seen_in: "kubernetes/ingress-nginx#4188",
        asked: "pod/web-0",
        breaks: &[Event::Run(
            r#"kubectl patch bg web-group --type=merge -p '{"spec":{"pods":{"byLabel":{"except":["web-0"]}}}}'"#,
        )],
        cause: "is excluded by spec.pods.byLabel.except of BackendGroup lbcf-e2e-web/web-group",
        ..BASE
    },
    Situation {
        name: "backends never finish draining",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#3270",
        asked: "lb/web-lb",
        breaks: &[
            Event::Fault(r#"{"match":{"webhook":"deregisterBackend"},"action":{"running":{}}}"#),
            Event::Run(
                "kubectl delete bg web-group --wait=false && kubectl delete lb web-lb --wait=false",
            ),
        ],
        cause: "is being deregistered at web-lb: the backend drains since",
        helps: Helps::Events(&[Event::FaultsEnd]),
        ends_gone: true,
        ..BASE
    },
    Situation {
        name: "a finalizer of others keeps a load balancer",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#1997",
        asked: "lb/web-lb",
        breaks: &[
            Event::Run(
                r#"kubectl patch lb web-lb --type=json -p '[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/hold"}]'"#,
            ),
            Event::Run(
                "kubectl delete bg web-group --wait=false && kubectl delete lb web-lb --wait=false",
            ),
        ],
        cause: "waits for finalizers of others: example.com/hold",
        helps: Helps::Events(&[Event::Run(
            r#"kubectl patch lb web-lb --type=merge -p '{"metadata":{"finalizers":null}}'"#,
        )]),
        ends_gone: true,
        ..BASE
    },
    Situation {
        name: "two owners disagree about a backend",
        seen_in: "kubernetes-sigs/aws-load-balancer-controller#1839",
        asked: "bg/canary",
        breaks: &[Event::Run(
            r#"sleep 1; kubectl get bg web-group -o json | sed -e 's/"name": "web-group"/"name": "canary"/' -e 's/"weight": "50"/"weight": "10"/' -e '/resourceVersion/d' | kubectl create -f -"#,
        )],
        cause: "owners disagree",
        helps: Helps::Events(&[Event::Run(
            r#"kubectl patch bg canary --type=merge -p '{"spec":{"parameters":{"weight":"50"}}}'"#,
        )]),
        ..BASE
    },
    Situation {
        name: "two drivers name one class",
        seen_in: "kubernetes/ingress-nginx#10246",
        asked: "lbd/lbcf-second",
        breaks: &[Event::Run(
            r#"sleep 1; kubectl get lbd -n kube-system lbcf-clb -o json | sed -e 's/"name": "lbcf-clb"/"name": "lbcf-second"/' -e '/resourceVersion/d' | kubectl create -f -"#,
        )],
        cause: "LoadBalancerDriver kube-system/lbcf-clb serves the class",
        helps: Helps::Events(&[Event::Run(
            r#"kubectl patch lbd -n kube-system lbcf-second --type=merge -p '{"spec":{"serviceClass":null}}'"#,
        )]),
        ..BASE
    },
    Situation {
        name: "the driver says that it is ill",
        asked: "lbd/lbcf-clb",
        breaks: &[Event::Fault(
            r#"{"match":{"webhook":"healthz"},"action":{"httpStatus":{"code":500}}}"#,
        )],
        cause: "HTTP status 500",
        helps: Helps::Events(&[Event::FaultsEnd]),
        ..BASE
    },
];
