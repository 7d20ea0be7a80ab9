//! An embedded Kubernetes API for demos and tests.
//!
//! A controller is only as good as what it was tried against. This crate is a Kubernetes API server
//! small enough to start in a test: an [`axum::Router`] over an in-memory store, with the few agents
//! of a cluster that controllers notice. Pods are bound to nodes and become ready, owned objects are
//! collected, namespaces terminate, definitions are served. It answers in the words of Kubernetes
//! 1.36, errors included, so that what works here works on a cluster.
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::api::{Api, PostParams};
//! use local_cluster::{LocalCluster, LocalClusterOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cluster = LocalCluster::start(LocalClusterOptions::default()).await?;
//!
//! // In process, without a socket; requests are counted by client.
//! let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client_as("my-controller"));
//! let map = serde_json::from_value(serde_json::json!({
//!     "metadata": {"generateName": "settings-"}, "data": {"colour": "blue"},
//! }))?;
//! let created = maps.create(&PostParams::default(), &map).await?;
//! assert!(created.metadata.name.is_some_and(|name| name.starts_with("settings-")));
//! assert_eq!(cluster.requests().writes_by("my-controller"), 1);
//!
//! // Over TCP, for kubectl.
//! let server = cluster.serve("127.0.0.1:0".parse()?).await?;
//! assert!(server.kubeconfig().contains(&server.url()));
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # What is there
//!
//! * **Kinds**: namespaces, nodes, pods, services, config maps, secrets, service accounts, events
//!   (`v1` and `events.k8s.io/v1`, one storage), leases, configurations of admission webhooks,
//!   CustomResourceDefinitions, and the custom resources these define.
//! * **Reading**: get; list with selectors, `limit`/`continue` and exact versions; watch from any kept
//!   version, with bookmarks, streaming lists and `410 Expired`; tables, metadata only, YAML.
//! * **Writing**: create, update, JSON patch, merge patch, strategic merge patch (built-in kinds),
//!   server-side apply; delete with finalizers, grace and propagation, collections; dry runs; the
//!   status subresource; schemas of custom resources (types, required, enums, bounds, defaults,
//!   pruning).
//! * **Admission**: mutating and validating webhooks, called over HTTPS. A webhook behind a service is
//!   where [`LocalClusterOptions::service_addresses`] or [`LocalCluster::set_service_address`] says.
//! * **Agents**: a scheduler and kubelet for all nodes, the garbage collector, namespaces,
//!   definitions.
//!
//! # What is not there
//!
//! Deployments and every other kind (404); scale, binding, eviction, logs and exec
//! (404); protobuf but for the kinds that `kubectl create` writes in it (415); authentication,
//! authorisation, quotas: reviews name every user `system:admin`. Of webhooks: match conditions
//! (refused), reviews in `v1beta1`; what agents write is not reviewed. Of schemas: patterns, most
//! formats, `anyOf` and friends, CEL rules.
//! `metadata.managedFields` remembers those who apply, not those who update, so only the former
//! conflict. Pod specs can be changed freely; readiness gates are not waited for. A version of the
//! future is answered at once: 504 to a list, 410 to a watch, where a cluster would wait. Nothing
//! outlives the process.
//!
//! # How it is built
//!
//! `store` keeps objects and a log of changes per resource; an object is kept and serialised once,
//! however many watch it. `rules` decides what a write may do, `patch`, `schema` and `selector` are
//! its tools, `admission` asks webhooks, `writer` carries decisions out; none of them knows the API's
//! HTTP. `http` turns requests into calls and answers into bytes. `agents` are state machines fed by
//! the log.

mod addresses;
mod admission;
mod agents;
pub mod annotations;
mod client;
mod clock;
mod cluster;
mod error;
mod faults;
mod field_error;
mod http;
mod names;
mod object;
mod options;
mod patch;
mod requests;
mod resources;
mod rules;
mod schema;
mod seed;
mod selector;
mod server;
mod status;
mod store;
mod warnings;
mod writer;

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use http::fuzzing;

pub use client::InProcess;
pub use cluster::LocalCluster;
pub use error::Error;
pub use faults::{Fault, FaultGuard, Faults, Refusal, RequestFilter, Verb, WatchEnd};
pub use options::{LocalClusterOptions, NodeSpec};
pub use requests::{RequestCounts, RequestKey};
pub use server::{ConnectionLimits, ServeOptions, ServerHandle, Tls, Token};
