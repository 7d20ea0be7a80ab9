//! Performing a step.

use super::history::URL;
use super::kind::Kind;
use super::records::{self, Backup};
use super::step::{Cascade, Fault, HistoryStep, Name, Target, UserAction};
use crate::proxy::{DriverProxy, ProxyAction};
use crate::seed::scrambled;
use crate::{World, faulty};
use http::StatusCode;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, PropagationPolicy};
use lbcf_controller::Options;
use serde_json::Value;
use std::time::Duration;
use tokio::task::JoinHandle;

/// A world with a controller that can be killed, and a driver that can fail.
pub(super) struct Environment {
    pub(super) world: World,
    pub(super) proxy: DriverProxy,
    controller: JoinHandle<()>,
    backup: Backup,
}

impl Environment {
    pub(super) async fn new() -> Self {
        let mut world = World::new().await;
        let proxy = world.start_proxy().await;
        let controller = start_controller(&world);
        let backup = Backup::default();
        Self {
            world,
            proxy,
            controller,
            backup,
        }
    }

    /// Whether the controller ended by itself.
    pub(super) fn is_controller_dead(&self) -> bool {
        self.controller.is_finished()
    }

    /// Performs a step other than [`HistoryStep::Settle`].
    pub(super) async fn perform(&mut self, step: &HistoryStep) {
        match step {
            HistoryStep::User(action) => {
                self.backup.update(&self.world.client()).await;
                self.user(action).await;
            }
            HistoryStep::Fault(fault) => self.fault(*fault),
            HistoryStep::Settle => {}
        }
    }

    /// Ends all faults; what they did remains.
    pub(super) fn heal(&mut self) {
        self.proxy.forward_all();
        self.fault(Fault::KillController);
    }

    fn fault(&mut self, fault: Fault) {
        match fault {
            Fault::KillController => {
                self.controller.abort();
                self.controller = start_controller(&self.world);
            }
            Fault::FailRequests(seed) => {
                self.controller.abort();
                let (client, _) = faulty(&self.world.cluster, seed);
                self.controller = self.world.start_controller_with(client, options());
            }
            Fault::DriverUp => self.proxy.forward_all(),
            Fault::DriverDown => self
                .proxy
                .rule(|_| ProxyAction::Reply(StatusCode::SERVICE_UNAVAILABLE, "down".to_owned())),
            Fault::FailCalls(seed) => {
                self.proxy
                    .rule(move |call| match scrambled(seed, call.number as u64) % 12 {
                        0 => ProxyAction::Reply(StatusCode::BAD_GATEWAY, "none".to_owned()),
                        1 => ProxyAction::Reply(
                            StatusCode::OK,
                            r#"{"status":"Fail","msg":"not today","succ":false}"#.to_owned(),
                        ),
                        2 => ProxyAction::ForwardThenReply(
                            StatusCode::GATEWAY_TIMEOUT,
                            "late".to_owned(),
                        ),
                        3 => ProxyAction::ForwardThenHang,
                        _ => ProxyAction::Forward,
                    });
            }
        }
    }

    async fn user(&self, action: &UserAction) {
        let client = self.world.client();
        let result = match action {
            UserAction::Create(kind, object) => {
                let created = self.create(*kind, object).await;
                created.map(drop)
            }
            UserAction::RestoreRecord(number) => match self.backup.nth(*number) {
                Some(record) => self.create(Kind::Record, record).await.map(drop),
                None => Ok(()),
            },
            UserAction::Patch(target, patch) => {
                let Some(name) = self.name(target).await else {
                    return;
                };
                let api = target.kind.api(&client, &target.namespace);
                let patch = Patch::Merge(patch);
                let patched = api.patch(&name, &PatchParams::default(), &patch).await;
                patched.map(drop)
            }
            UserAction::PatchStatus(target, status) => {
                let Some(name) = self.name(target).await else {
                    return;
                };
                let api = target.kind.api(&client, &target.namespace);
                // Strategic: the other conditions stay.
                let patch = Patch::Strategic(serde_json::json!({"status": status}));
                let params = PatchParams::default();
                api.patch_status(&name, &params, &patch).await.map(drop)
            }
            UserAction::Delete(target, cascade) => {
                let Some(name) = self.name(target).await else {
                    return;
                };
                let api = target.kind.api(&client, &target.namespace);
                let params = DeleteParams {
                    propagation_policy: Some(match cascade {
                        Cascade::Background => PropagationPolicy::Background,
                        Cascade::Foreground => PropagationPolicy::Foreground,
                        Cascade::Orphan => PropagationPolicy::Orphan,
                    }),
                    ..DeleteParams::default()
                };
                api.delete(&name, &params).await.map(drop)
            }
        };
        match result {
            Ok(()) => {}
            // The user reads why it was refused.
            Err(kube::Error::Api(_)) => {}
            Err(error) => panic!("{action:?}: {error}"),
        }
    }

    async fn create(&self, kind: Kind, object: &Value) -> Result<DynamicObject, kube::Error> {
        let mut object = object.clone();
        if object["spec"]["url"] == URL {
            object["spec"]["url"] = self.world.driver_url().into();
        }
        object["kind"] = kind.name().into();
        object["apiVersion"] = kind.api_version().into();
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
        let api = kind.api(&self.world.client(), namespace);
        let object: DynamicObject =
            serde_json::from_value(object).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        api.create(&PostParams::default(), &object).await
    }

    async fn name(&self, target: &Target) -> Option<String> {
        match target.name {
            Name::Known(name) => Some(name.to_owned()),
            Name::Record(number) => {
                let records = records::list(&self.world.client()).await;
                let record = records.get(number % records.len().max(1))?;
                record.metadata.name.clone()
            }
        }
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        self.controller.abort();
    }
}

fn start_controller(world: &World) -> JoinHandle<()> {
    let client = world.cluster.client_as("lbcf-controller");
    world.start_controller_with(client, options())
}

/// Records without an owner wait for less time than everything has to be at rest, and so does what is
/// reported only if it lasts long.
fn options() -> Options {
    Options {
        orphan_grace_period: Duration::from_millis(200),
        long_wait: Duration::from_millis(200),
        ..World::quick()
    }
}
