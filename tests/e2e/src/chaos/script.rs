//! A history as a script of kubectl commands, with its faults as comments.

use super::history::History;
use super::step::{Cascade, Fault, HistoryStep, Name, Target, UserAction};
use std::fmt;

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# seed {}", self.seed)?;
        if self.has_replicas {
            writeln!(f, "# two controllers with leader election")?;
        }
        if self.has_audits {
            writeln!(f, "# --audit-period 500ms")?;
        }
        for step in &self.steps {
            match step {
                HistoryStep::User(action) => writeln!(f, "{action}")?,
                HistoryStep::Fault(fault) => writeln!(f, "# {fault}")?,
                HistoryStep::Settle => writeln!(f, "# wait until nothing happens")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for UserAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(kind, object) => {
                let mut object = object.clone();
                object["kind"] = kind.name().into();
                object["apiVersion"] = kind.api_version().into();
                write!(f, "kubectl create -f - <<< '{object}'")
            }
            Self::Patch(target, patch) => {
                write!(f, "kubectl patch {target} --type merge -p '{patch}'")
            }
            Self::PatchStatus(target, status) => write!(
                f,
                "kubectl patch {target} --subresource status --type strategic -p '{{\"status\":{status}}}'"
            ),
            Self::Delete(target, cascade) => {
                let cascade = match cascade {
                    Cascade::Background => "background",
                    Cascade::Foreground => "foreground",
                    Cascade::Orphan => "orphan",
                };
                write!(
                    f,
                    "kubectl delete {target} --cascade={cascade} --wait=false"
                )
            }
            Self::RestoreRecord(number) => {
                write!(
                    f,
                    "# create backendrecord {number} of all that existed again"
                )
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.plural())?;
        match self.name {
            Name::Known(name) => write!(f, " {name}")?,
            Name::Record(number) => write!(f, " $RECORD_{number}")?,
        }
        if !self.namespace.is_empty() {
            write!(f, " -n {}", self.namespace)?;
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KillController => write!(f, "kill -9 the controller, and start it again"),
            Self::FailRequests(seed) => {
                write!(
                    f,
                    "restart the controller with failing requests (seed {seed})"
                )
            }
            Self::SlowApiServer => write!(f, "writes of records take 150 ms"),
            Self::PauseLeader => write!(
                f,
                "kill -STOP the leading controller, and wait until the other one leads"
            ),
            Self::ResumeController => write!(f, "kill -CONT the stopped controller"),
            Self::DriverDown => write!(f, "the driver goes down"),
            Self::DriverUp => write!(f, "the driver is right again"),
            Self::FailCalls(seed) => write!(f, "calls of the driver fail (seed {seed})"),
            Self::RestartApiServer => write!(f, "the API server restarts"),
            Self::ExpireWatches(seed) => write!(f, "watches end with 410 (seed {seed})"),
            Self::OverloadApiServer(seed) => write!(
                f,
                "requests of the controller get 409, 429, 500 or no response (seed {seed})"
            ),
            Self::BackUp => write!(f, "back up etcd"),
            Self::Restore => write!(f, "restore etcd from the backup"),
            Self::ClockJump(hours) => write!(f, "the controller's clock jumps by {hours} h"),
            Self::BindByHand(number) => write!(
                f,
                "register 198.51.100.{number}:80 at a load balancer of the cloud"
            ),
        }
    }
}
