use super::cluster::ClusterArgs;
use crate::api::names;
use crate::process::leader::{InvalidLeaderElection, LeaderElection};
use clap::ArgAction;
use lbcf_serving::duration;
use std::time::Duration;

/// Flags of leader election.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Leader election", mut_args = lbcf_serving::flags::variables("LBCF_"))]
pub struct LeaderArgs {
    /// Reconcile only while this process is the leader, so that several replicas can run
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub leader_elect: bool,

    /// Namespace of the lease `lbcf-controller`, and of the secret `lbcf-controller-records`, whose key signs the
    /// records that the controller creates [default: the pod's, or kube-system outside of a pod]
    #[arg(long, value_name = "NAMESPACE")]
    pub leader_elect_namespace: Option<String>,

    /// Name of this process in the lease; a unique suffix is added [default: the host name]
    #[arg(long, value_name = "NAME")]
    pub leader_elect_identity: Option<String>,

    /// Time after the last renewal after which another replica takes over
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = duration::parse)]
    pub leader_elect_lease_duration: Duration,

    /// Time for which the leader tries to renew the lease before it stops; less than the lease duration
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::parse)]
    pub leader_elect_renew_deadline: Duration,

    /// Period in which the leader renews the lease and the others read it; less than the renew deadline
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = duration::parse)]
    pub leader_elect_retry_period: Duration,
}

impl LeaderArgs {
    /// The election, or `None` where it is off and in a dry run, which writes nothing.
    pub(super) fn election(
        &self,
        cluster: &ClusterArgs,
        dry_run: bool,
    ) -> Result<Option<LeaderElection>, InvalidLeaderElection> {
        if !self.leader_elect || dry_run {
            return Ok(None);
        }
        let namespace = self.namespace(cluster);
        let election = LeaderElection {
            lease_duration: self.leader_elect_lease_duration,
            renew_deadline: self.leader_elect_renew_deadline,
            retry_period: self.leader_elect_retry_period,
            ..LeaderElection::new(namespace, self.identity())
        };
        election.check()?;
        Ok(Some(election))
    }

    /// The namespace of the lease, and of the key that signs BackendRecords.
    pub(super) fn namespace(&self, cluster: &ClusterArgs) -> String {
        let namespace = self.leader_elect_namespace.clone();
        namespace
            .or_else(|| cluster.pod_namespace())
            .unwrap_or_else(|| names::SYSTEM_NAMESPACE.to_owned())
    }

    fn identity(&self) -> String {
        let name = self.leader_elect_identity.clone().unwrap_or_else(|| {
            hostname::get()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default()
        });
        // A process would take a Lease for its own that another process with the same name holds.
        format!("{name}_{}", uuid::Uuid::new_v4())
    }
}
