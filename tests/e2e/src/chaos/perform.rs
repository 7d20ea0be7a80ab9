//! Performing a step.

use super::api_faults::ApiFaults;
use super::cloud::{CloudHistory, declaring};
use super::controllers::Controllers;
use super::history::History;
use super::kind::Kind;
use super::records::{self, Backup};
use super::shop::URL;
use super::step::{Cascade, Fault, HistoryStep, Name, Target, UserAction};
use crate::World;
use crate::proxy::{DriverProxy, ProxiedCall, ProxyAction};
use crate::seed::scrambled;
use http::StatusCode;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, PropagationPolicy};
use serde_json::Value;

/// A world with controllers that can be killed or paused, and a driver that can fail.
pub(super) struct Environment {
    pub(super) world: World,
    pub(super) proxy: DriverProxy,
    pub(super) cloud: CloudHistory,
    controllers: Controllers,
    api_faults: ApiFaults,
    backup: Backup,
    /// Whether the cluster can be restored.
    is_backed_up: bool,
    /// Whether events are lost: a restored cluster has those of the backup, and controllers report what
    /// lasts again after an hour.
    pub(super) has_lost_events: bool,
    /// How many calls there were when the cluster was restored last.
    calls_before_restore: usize,
}

impl Environment {
    pub(super) async fn new(history: &History) -> Self {
        let mut world = match history.is_stored {
            true => World::stored_with_admission().await,
            false => World::new().await,
        };
        let proxy = world.start_proxy().await;
        let controllers = Controllers::start(&world, history).await;
        Self {
            world,
            proxy,
            cloud: CloudHistory::default(),
            controllers,
            api_faults: ApiFaults::default(),
            backup: Backup::default(),
            is_backed_up: false,
            has_lost_events: false,
            calls_before_restore: 0,
        }
    }

    /// The calls since the cluster was restored: what was deregistered before may exist again.
    pub(super) fn calls(&self) -> Vec<ProxiedCall> {
        self.proxy.calls().split_off(self.calls_before_restore)
    }

    /// What the controllers do, for a finding.
    pub(super) fn describe(&self) -> String {
        self.controllers.describe()
    }

    /// Replaces controllers that lost their lease. Returns why another one ended by itself.
    pub(super) async fn replace_ended(&mut self) -> Option<String> {
        self.controllers.replace_ended(&self.world).await
    }

    /// Performs a step other than [`HistoryStep::Settle`].
    pub(super) async fn perform(&mut self, step: &HistoryStep) {
        match step {
            HistoryStep::User(action) => {
                self.backup.update(&self.world.client()).await;
                self.user(action).await;
            }
            HistoryStep::Fault(fault) => self.fault(*fault).await,
            HistoryStep::Settle => {}
        }
    }

    /// Ends all faults; what they did remains.
    pub(super) async fn heal(&mut self) {
        self.proxy.forward_all();
        self.api_faults.end().await;
        self.controllers.heal(&self.world).await;
    }

    async fn fault(&mut self, fault: Fault) {
        self.has_lost_events |= matches!(fault, Fault::Restore);
        let (controllers, world) = (&mut self.controllers, &self.world);
        match fault {
            Fault::RestartApiServer => self.api_faults.restart(world),
            Fault::ExpireWatches(seed) => self.api_faults.expire_watches(world, seed),
            Fault::OverloadApiServer(seed) => self.api_faults.overload(world, seed),
            Fault::BackUp => {
                self.world.back_up().await;
                self.is_backed_up = true;
            }
            Fault::Restore if self.is_backed_up => self.restore().await,
            // The step that backs up was left out.
            Fault::Restore => {}
            Fault::ClockJump(hours) => controllers.shift_wall_clock(hours),
            Fault::BindByHand(number) => self.cloud.bind_by_hand(world, number),
            Fault::KillController => controllers.kill(world).await,
            Fault::FailRequests(seed) => {
                controllers.restart_with_failing_requests(world, seed).await;
            }
            Fault::SlowApiServer => self.api_faults.slow_down(world),
            Fault::PauseLeader => {
                let slow = self.api_faults.until_late().await;
                controllers.pause_leader(world).await;
                drop(slow);
            }
            Fault::ResumeController => controllers.resume(),
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

    /// Restores the cluster as its operators do: a controller without leader election, and what serves
    /// admission, is started again; replicas go on.
    ///
    /// Of what the cluster has forgotten, load balancers stay in the cloud ([`CloudHistory::left_over`]).
    /// Their backends and those of forgotten records have recordIDs, so that audits remove them, because
    /// the load balancers are annotated for that (d53): without the annotation only a process that knew
    /// the records could prove that they are this cluster's. What was deregistered since is registered
    /// again by the new controller, which ensures everything once (d56).
    async fn restore(&mut self) {
        let before = declaring(&self.world.client()).await;
        self.controllers.stop_single().await;
        self.world.restore(|| {}).await;
        self.world.restart_standby().await;
        let after = declaring(&self.world.client()).await;
        self.cloud.forget(before, &after);
        self.calls_before_restore = self.proxy.count();
        self.controllers.start_single_ensuring(&self.world);
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
                let mut patch = patch.clone();
                if target.kind == Kind::Bind {
                    // It may select nodes, as a new one does.
                    self.world.cluster.adapt(target.kind.name(), &mut patch);
                }
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
        self.world.cluster.adapt(kind.name(), &mut object);
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
