//! Creating, changing and deleting the cluster's objects.

use crate::manifests::{self, GROUP, LB, NAMESPACE, OWN_DRIVER, SYSTEM};
use crate::{World, reasons, until};
use k8s_openapi::api::core::v1::{Namespace, Pod, Secret};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, NamespacedKind as Kind,
    ServiceMode, WebhookConfig,
};
use lbcf_controller::names::{self, RECORD_KEY_SECRET};
use lbcf_driver_sdk::webhook::{ALL, Obligation, WebhookInfo};
use serde_json::{Value, json};

impl World {
    /// Creates the LoadBalancerDriver of the driver at [`World::driver_url`].
    pub async fn create_driver(&self) {
        self.create(&self.driver()).await;
    }

    /// The same with [`manifests::CLASS`], whose Services are registered in this mode.
    pub async fn create_class_driver(&self, mode: ServiceMode) {
        let mut driver = self.driver();
        driver.spec.service_class = Some(manifests::service_class(mode));
        self.create(&driver).await;
    }

    fn driver(&self) -> LoadBalancerDriver {
        let mut driver = manifests::driver(&self.driver_url());
        if let Some(timeout) = self.webhook_timeout {
            let config = |webhook: &WebhookInfo| WebhookConfig {
                name: webhook.name.to_owned(),
                timeout: Some(format!("{}ms", timeout.as_millis())),
            };
            // Listing one of the others would offer it.
            let offered = |webhook: &&WebhookInfo| webhook.obligation != Obligation::Listed;
            driver.spec.webhooks = ALL.iter().filter(offered).map(config).collect();
        }
        driver
    }

    /// Creates the driver, the load balancer, the pods `web-0`, `web-1`, … and the group.
    pub async fn apply_basics(&self, pods: usize) {
        self.create_driver().await;
        self.create(&manifests::load_balancer(LB)).await;
        self.create_pods(pods).await;
        self.create(&manifests::group(GROUP, &[LB])).await;
    }

    /// [`Self::apply_basics`], until the pods are registered.
    pub async fn register_basics(&self, pods: usize) {
        self.apply_basics(pods).await;
        self.until_pods(pods).await;
    }

    /// [`Self::register_basics`], until every status says so.
    pub async fn settle_basics(&self, pods: usize) {
        self.register_basics(pods).await;
        self.until_settled().await;
    }

    /// Like [`Self::apply_basics`], with a driver in the same namespace as everything else.
    pub async fn apply_with_own_driver(&self, pods: usize) {
        let mut driver = self.driver();
        driver.metadata.name = Some(OWN_DRIVER.to_owned());
        driver.metadata.namespace = Some(NAMESPACE.to_owned());
        self.create(&driver).await;
        let mut lb = manifests::load_balancer(LB);
        lb.spec.lb_driver = OWN_DRIVER.to_owned();
        self.create(&lb).await;
        self.create_pods(pods).await;
        self.create(&manifests::group(GROUP, &[LB])).await;
    }

    /// Deletes [`NAMESPACE`], and waits until it is gone with everything in it.
    pub async fn delete_namespace(&self) {
        self.start_namespace_deletion().await;
        self.until_namespace_deleted().await;
    }

    /// Asks for the deletion of [`NAMESPACE`].
    pub async fn start_namespace_deletion(&self) {
        let namespaces: Api<Namespace> = Api::all(self.client());
        namespaces
            .delete(NAMESPACE, &DeleteParams::default())
            .await
            .expect("the namespace may be deleted");
    }

    /// Waits until [`NAMESPACE`] is gone.
    pub async fn until_namespace_deleted(&self) {
        let namespaces: Api<Namespace> = Api::all(self.client());
        until("the namespace is deleted", async || {
            let namespace = namespaces.get_opt(NAMESPACE).await;
            let namespace = namespace.expect("namespaces can be read");
            namespace.is_none().then_some(())
        })
        .await;
    }

    /// Deletes what [`Self::apply_basics`] created, in an order that leaves nothing orphaned, and
    /// waits until nothing of LBCF is left.
    pub async fn delete_basics(&self) {
        self.delete::<BackendGroup>(NAMESPACE, GROUP).await;
        self.delete::<LoadBalancer>(NAMESPACE, LB).await;
        self.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
        self.delete::<LoadBalancerDriver>(SYSTEM, manifests::DRIVER)
            .await;
        self.until_nothing_left().await;
    }

    /// The API of a kind, with the test's own client.
    pub fn api<K: Kind>(&self, namespace: &str) -> Api<K> {
        Api::namespaced(self.client(), namespace)
    }

    /// An object of [`NAMESPACE`], as it is now.
    pub async fn get<K: Kind>(&self, name: &str) -> K {
        let object = self.api(NAMESPACE).get(name).await;
        let object = object.expect("the object exists");
        reasons::are_in_the_table(&object);
        object
    }

    /// Creates the pods `web-0`, `web-1`, …
    pub async fn create_pods(&self, count: usize) {
        for number in 0..count {
            self.create(&manifests::pod(&format!("web-{number}"))).await;
        }
    }

