//! An embedded Kubernetes API for demos and tests.
//!
//! A controller is only as good as what it was tried against. This crate is a Kubernetes API server
//! small enough to start in a test: an [`axum::Router`] over an in-memory store, with the agents of a
//! cluster that controllers notice. Pods are bound to nodes and become ready, Deployments roll out,
//! owned objects are collected, namespaces terminate, definitions are served. It answers in the words of Kubernetes
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
//! * **Documents**: discovery, plain and aggregated, with tags; OpenAPI v3 of every kind, custom ones
//!   included, so that `kubectl explain` and its patches know them; `/version` and health checks.
//! * **Kinds**: those of an API server in its stable groups, and the custom resources that
//!   CustomResourceDefinitions define. Reviews of access are answered: everybody may do everything.
//! * **Reading**: get; list with selectors, `limit`/`continue`, and the matches of
//!   `resourceVersion`; watch from any kept version, with bookmarks, streaming lists and `410 Expired`;
//!   tables, metadata only, YAML. A version of the future is waited for, 3 s by a list.
//! * **Writing**: create, update, JSON patch, merge patch, strategic merge patch (built-in kinds),
//!   server-side apply; `managedFields` of every client's write, and conflicts by them; delete with
//!   preconditions, finalizers, grace and propagation, collections; dry runs; what may be changed of
//!   pods, services, workloads, config maps and secrets. The subresources `status`, `scale`, `eviction`,
//!   `binding` and `finalize`.
//! * **Custom resources**: all keywords of structural schemas, formats, list types, defaults and
//!   pruning, CEL rules with transitions and ratcheting; definitions are checked themselves.
//! * **Admission**: mutating and validating webhooks, called over HTTPS. A webhook behind a service is
//!   where [`LocalClusterOptions::service_addresses`] or [`LocalCluster::set_service_address`] says.
//! * **Agents**: a scheduler and a kubelet for all nodes (or none: [`LocalClusterOptions::run_pods`]),
//!   with readiness gates and the [`annotations`] that make a pod unready or fail; Deployments,
//!   ReplicaSets, ReplicationControllers, StatefulSets, DaemonSets and Jobs; EndpointSlices; the garbage
//!   collector, namespaces, definitions.
//! * **Life**: in memory, or in a directory that outlives the process, killed or not
//!   ([`LocalClusterOptions::data_dir`]); over HTTP or HTTPS, with a bearer token on demand
//!   ([`LocalCluster::serve_with`]); faults on purpose ([`LocalCluster::faults`]).
//!
//! # What is not there
//!
//! * **Containers**: pods run none, so their logs are empty, and exec, attach, port-forward, proxies,
//!   `resize` and `ephemeralcontainers` end with an error that says so. They use neither volumes nor the
//!   resources of nodes. Tokens of service accounts are not issued.
//! * **Kept, and nobody acts on them**: CronJobs, autoscalers, Ingresses, network policies, disruption
//!   budgets (no eviction is refused), quotas and limits, volumes and storage, RBAC, priorities, devices,
//!   certificates, admission policies (with a warning), APIServices. `core/v1` Endpoints are not filled,
//!   there are no default service accounts, and workloads report no events.
//! * **Answered by 404**: everything in alpha or beta.
//! * **Users**: whoever has the token, or reaches the port where there is none, is `system:admin`.
//! * **Protobuf** is read of the kinds that `kubectl create` writes in it (415 for others); answers are
//!   JSON, YAML or, of reviews, protobuf. `/openapi/v2` names no types.
//! * **Webhooks**: match conditions (refused), reviews in `v1beta1`, conversion webhooks (refused). What
//!   agents write is not reviewed and has no manager.
//! * **CEL**: no estimate of what a rule costs, but a limit while it runs; no `sortBy`, `optMap` and loops
//!   over two variables.
//!
//! # How it is built
//!
//! `store` keeps objects and a log of changes per resource; an object is kept and serialised once,
//! however many watch it, and is on disk before anybody sees it where there is a data directory.
//! `rules` decides what a write may do, `patch`, `schema` and `selector` are its tools, `admission` asks
//! webhooks, `writer` carries decisions out; none of them knows the API's HTTP. `http` turns requests
//! into calls and answers into bytes, `faults` gets in between, `server` has the sockets. `agents` are
//! state machines fed by the log.

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

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use client::InProcess;
pub use cluster::LocalCluster;
pub use error::Error;
pub use faults::{Fault, FaultGuard, Faults, Refusal, RequestFilter, Verb, WatchEnd};
pub use options::{LocalClusterOptions, NodeSpec};
pub use requests::{RequestCounts, RequestKey};
pub use server::{ConnectionLimits, ServeOptions, ServerHandle, Tls, Token};
