//! Controllers that serve the admission webhooks, as on a cluster where everything is installed.

use crate::{World, until};
use kube::Client;
use kube::api::{Api, PostParams};
use lbcf_controller::admission::{AdmissionServer, Certificates, Endpoint, configurations};
use lbcf_controller::{Controller, Health, ObjectKey, Options, RunError};
use std::net::Ipv4Addr;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The name of the controller's Service.
const CONTROLLER: &str = "lbcf-controller";
const NAMESPACE: &str = "kube-system";

/// A controller that serves admission.
#[derive(Debug)]
pub struct AdmittingController {
    /// Its health endpoint and metrics.
    pub health: Health,
    /// The controller. Aborting the task kills it.
    pub task: JoinHandle<Result<(), RunError>>,
}

impl World {
    /// Installs the webhook configurations: from now on the API server stores objects of LBCF's
    /// kinds only while a controller serves admission.
    pub async fn install_admission(&self) {
        let both = configurations(&Endpoint::default(), None);
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

    /// Starts a controller that serves admission at the cluster's Service with self-signed
    /// certificates, and waits until it is ready.
    pub async fn start_admitting(&self, name: &str, options: Options) -> AdmittingController {
        let client = self.cluster.client_as(name);
        self.start_admitting_with(client, options).await
    }

    /// Like [`Self::start_admitting`], with a client of its own.
    pub async fn start_admitting_with(
        &self,
        client: Client,
        options: Options,
    ) -> AdmittingController {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a free port");
        let certificates = Certificates::SelfSignedCa {
            service: ObjectKey::new(NAMESPACE, CONTROLLER),
            secret: ObjectKey::new(NAMESPACE, "lbcf-controller-admission"),
            names: Vec::new(),
        };
        let server = AdmissionServer::new(listener, certificates).expect("the names are names");
        let addr = server.addr().expect("it has an address").to_string();
        self.cluster
            .set_service_address(format!("{CONTROLLER}.{NAMESPACE}.svc"), &addr);
        let controller = Controller::new(client, options).with_admission(server);
        let health = controller.health();
        let task = tokio::spawn(controller.run(std::future::pending()));
        until("admission is served", async || {
            assert!(!task.is_finished(), "the controller ended");
            health.ready().ok()
        })
        .await;
        AdmittingController { health, task }
    }
}