    /// Changes the weight of a group's or Bind's backends.
    pub async fn set_weight<K: Kind>(&self, name: &str, weight: &str) {
        let patch = json!({"spec": {"parameters": {"weight": weight}}});
        self.patch::<K>(NAMESPACE, name, patch).await;
    }

    /// Creates an object in its own namespace.
    pub async fn create<K: Kind>(&self, object: &K) -> K {
        let namespace = object.meta().namespace.clone().unwrap_or_default();
        let api = self.api::<K>(&namespace);
        let mut adapted = serde_json::to_value(object).expect("JSON");
        self.cluster.adapt(&K::kind(&()), &mut adapted);
        let object: K = serde_json::from_value(adapted).expect("it stays of this kind");
        loop {
            match api.create(&PostParams::default(), &object).await {
                // Admission asks for that where a request of the controller failed.
                Err(kube::Error::Api(status)) if status.message.contains("try again") => {}
                created => return created.expect("the object is accepted"),
            }
        }
    }

    /// Changes an object by a merge patch.
    pub async fn patch<K: Kind>(&self, namespace: &str, name: &str, patch: Value) -> K {
        self.api::<K>(namespace)
            .patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .expect("the patch is accepted")
    }

    /// Changes an object's status by a merge patch.
    pub async fn patch_status<K: Kind>(&self, namespace: &str, name: &str, status: Value) -> K {
        let patch = Patch::Merge(json!({ "status": status }));
        self.api::<K>(namespace)
            .patch_status(name, &PatchParams::default(), &patch)
            .await
            .expect("the patch is accepted")
    }

    /// Removes the key that signs records, as if an earlier version, or the original, had created them: the next controller
    /// creates a key that is no older than they are.
    pub async fn forget_record_key(&self) {
        self.delete::<Secret>(SYSTEM, RECORD_KEY_SECRET).await;
    }

    /// Deletes an object, if it exists.
    pub async fn delete<K: Kind>(&self, namespace: &str, name: &str) {
        if K::kind(&()) == "LoadBalancerDriver" {
            self.drain(namespace, name).await;
        }
        let api = self.api::<K>(namespace);
        until("the object may be deleted", async || {
            match api.delete(name, &DeleteParams::default()).await {
                Ok(_) => Some(()),
                Err(kube::Error::Api(status)) if status.is_not_found() => Some(()),
                // Admission could not yet confirm that nothing uses the driver: users try again.
                Err(kube::Error::Api(status)) if status.message.contains("using it") => None,
                Err(error) => panic!("deleting {name}: {error}"),
            }
        })
        .await;
    }

    /// Removes the driver and its finalizers, so that it does not outlive what uses it (d32).
    pub async fn remove_driver_by_hand(&self) {
        let name = manifests::DRIVER;
        self.delete::<LoadBalancerDriver>(SYSTEM, name).await;
        let none = json!({"metadata": {"finalizers": []}});
        self.patch::<LoadBalancerDriver>(SYSTEM, name, none).await;
        self.until_deleted::<LoadBalancerDriver>(SYSTEM, name).await;
    }

    /// Labels a driver as draining, which admission requires before a driver is deleted.
    async fn drain(&self, namespace: &str, name: &str) {
        let label = json!({"metadata": {"labels": {names::LABEL_DRIVER_DRAINING: "true"}}});
        let drivers = self.api::<LoadBalancerDriver>(namespace);
        let patched = drivers
            .patch(name, &PatchParams::default(), &Patch::Merge(label))
            .await;
        match patched {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            Err(error) => panic!("draining {name}: {error}"),
        }
    }

    /// Sets a pod's Ready condition.
    pub async fn set_ready(&self, pod: &str, ready: bool) {
        let status = if ready { "True" } else { "False" };
        let patch = json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
        self.api::<Pod>(NAMESPACE)
            .patch_status(pod, &PatchParams::default(), &Patch::Strategic(patch))
            .await
            .expect("the pod's status is accepted");
    }

    /// All objects of a kind, in every namespace.
    pub async fn all<K: Kind>(&self) -> Vec<K> {
        let all: Api<K> = Api::all(self.client());
        let list = all.list(&ListParams::default()).await;
        let items = list.expect("it can be listed").items;
        items.iter().for_each(reasons::are_in_the_table);
        items
    }

    /// Waits until an object no longer exists.
    pub async fn until_deleted<K: Kind>(&self, namespace: &str, name: &str) {
        until(&format!("{name} is deleted"), async || {
            let object = self
                .api::<K>(namespace)
                .get_opt(name)
                .await
                .expect("it can be read");
            object.is_none().then_some(())
        })
        .await;
    }

    /// Waits until neither the cloud nor the cluster holds anything of LBCF.
    pub async fn until_nothing_left(&self) {
        until("nothing is left", async || {
            let is_empty = self.cloud.observe().load_balancers.is_empty()
                && self.all::<BackendRecord>().await.is_empty()
                && self.all::<BackendGroup>().await.is_empty()
                && self.all::<LoadBalancer>().await.is_empty()
                && self.all::<Bind>().await.is_empty()
                && self.all::<LoadBalancerDriver>().await.is_empty();
            is_empty.then_some(())
        })
        .await;
    }
}
