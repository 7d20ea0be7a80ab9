//! How the controller takes turns with others.

use super::ControllerArgs;
use crate::go_duration;
use crate::leader::{InvalidLeaderElection, LeaderElection};
use clap::ArgAction;
use std::time::Duration;

/// Where the lease is kept outside of pods.
const NAMESPACE: &str = "kube-system";

/// How the controller takes turns with others.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Leader election")]
pub struct LeaderArgs {
    /// Work only while this is the leader of the cluster's controllers, so that there may be
    /// several
    #[arg(long, env = "LBCF_LEADER_ELECT", value_name = "BOOL", default_value_t = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub leader_elect: bool,

    /// Namespace of the lease `lbcf-controller` [default: the pod's, outside of pods kube-system]
    #[arg(long, env = "LBCF_LEADER_ELECT_NAMESPACE", value_name = "NAMESPACE")]
    pub leader_elect_namespace: Option<String>,

    /// Name of this process in the lease; something unique is added to it [default: the host's
    /// name]
    #[arg(long, env = "LBCF_LEADER_ELECT_IDENTITY", value_name = "NAME")]
    pub leader_elect_identity: Option<String>,

    /// How long the others wait for a sign of the leader's life before one of them takes over
    #[arg(long, env = "LBCF_LEADER_ELECT_LEASE_DURATION", value_name = "DURATION", default_value = "15s", value_parser = go_duration::parse)]
    pub leader_elect_lease_duration: Duration,

    /// How long the leader tries to renew its lease before it ends; less than the lease's duration
    #[arg(long, env = "LBCF_LEADER_ELECT_RENEW_DEADLINE", value_name = "DURATION", default_value = "10s", value_parser = go_duration::parse)]
    pub leader_elect_renew_deadline: Duration,

    /// How often the leader renews its lease and the others look at it; less than the deadline
    #[arg(long, env = "LBCF_LEADER_ELECT_RETRY_PERIOD", value_name = "DURATION", default_value = "2s", value_parser = go_duration::parse)]
    pub leader_elect_retry_period: Duration,
}

impl LeaderArgs {
    /// The election that these flags ask for; none for one that shall not take part, and none for
    /// one that shall write nothing (d23).
    pub(super) fn election(
        &self,
        args: &ControllerArgs,
    ) -> Result<Option<LeaderElection>, InvalidLeaderElection> {
        if !self.leader_elect || args.work.dry_run {
            return Ok(None);
        }
        let namespace = self
            .leader_elect_namespace
            .clone()
            .or_else(|| args.cluster.pod_namespace())
            .unwrap_or_else(|| NAMESPACE.to_owned());
        let election = LeaderElection {
            lease_duration: self.leader_elect_lease_duration,
            renew_deadline: self.leader_elect_renew_deadline,
            retry_period: self.leader_elect_retry_period,
            ..LeaderElection::new(namespace, self.identity())
        };
        election.check()?;
        Ok(Some(election))
    }

    fn identity(&self) -> String {
        let name = self.leader_elect_identity.clone().unwrap_or_else(|| {
            hostname::get()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default()
        });
        // A name that a restarted or a second process shared would be taken for its own.
        format!("{name}_{}", uuid::Uuid::new_v4())
    }
}
