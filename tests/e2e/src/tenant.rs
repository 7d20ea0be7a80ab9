//! A tenant: a user that writes LBCF's kinds, pods, Services and config maps in one namespace, and reads nothing else.

use crate::cluster::Cluster;
use crate::remote::{Permissions, Traffic, bind_role};
use crate::world::World;
use axum::body::Body as ResponseBody;
use http::Response;
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::DynBody;
use serde_json::{Value, json};
use std::sync::Arc;
use tower::{BoxError, ServiceBuilder};

fn role(namespace: &str) -> Value {
    let rule = |group: &str, resources: &[&str]| {
        let verbs = [
            "get",
            "list",
            "watch",
            "create",
            "update",
            "patch",
            "delete",
            "deletecollection",
        ];
        json!({"apiGroups": [group], "resources": resources, "verbs": verbs})
    };
    let kinds = [
        "loadbalancerdrivers",
        "loadbalancers",
        "backendgroups",
        "binds",
        "backendrecords",
    ];
    let statuses = kinds.map(|kind| format!("{kind}/status"));
    let of_lbcf: Vec<&str> = kinds
        .into_iter()
        .chain(statuses.iter().map(String::as_str))
        .collect();
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": "tenant", "namespace": namespace},
        "rules": [
            rule("lbcf.tkestack.io", &of_lbcf),
            rule("", &["pods", "pods/status", "services", "services/status", "configmaps"]),
        ],
    })
}

impl World {
    /// A client of the tenant of this namespace. Where the cluster does not authorise its clients, the client itself refuses what the
    /// role does not allow.
    pub async fn client_of_tenant(&self, namespace: &str) -> Client {
        let role = role(namespace);
        let mut permissions = Permissions::default();
        permissions.add(&role);
        let permissions = Arc::new(permissions);
        match &self.cluster {
            Cluster::Embedded(_) => {
                let traffic = Traffic::default();
                let boxed = |response: Response<ResponseBody>| {
                    response.map(|body| Box::new(body.map_err(BoxError::from)) as Box<DynBody>)
                };
                let service = ServiceBuilder::new()
                    .layer(traffic.layer(namespace, Some(permissions)))
                    .map_response(boxed)
                    .service(self.cluster.service().named(namespace));
                Client::new(service, namespace)
            }
            Cluster::Remote(session) => {
                bind_role(&self.client(), role, namespace).await;
                session.client_of_user(namespace, permissions)
            }
        }
    }

    /// Acts by another client from now on; returns the one before.
    pub fn act_by(&mut self, client: Client) -> Client {
        std::mem::replace(&mut self.client, client)
    }
}
