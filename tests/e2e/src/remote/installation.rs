//! What all worlds of a run need in a remote cluster: CRDs, and the controller's permissions.

use super::clean_up;
use super::owned::{LABEL, OF_ALL, STANDBY, STANDBY_ROLE, is_conflict};
use super::permissions::Permissions;
use super::{conflicts, marker};
use crate::manifests::SYSTEM;
use http::Request;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::Resource;
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, Config};
use lbcf_controller::api::{LoadBalancerDriver, crds};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Arc, Once};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// The manifest that operators apply.
const PERMISSIONS: &str = include_str!("../../../../deploy/controller/rbac.yaml");
const ACCOUNT: &str = "lbcf-controller";
/// The longest that a CRD or a permission may take to have effect.
const DEADLINE: Duration = Duration::from_secs(120);

/// The installation lives as long as worlds follow each other.
#[derive(Debug)]
pub(super) struct Installation {
    /// Those stay.
    pub(super) crds_before: Vec<String>,
    /// With the credentials of the controller, if the cluster issues any.
    pub(super) controller: Config,
    /// The permissions of the controller, if the cluster does not check them.
    pub(super) unchecked: Option<Arc<Permissions>>,
    renewal: AbortHandle,
}

impl Installation {
    /// Removes what an interrupted run has left, and installs everything.
    ///
    /// # Errors
    /// Why the cluster cannot be used.
    pub(super) async fn create(client: &Client, config: &Config) -> Result<Self, String> {
        let crds_before = match marker::take_over(client).await? {
            Some(crds_before) => {
                note("removing what an interrupted run has left in the cluster");
                clean_up::end_world(client).await?;
                clean_up::remove_shared(client, &crds_before).await?;
                crds_before
            }
            None => {
                let crds_before = conflicts::check(client).await?;
                marker::create(client, &crds_before).await?;
                crds_before
            }
        };
        let renewal = tokio::spawn(marker::renew(client.clone())).abort_handle();
        let mut installation = Self {
            crds_before,
            controller: config.clone(),
            unchecked: None,
            renewal,
        };
        let installed = installation.install(client).await;
        installed.map_err(|error| error.to_string())?;
        Ok(installation)
    }

    async fn install(&mut self, client: &Client) -> kube::Result<()> {
        create_crds(client, &self.crds_before).await;
        let documents = PERMISSIONS.split("\n---\n");
        let parse = |text: &str| serde_saphyr::from_str::<Value>(text).expect("it is YAML");
        let mut permissions = Permissions::default();
        for object in documents.map(parse).chain(standby_permissions()) {
            permissions.add(&object);
            create(client, object).await?;
        }
        match token(client).await {
            Ok(token) => {
                self.controller.auth_info =
                    serde_json::from_value(json!({ "token": token })).expect("fields of a user");
                until_allowed(&self.controller).await;
            }
            Err(error) => {
                self.unchecked = Some(Arc::new(permissions));
                note_unchecked(&error);
            }
        }
        Ok(())
    }

    /// Removes everything, the marker last.
    pub(super) async fn remove(self, client: &Client) -> Result<(), String> {
        clean_up::remove_shared(client, &self.crds_before).await?;
        self.renewal.abort();
        marker::delete(client).await
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

/// Not `println!`: the test harness discards what a passing test prints.
pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "lbcf-e2e: {text}");
}

fn note_unchecked(error: &kube::Error) {
    static ONCE: Once = Once::new();
    let why = match error {
        kube::Error::Api(status) => status.message.clone(),
        error => error.to_string(),
    };
    ONCE.call_once(|| {
        note(&format!(
            "the tests check the permissions of the controllers themselves, \
             as the cluster issues no tokens: {why}"
        ));
    });
}

