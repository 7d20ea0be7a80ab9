use super::*;
use crate::api::{BackendGroup, Bind, ObjectKey};
use crate::index::ServiceView;
use serde_json::{Value, json};
use std::sync::Arc;

/// An owner in the namespace ns, and what its backends depend on.
struct Case {
    spec: Value,
    service: Option<Value>,
    known: OwnerCounts,
    /// Backends, and registered ones.
    counts: [usize; 2],
    view: OwnerView,
}

/// An owner of one pod that is registered.
fn of_pods() -> Case {
    let selector = json!({"selector": {"app": "web"}});
    Case {
        spec: json!({"loadBalancers": [], "pods": {"ports": [{"port": 80}], "byLabel": selector}}),
        service: None,
        known: OwnerCounts {
            pods: 1,
            ..OwnerCounts::default()
        },
        counts: [1, 1],
        view: OwnerView::default(),
    }
}

/// An owner of a Service on no node and without endpoints.
fn of_service(mode: &str) -> Case {
    let service = json!({"name": "svc", "mode": mode, "port": {"name": "http"}});
    Case {
        spec: json!({"loadBalancers": [], "service": service}),
        service: Some(json!({
            "metadata": {"name": "svc", "namespace": "ns"},
            "spec": {"type": "NodePort", "ports": [{"name": "http", "port": 80, "nodePort": 30080}]},
        })),
        known: OwnerCounts::default(),
        counts: [1, 0],
        view: OwnerView::default(),
    }
}

fn of_addresses(counts: [usize; 2]) -> Case {
    Case {
        spec: json!({"loadBalancers": []}),
        counts,
        ..of_pods()
    }
}

impl Case {
    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn with_service(self, patch: &Value) -> Self {
        self.with(|case| json_patch::merge(case.service.as_mut().unwrap(), patch))
    }

    fn with_spec(self, patch: &Value) -> Self {
        self.with(|case| json_patch::merge(&mut case.spec, patch))
    }

    fn wait(&self, owner: &Owner) -> Option<Wait> {
        let (version, kind) = match owner {
            Owner::Group(_) => ("lbcf.tkestack.io/v1beta1", "BackendGroup"),
            Owner::Bind(_) => ("lbcf.tkestack.io/v1", "Bind"),
        };
        let object = json!({
            "apiVersion": version, "kind": kind,
            "metadata": {"name": "web", "namespace": "ns"}, "spec": self.spec,
        });
        let object: Box<dyn BackendOwner> = match owner {
            Owner::Group(_) => Box::new(serde_json::from_value::<BackendGroup>(object).unwrap()),
            Owner::Bind(_) => Box::new(serde_json::from_value::<Bind>(object).unwrap()),
        };
        let service = self.service.clone();
        let service = service.map(|it| ServiceView::of(&serde_json::from_value(it).unwrap()));
        waiting(&BackendsView {
            owner,
            object: &*object,
            service: &SelectedService {
                service: service.map(Arc::new),
                slices: Vec::new(),
            },
            known: &self.known,
            counts: BackendCounts {
                backends: self.counts[0],
                registered: self.counts[1],
                ..BackendCounts::default()
            },
            view: &self.view,
        })
    }

    /// The reason and the message for a group and a Bind, which are the same.
    fn waits(&self) -> Option<(&'static str, String)> {
        let [group, bind] = [Owner::Group, Owner::Bind].map(|owner| {
            let wait = self.wait(&owner(ObjectKey::new("ns", "web")));
            wait.map(|wait| (&**wait.reason, wait.message))
        });
        assert_eq!(group, bind);
        group
    }

    fn reason(&self) -> Option<&'static str> {
        self.waits().map(|(reason, _)| reason)
    }
}

