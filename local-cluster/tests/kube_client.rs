//! `kube::Client`, in process and over TCP.

use std::convert::Infallible;
use std::sync::Arc;

use futures::StreamExt as _;
use http::{Request, Response};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::Controller;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::watcher::{self, Config};
use kube::{Client, CustomResource, CustomResourceExt as _, Resource as _, ResourceExt as _};
use local_cluster::LocalCluster;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc;
use tower::{ServiceBuilder, ServiceExt as _};

use crate::fixture::{DEADLINE, quick};

#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Gadget",
    namespaced,
    status = "GadgetStatus"
)]
struct GadgetSpec {
    size: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
struct GadgetStatus {
    seen: Option<i64>,
}

fn pod(name: &str) -> Pod {
    serde_json::from_value(json!({
        "metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "nginx"}]},
    }))
    .unwrap()
}

async fn gadgets(client: Client) -> Api<Gadget> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    crds.create(&PostParams::default(), &Gadget::crd())
        .await
        .unwrap();
    let established = await_condition(
        crds,
        "gadgets.example.com",
        conditions::is_crd_established(),
    );
    tokio::time::timeout(DEADLINE, established)
        .await
        .unwrap()
        .unwrap();
    Api::default_namespaced(client)
}

#[tokio::test]
async fn a_pod_runs_and_terminates() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let pods: Api<Pod> = Api::default_namespaced(cluster.client_as("tester"));
    pods.create(&PostParams::default(), &pod("web-0"))
        .await
        .unwrap();
    let running = await_condition(pods.clone(), "web-0", conditions::is_pod_running());
    let running = tokio::time::timeout(DEADLINE, running)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert!(
        running
            .status
            .unwrap()
            .pod_ip
            .unwrap()
            .starts_with("10.244.")
    );
    pods.delete("web-0", &DeleteParams::default())
        .await
        .unwrap();
    let uid = running.metadata.uid.unwrap();
    let deleted = await_condition(pods, "web-0", conditions::is_deleted(&uid));
    tokio::time::timeout(DEADLINE, deleted)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(cluster.requests().writes_by("tester"), 2);
}

#[tokio::test]
async fn a_derived_kind_is_served_over_tcp() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let config = kube::Config::new(server.url().parse().unwrap());
    let client = Client::try_from(config).unwrap();
    let gadgets = gadgets(client.clone()).await;
    let made = gadgets
        .create(
            &PostParams::default(),
            &Gadget::new("g", GadgetSpec { size: 1 }),
        )
        .await
        .unwrap();
    let patch = Patch::Merge(json!({"status": {"seen": 1}}));
    let patched = gadgets
        .patch_status("g", &PatchParams::default(), &patch)
        .await
        .unwrap();
    assert_eq!(patched.status.unwrap().seen, Some(1));
    let stale = gadgets
        .replace("g", &PostParams::default(), &made)
        .await
        .unwrap_err();
    assert!(matches!(stale, kube::Error::Api(status) if status.is_conflict()));
    let nodes: Api<Node> = Api::all(client);
    assert_eq!(
        nodes
            .list(&ListParams::default())
            .await
            .unwrap()
            .items
            .len(),
        2
    );
    server.shutdown().await;
    assert!(nodes.list(&ListParams::default()).await.is_err());
}

#[tokio::test]
async fn both_kinds_of_watchers_follow() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let gadgets = gadgets(cluster.client()).await;
    gadgets
        .create(
            &PostParams::default(),
            &Gadget::new("before", GadgetSpec { size: 1 }),
        )
        .await
        .unwrap();
    for config in [Config::default(), Config::default().streaming_lists()] {
        let mut events = Box::pin(watcher::watcher(gadgets.clone(), config));
        let mut next = async || {
            let event = tokio::time::timeout(DEADLINE, events.next()).await.unwrap();
            event.unwrap().unwrap()
        };
        assert!(matches!(next().await, watcher::Event::Init));
        assert!(matches!(next().await, watcher::Event::InitApply(g) if g.name_any() == "before"));
        assert!(matches!(next().await, watcher::Event::InitDone));
        let patch = Patch::Merge(json!({"metadata": {"labels": {"n": "1"}}}));
        gadgets
            .patch("before", &PatchParams::default(), &patch)
            .await
            .unwrap();
        assert!(matches!(next().await, watcher::Event::Apply(g) if g.labels()["n"] == "1"));
        let patch = Patch::Merge(json!({"metadata": {"labels": null}}));
        gadgets
            .patch("before", &PatchParams::default(), &patch)
            .await
            .unwrap();
        assert!(matches!(next().await, watcher::Event::Apply(_)));
    }
}

