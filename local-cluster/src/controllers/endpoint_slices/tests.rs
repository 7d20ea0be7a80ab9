//! How much work a change causes.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::object::object;
use crate::resources::Kind;
use crate::store::WatchCursor;
use crate::{LocalCluster, LocalClusterOptions};

const PODS: usize = 250;

/// This controller in a cluster in which no other runs.
struct Fixture {
    cluster: Arc<Cluster>,
    cursor: WatchCursor,
    controller: EndpointSlices,
}

impl Fixture {
    /// A service with [`PODS`] pods, whose slices are planned.
    async fn new() -> Self {
        let started = LocalCluster::start(LocalClusterOptions::default()).await;
        let started = started.unwrap();
        let cluster = Arc::clone(&started.cluster);
        started.shutdown().await;
        let (_, cursor) = WatchCursor::of_everything(&cluster.store);
        let mut fixture = Self {
            cluster,
            cursor,
            controller: EndpointSlices::default(),
        };
        let service = json!({"metadata": {"name": "web", "namespace": "default"},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "protocol": "TCP"}]}});
        write::create(
            &fixture.cluster,
            &fixture.kind("services"),
            &object(service),
        )
        .unwrap();
        for number in 0..PODS {
            fixture.add_pod(number);
        }
        // Slices are created, of which nothing is left to do when their events arrive.
        assert_eq!(fixture.reconcile(), (PODS, 3));
        fixture
    }

    fn kind(&self, plural: &str) -> Arc<Kind> {
        self.cluster.registry.builtin("", plural).unwrap()
    }

    fn add_pod(&self, number: usize) {
        let pod = json!({
            "metadata": {"name": format!("p{number}"), "namespace": "default",
                "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        });
        write::create(&self.cluster, &self.kind("pods"), &object(pod)).unwrap();
        self.set_status(number, json!({"podIP": format!("10.0.0.{number}")}));
    }

    fn set_status(&self, number: usize, status: Value) {
        let (pods, name) = (Resource::new("", "pods"), format!("p{number}"));
        let pod = self.cluster.store.get(&pods, "default", &name).unwrap();
        let mut next = pod.object.clone();
        next.insert("status".to_owned(), status);
        write::replace(&self.cluster, &self.kind("pods"), &pod, next);
    }

    /// Applies the events so far and reconciles the service. Returns how many endpoints were planned or
    /// written, and how many writes there were.
    fn reconcile(&mut self) -> (usize, u64) {
        for event in self.cursor.take(usize::MAX).unwrap() {
            self.controller.apply(&event);
        }
        let before = self.cluster.store.revision();
        let service = ("default".to_owned(), "web".to_owned());
        let endpoints = self
            .controller
            .reconcile_service(&self.cluster, &service)
            .unwrap();
        (endpoints, self.cluster.store.revision() - before)
    }
}

#[tokio::test]
async fn a_change_of_a_pod_plans_its_slice_alone() {
    let mut fixture = Fixture::new().await;
    assert_eq!(fixture.reconcile(), (0, 0));
    let ready = json!({"podIP": "10.0.0.7", "conditions": [{"type": "Ready", "status": "True"}]});
    fixture.set_status(7, ready);
    let (endpoints, writes) = fixture.reconcile();
    // Which of the slices it is in is up to chance: they are in the order of the pods' uids.
    assert!(
        [50, 100].contains(&endpoints) && writes == 1,
        "{endpoints}, {writes}"
    );
    // A new one joins the slice that has space.
    fixture.add_pod(PODS);
    assert_eq!(fixture.reconcile(), (51, 1));
    fixture.set_status(PODS, json!({"phase": "Failed", "podIP": "10.0.0.250"}));
    assert_eq!(fixture.reconcile(), (50, 1));
}

#[tokio::test]
async fn all_pods_are_planned_after_another_client_changed_a_slice() {
    let mut fixture = Fixture::new().await;
    let registry = &fixture.cluster.registry;
    let kind = registry.builtin("discovery.k8s.io", "endpointslices");
    let kind = kind.unwrap();
    let (slices, _) = fixture.cluster.store.list(&kind.storage, None);
    let mut next = slices[0].object.clone();
    next.insert("endpoints".to_owned(), Value::Null);
    write::replace(&fixture.cluster, &kind, &slices[0], next);
    assert_eq!(fixture.reconcile(), (PODS, 1));
    let (slices, _) = fixture.cluster.store.list(&kind.storage, None);
    let endpoints = slices
        .iter()
        .map(|it| items(&it.object, &["endpoints"]).count());
    assert_eq!(endpoints.sum::<usize>(), PODS);
}