#[test]
fn d44_d77_an_owner_names_what_it_lacks() {
    let names = json!(["a", "b", "c", "d", "e"]);
    let names = json!({"pods": {"byLabel": null, "byName": names}});
    let refused = |case: &mut Case| case.view.is_refused = true;
    let external = json!({"spec": {"type": "ExternalName"}});
    let cluster_ip = json!({"spec": {"type": "ClusterIP"}});
    let web = json!({"spec": {"ports": [{"name": "web", "port": 80, "nodePort": 30080}]}});
    let local = json!({"spec": {"externalTrafficPolicy": "Local", "selector": {"app": "web"}}});
    let on_pool = json!({"service": {"nodeSelector": {"pool": "web"}}});
    for (case, reason, message) in [
        (
            of_pods().with(|case| case.known.pods = 0),
            "NoPodsSelected",
            "spec.pods.byLabel selects no pod in namespace ns: app=web",
        ),
        (
            of_pods().with(|case| case.known.pods = 0).with_spec(&names),
            "NoPodsSelected",
            "spec.pods.byName: no such pod in namespace ns: a, b, c and 2 more",
        ),
        (
            of_pods().with_spec(&json!({"pods": {"ports": []}})),
            "NoPorts",
            "spec.pods.ports has no port",
        ),
        (
            of_service("NodePort").with(|case| case.service = None),
            "ServiceNotFound",
            "Service ns/svc not found, or being deleted",
        ),
        (
            of_service("NodePort").with_service(&cluster_ip),
            "NoNodePort",
            "Service ns/svc has no node ports: its type must be NodePort or LoadBalancer",
        ),
        (
            of_service("NodePort").with_service(&web),
            "NoNodePort",
            "Service ns/svc has no node port for port \"http\"",
        ),
        (
            of_service("NodePort")
                .with_spec(&json!({"service": {"port": {"name": null, "port": 81}}})),
            "NoNodePort",
            "Service ns/svc has no node port for port 81/TCP",
        ),
        (
            of_service("NodePort"),
            "NoNodesSelected",
            "Service ns/svc: there is no node that load balancers may use",
        ),
        (
            of_service("NodePort")
                .with_service(&local)
                .with_spec(&on_pool),
            "NoNodesSelected",
            "Service ns/svc: there is no node with the labels pool=web that load balancers may use, and a \
             Ready pod of the Service, which has externalTrafficPolicy Local",
        ),
        (
            of_service("NodePort").with(refused),
            "BackendRecordsRefused",
            "the API server refuses to store BackendRecords; the events and the log have its messages",
        ),
        (
            of_service("Endpoints").with(|case| case.service = None),
            "ServiceNotFound",
            "spec.service.name: Service ns/svc not found, or being deleted",
        ),
        (
            of_service("Endpoints").with_service(&external),
            "NoEndpoints",
            "spec.service.name: Service ns/svc has the type ExternalName, which has no endpoints",
        ),
        (
            of_service("Endpoints").with_service(&web),
            "NoServicePort",
            "spec.service.port: Service ns/svc has no port \"http\"; it has \"web\" (80/TCP)",
        ),
        (
            of_service("Endpoints"),
            "NoEndpoints",
            "spec.service.name: Service ns/svc has neither a selector nor an EndpointSlice with the label \
             kubernetes.io/service-name",
        ),
    ] {
        assert_eq!(case.waits(), Some((reason, message.to_owned())));
    }
}

#[test]
fn d44_what_needs_a_user_comes_before_what_ends_by_itself() {
    assert_eq!(of_pods().reason(), None);
    // A pod that is not Ready and stays registered by its policy.
    let unready = of_pods().with(|case| case.view.has_unready_pods = true);
    assert_eq!(unready.reason(), None);
    let mut case = unready.with(|case| case.counts = [2, 1]);
    case.view.conflict = Some("BackendRecord r exists".to_owned());
    case.view.is_refused = true;
    let conflict = Some(("BackendRecordConflict", "BackendRecord r exists".to_owned()));
    assert_eq!(case.waits(), conflict);
    case.view.conflict = None;
    assert_eq!(case.reason(), Some("BackendRecordsRefused"));
    case.view.is_refused = false;
    assert_eq!(case.reason(), Some("PodsNotReady"));
    case.view.has_unready_pods = false;
    assert_eq!(case.reason(), Some("Registering"));
    let registering = of_service("NodePort").with(|case| case.known.records = 2);
    assert_eq!(registering.reason(), Some("Registering"));
}

#[test]
fn d44_d77_only_a_group_may_have_neither_pods_nor_a_service() {
    let [group, bind] = [Owner::Group, Owner::Bind].map(|it| it(ObjectKey::new("ns", "web")));
    let reason = |counts, owner| of_addresses(counts).wait(owner).map(|wait| &**wait.reason);
    assert_eq!(reason([0, 0], &group), Some("NoAddresses"));
    assert_eq!(reason([2, 1], &group), Some("Registering"));
    assert_eq!(reason([2, 2], &group), None);
    let wait = of_addresses([0, 0]).wait(&bind).unwrap();
    assert_eq!(wait.reason, "NoPodsSelected");
    assert_eq!(wait.message, "spec: one of pods and service is required");
}
