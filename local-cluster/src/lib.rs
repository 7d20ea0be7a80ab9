//! An embedded Kubernetes API for demos and tests.
//!
//! This crate is a Kubernetes API server that is small enough to start in a test of a controller: an
//! [`axum::Router`] over an in-memory store, with the controllers of a cluster that others rely on. Pods are
//! scheduled and become ready, Deployments roll out, dependents are garbage-collected, namespaces terminate,
//! CustomResourceDefinitions are served. Its responses are those of Kubernetes 1.36, error messages included,
//! so that what works here works on a cluster.
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
//! // An in-process client without a socket; requests are counted by client.
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
//! # What is supported
//!
//! * **Documents**: discovery, plain and aggregated, with ETags; OpenAPI v3 of every kind, custom ones
//!   included, with the operations that `kubectl explain` and kubectl's patches read; `/version` and health checks.
//! * **Kinds**: those of an API server in its stable groups, and custom resources. Access reviews allow
//!   everything.
//! * **Reads**: get; list with selectors, `limit`/`continue`, and `resourceVersionMatch`; watch from any
//!   cached version, with bookmarks, streaming lists and `410 Expired`; tables, metadata only, YAML. A request
//!   for a future version waits for it, a list for up to 3 s.
//! * **Writes**: create, update, JSON patch, merge patch, strategic merge patch (built-in kinds),
//!   server-side apply; `managedFields` of every client's writes, and their conflicts; delete with
//!   preconditions, finalizers, grace period and propagation policy; delete collection; dry runs; immutable
//!   fields of pods, services, EndpointSlices, workloads, config maps and secrets. The subresources `status`, `scale`,
//!   `eviction` and `finalize`.
//! * **Custom resources**: all keywords of structural schemas, formats, list types, defaults and
//!   pruning, CEL rules with transition rules and ratcheting. Definitions must be structural, with rules that
//!   compile and are estimated to be cheap enough, but not all messages are those of a cluster.
//! * **Admission**: mutating and validating webhooks over HTTPS. The address of a webhook behind a service
//!   is set by [`LocalClusterOptions::service_addresses`] or [`LocalCluster::set_service_address`].
//! * **Controllers**: a scheduler and a kubelet for all nodes (optional: [`LocalClusterOptions::run_pods`]),
//!   with readiness gates and the [`annotations`] that make a pod unready or fail, or give it an address; Deployments,
//!   ReplicaSets, StatefulSets and DaemonSets; EndpointSlices; the garbage collector, namespaces,
//!   CustomResourceDefinitions. Without them ([`LocalClusterOptions::run_controllers`]) it is an API server alone.
//! * **Operation**: in memory, or in a directory that survives the process
//!   ([`LocalClusterOptions::data_dir`]); over HTTP or HTTPS, optionally with a bearer token
//!   ([`LocalCluster::serve_with`]); fault injection ([`LocalCluster::faults`]).
//!
//! # What is not supported
//!
//! * **Containers**: pods run none, but may answer HTTP ([`LocalClusterOptions::pod_traffic`]), so their logs are empty, and exec, attach, port-forward, proxies,
//!   `resize` and `ephemeralcontainers` return an error. Pods use neither volumes nor the resources of nodes.
//!   Service account tokens are not issued.
//! * **Stored without a controller**: Jobs, CronJobs, ReplicationControllers, autoscalers, Ingresses, network policies, disruption
//!   budgets (no eviction is rejected), quotas and limits, volumes and storage, RBAC, priorities, devices,
//!   certificates, admission policies (with a warning), APIServices. There are no `core/v1` Endpoints, no
//!   default service accounts, and no events of workloads. `kubectl get` shows few columns of these kinds.
//! * **Workloads**: StatefulSets and DaemonSets keep no ControllerRevisions, so `kubectl rollout undo` works for
//!   Deployments only, which are not scaled in proportion during a rollout. Containers that fail do not run again. Clients
//!   cannot bind pods.
//! * **Values of built-in kinds** are checked as far as they are names, ports, addresses or immutable; others may be
//!   anything of their type.
//! * **Without admission**: what the cluster's own controllers write, such as the pods of a Deployment, is
//!   sent to no webhook.
//! * **404**: all alpha and beta APIs.
//! * **Users**: every client, with the token if there is one, is `system:admin`.
//! * **Protobuf** responses: typed Go clients send protobuf and accept JSON, too. `/openapi/v2` has no types.
//! * **Webhooks**: match conditions and conversion webhooks (both rejected), reviews in `v1beta1`. Writes of
//!   controllers are not reviewed and have no field manager.
//! * **CEL**: no `sortBy`, `optMap` and loops over two variables. Rules that a cluster refuses as too expensive are accepted;
//!   at run time, loops are limited instead of costs.
//! * **Formats** without a check: numbers of cards, books and persons, colours, e-mail and MAC addresses.
//!
//! # Modules
//!
//! `store` keeps the objects and a watch cache for each resource; an object is stored and serialised once for
//! any number of watches and, with a data directory, is on disk before it is visible. `rules` decides about
//! writes with the help of `patch`, `schema` and `selector`, `admission` calls webhooks, and `writer` performs
//! the writes; none of them depends on HTTP. `http` decodes requests and encodes responses, `faults` injects
//! faults, `server` listens. `controllers` follow the watch cache.

mod addresses;
mod admission;
pub mod annotations;
mod clock;
mod cluster;
mod conditions;
mod controllers;
mod error;
mod faults;
mod field_error;
mod http;
mod import;
mod messages;
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
#[cfg(test)]
mod tests;
mod warnings;
mod writer;

pub use self::cluster::{InProcess, LocalCluster};
pub use self::error::Error;
pub use self::faults::{ErrorResponse, Fault, FaultGuard, Faults, RequestFilter, Verb, WatchEnd};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use self::http::fuzzing;
pub use self::options::{LocalClusterOptions, NodeSpec};
pub use self::requests::{RequestCounts, RequestKey};
pub use self::server::{ServeOptions, ServerHandle, Tls, Token};
pub use lbcf_serving::listener::Limits;

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