#[tokio::test]
async fn events_are_recorded_and_counted_separately() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let gadgets = gadgets(cluster.client()).await;
    let made = gadgets
        .create(
            &PostParams::default(),
            &Gadget::new("g", GadgetSpec { size: 1 }),
        )
        .await
        .unwrap();
    let before = cluster.requests();
    let recorder = Recorder::new(
        cluster.client_as("agent/1"),
        Reporter {
            controller: "c".into(),
            instance: None,
        },
    );
    let event = Event {
        type_: EventType::Normal,
        reason: "Made".into(),
        note: Some("made it".into()),
        action: "Make".into(),
        secondary: None,
    };
    for _ in 0..3 {
        recorder
            .publish(&event, &made.object_ref(&()))
            .await
            .unwrap();
    }
    let events: Api<k8s_openapi::api::core::v1::Event> = Api::default_namespaced(cluster.client());
    let found = events
        .list(&ListParams::default().fields("involvedObject.name=g"))
        .await
        .unwrap();
    assert_eq!(found.items.len(), 1);
    assert_eq!(found.items[0].message.as_deref(), Some("made it"));
    let requests = &cluster.requests() - &before;
    assert_eq!((requests.writes(), requests.event_writes()), (0, 3));
    assert_eq!(requests.count(|key| key.user_agent == "agent"), 3);
}

#[tokio::test]
async fn clients_can_have_layers() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let failing = ServiceBuilder::new()
        .map_response(|mut response: Response<axum::body::Body>| {
            *response.status_mut() = http::StatusCode::IM_A_TEAPOT;
            response
        })
        .service(cluster.service())
        .map_err(|never: Infallible| match never {})
        .map_request(|request: Request<kube::client::Body>| request);
    let pods: Api<Pod> = Api::default_namespaced(Client::new(failing, "default"));
    assert!(pods.list(&ListParams::default()).await.is_err());
}

#[tokio::test]
async fn a_controller_reconciles_owned_objects_and_finalizes() {
    use kube::runtime::controller::Action;
    use kube::runtime::finalizer::{Event, finalizer};

    let cluster = LocalCluster::start(quick()).await.unwrap();
    let gadgets = gadgets(cluster.client()).await;
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    let (seen, mut sightings) = mpsc::unbounded_channel();
    let api = gadgets.clone();
    let controller = Controller::new(gadgets.clone(), Config::default())
        .owns(maps.clone(), Config::default())
        .run(
            move |gadget, seen: Arc<mpsc::UnboundedSender<&'static str>>| {
                let api = api.clone();
                async move {
                    let step = |event| async move {
                        let word = match event {
                            Event::Apply(_) => "applied",
                            Event::Cleanup(_) => "cleaned up",
                        };
                        seen.send(word).map(|()| Action::await_change())
                    };
                    finalizer(&api, "example.com/test", gadget, step).await
                }
            },
            |_, _, _| Action::requeue(DEADLINE),
            Arc::new(seen),
        )
        .for_each(|done| async move {
            // An object may be deleted before its last event is handled.
            if let Err(error) = done {
                println!("{error}");
            }
        });
    let running = tokio::spawn(controller);
    let mut expect = async |expected: &str| {
        let next = tokio::time::timeout(DEADLINE, sightings.recv()).await;
        assert_eq!(next.unwrap(), Some(expected));
    };

    let gadget = Gadget::new("g", GadgetSpec { size: 1 });
    let gadget = gadgets
        .create(&PostParams::default(), &gadget)
        .await
        .unwrap();
    expect("applied").await;
    let map = ConfigMap {
        metadata: ObjectMeta {
            name: Some("owned".into()),
            owner_references: gadget.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    maps.create(&PostParams::default(), &map).await.unwrap();
    expect("applied").await;
    gadgets.delete("g", &DeleteParams::default()).await.unwrap();
    expect("cleaned up").await;
    let deleted = await_condition(maps, "owned", |map: Option<&ConfigMap>| map.is_none());
    tokio::time::timeout(DEADLINE, deleted)
        .await
        .unwrap()
        .unwrap();
    running.abort();
}