/// Creates the CRDs that are missing, and waits until they are served.
async fn create_crds(client: &Client, before: &[String]) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in crds() {
        let name = crd.metadata.name.clone().unwrap_or_default();
        if before.contains(&name) {
            continue;
        }
        let created = api.create(&PostParams::default(), &crd).await;
        created.unwrap_or_else(|error| panic!("the CRD {name}: {error}"));
        let established = await_condition(api.clone(), &name, conditions::is_crd_established());
        tokio::time::timeout(DEADLINE, established)
            .await
            .expect("the CRD is established in time")
            .expect("the CRD is established");
    }
}

/// Creates an object of [`OF_ALL`].
async fn create(client: &Client, mut object: Value) -> kube::Result<()> {
    object["metadata"]["labels"][LABEL] = "true".into();
    let owned = OF_ALL
        .iter()
        .find(|owned| object["kind"] == owned.kind && object["metadata"]["name"] == owned.name);
    let owned = owned.unwrap_or_else(|| panic!("it is not removed in the end: {object}"));
    let object: DynamicObject = serde_json::from_value(object).map_err(kube::Error::SerdeError)?;
    match owned
        .api(client)
        .create(&PostParams::default(), &object)
        .await
    {
        // Of the world before.
        Err(error) if is_conflict(&error) => Ok(()),
        created => created.map(drop),
    }
}

/// The standby waits for a lease that no controller has in production.
fn standby_permissions() -> [Value; 2] {
    let group = "rbac.authorization.k8s.io";
    [
        json!({
            "apiVersion": format!("{group}/v1"), "kind": "Role",
            "metadata": {"name": STANDBY_ROLE, "namespace": SYSTEM},
            "rules": [{
                "apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
                "resourceNames": [STANDBY], "verbs": ["get", "update"],
            }],
        }),
        json!({
            "apiVersion": format!("{group}/v1"), "kind": "RoleBinding",
            "metadata": {"name": STANDBY_ROLE, "namespace": SYSTEM},
            "roleRef": {"apiGroup": group, "kind": "Role", "name": STANDBY_ROLE},
            "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": SYSTEM}],
        }),
    ]
}

/// Creates a role and binds it to a user, who has its permissions then. Both are deleted with their namespace.
pub(crate) async fn bind_role(client: &Client, role: Value, user: &str) {
    let group = "rbac.authorization.k8s.io";
    let metadata = role["metadata"].clone();
    let namespace = metadata["namespace"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let binding = json!({
        "metadata": metadata,
        "roleRef": {"apiGroup": group, "kind": "Role", "name": metadata["name"]},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
    });
    let roles: Api<Role> = Api::namespaced(client.clone(), &namespace);
    let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), &namespace);
    let (role, binding) = (
        serde_json::from_value(role),
        serde_json::from_value(binding),
    );
    let (role, binding) = (role.expect("a role"), binding.expect("a binding"));
    let parameters = PostParams::default();
    roles
        .create(&parameters, &role)
        .await
        .expect("the role is created");
    let bound = bindings.create(&parameters, &binding).await;
    bound.expect("the binding is created");
}

/// A token of the controller's ServiceAccount, for longer than a run takes.
async fn token(client: &Client) -> kube::Result<String> {
    const DAY: u32 = 24 * 60 * 60;
    let request = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "metadata": {}, "spec": {"expirationSeconds": DAY},
    });
    let uri = format!("/api/v1/namespaces/{SYSTEM}/serviceaccounts/{ACCOUNT}/token");
    let request = Request::post(uri)
        .header("content-type", "application/json")
        .body(request.to_string().into_bytes());
    let request = request.expect("a request");
    let issued: Value = client.request(request).await?;
    Ok(issued["status"]["token"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}

/// Waits until the API server knows the permissions.
async fn until_allowed(controller: &Config) {
    let client = Client::try_from(controller.clone()).expect("the token is usable");
    let api: Api<LoadBalancerDriver> = Api::all(client);
    let deadline = Instant::now() + DEADLINE;
    while let Err(error) = api.list_metadata(&Default::default()).await {
        let plural = LoadBalancerDriver::plural(&());
        assert!(
            Instant::now() < deadline,
            "the controller's ServiceAccount may not list {plural}: {error}"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
