//! Controllers that serve the admission webhooks, as on a cluster where everything is installed.

use crate::{World, is_remote, manifests, until};
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use kube::Client;
use kube::api::{Api, DeleteParams, PostParams};
use lbcf_controller::admission::{
    AdmissionServer, Certificates, Endpoint, MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION,
    configurations,
};
use lbcf_controller::api::LoadBalancerDriver;
use lbcf_controller::{Controller, Health, ObjectKey, Options, RunError};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The name of the controller's Service.
const CONTROLLER: &str = "lbcf-controller";
const NAMESPACE: &str = "kube-system";

/// A controller that serves admission.
#[derive(Debug)]
pub struct AdmittingController {
    /// Its health endpoint and metrics.
    pub health: Health,
    /// The address of its admission webhooks.
    pub addr: SocketAddr,
    /// Notify it to end the controller in order.
    pub stop: Arc<Notify>,
    /// The controller. Aborting the task kills it.
    pub task: JoinHandle<Result<(), RunError>>,
}

impl World {
    /// Installs the webhook configurations: from now on the API server stores objects of LBCF's
    /// kinds only while a controller serves admission.
    pub async fn install_admission(&self) {
        self.install_admission_at(&self.cluster.admission_endpoint())
            .await;
    }

    /// Like [`Self::install_admission`], for webhooks at an endpoint.
    pub async fn install_admission_at(&self, endpoint: &Endpoint) {
        let both = configurations(endpoint, None);
        let client = self.cluster.client_as("test");
        Api::all(client.clone())
            .create(&PostParams::default(), &both.mutating)
            .await
            .expect("the configuration is accepted");
        Api::all(client)
            .create(&PostParams::default(), &both.validating)
            .await
            .expect("the configuration is accepted");
    }

    /// Deletes the webhook configurations.
    pub async fn uninstall_admission(&self) {
        let (client, params) = (self.cluster.client_as("test"), DeleteParams::default());
        Api::<MutatingWebhookConfiguration>::all(client.clone())
            .delete(MUTATING_CONFIGURATION, &params)
            .await
            .expect("the configuration exists");
        Api::<ValidatingWebhookConfiguration>::all(client)
            .delete(VALIDATING_CONFIGURATION, &params)
            .await
            .expect("the configuration exists");
    }

    /// Starts a controller that serves admission at the cluster's Service with self-signed
    /// certificates, and waits until it is ready.
    pub async fn start_admitting(&self, name: &str, options: Options) -> AdmittingController {
        let client = self.client_as(name);
        self.start_admitting_with(client, options).await
    }

    /// Waits until a remote API server, which knows webhook configurations from a watch, has the CA that was published. What
    /// the world before published is for the same address.
    pub(crate) async fn until_admission_is_trusted(&self) {
        if !is_remote() {
            return;
        }
        let drivers = Api::<LoadBalancerDriver>::namespaced(self.client(), NAMESPACE);
        let driver = manifests::driver("http://localhost");
        let dry_run = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        until("admission is trusted", async || {
            match drivers.create(&dry_run, &driver).await {
                Err(kube::Error::Api(status)) if status.code == 500 => None,
                _ => Some(()),
            }
        })
        .await;
    }

    /// Lets the API server send admission reviews to this address.
    pub(crate) fn send_admission_to(&self, addr: SocketAddr) {
        self.cluster
            .set_admission_address(&format!("{CONTROLLER}.{NAMESPACE}.svc"), addr);
    }

    /// Like [`Self::start_admitting`], with a client of its own.
    pub async fn start_admitting_with(
        &self,
        client: Client,
        options: Options,
    ) -> AdmittingController {
        let controller = self.launch_admitting(client, options, Vec::new()).await;
        controller.until_ready().await;
        controller
    }

    /// Like [`Self::start_admitting_with`], without waiting until it is ready. Its certificate has
    /// these names in addition.
    pub async fn launch_admitting(
        &self,
        client: Client,
        options: Options,
        mut names: Vec<String>,
    ) -> AdmittingController {
        names.extend(self.cluster.admission_names());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a free port");
        let certificates = Certificates::SelfSignedCa {
            service: ObjectKey::new(NAMESPACE, CONTROLLER),
            secret: ObjectKey::new(NAMESPACE, "lbcf-controller-admission"),
            names,
        };
        let server = AdmissionServer::new(listener, certificates).expect("the names are names");
        let addr = server.addr().expect("it has an address");
        self.send_admission_to(addr);
        let controller = Controller::new(client, options).with_admission(server);
        let health = controller.health();
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop).notified_owned();
        AdmittingController {
            health,
            addr,
            stop,
            task: tokio::spawn(controller.run(stopped)),
        }
    }
}

impl AdmittingController {
    /// Waits until it is ready.
    pub async fn until_ready(&self) {
        until("admission is served", async || {
            assert!(!self.task.is_finished(), "the controller ended");
            self.health.ready().ok()
        })
        .await;
    }
}
