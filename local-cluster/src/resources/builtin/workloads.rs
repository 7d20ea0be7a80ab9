//! What keeps pods running: the groups `apps`, `batch`, `autoscaling` and `policy`.

use k8s_openapi::api::{
    apps::v1 as apps, autoscaling::v1 as autoscaling_v1, autoscaling::v2 as autoscaling,
    batch::v1 as batch, policy::v1 as policy,
};

use super::Trait::{Generation, Status, Versioned};
use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row::<apps::ControllerRevision>(&[]),
    row::<apps::DaemonSet>(&[Status, Generation])
        .short(&["ds"])
        .category("all"),
    row::<apps::Deployment>(&[Status, Generation])
        .short(&["deploy"])
        .category("all"),
    row::<apps::ReplicaSet>(&[Status, Generation])
        .short(&["rs"])
        .category("all"),
    row::<apps::StatefulSet>(&[Status, Generation])
        .short(&["sts"])
        .category("all"),
    row::<autoscaling::HorizontalPodAutoscaler>(&[Status])
        .short(&["hpa"])
        .category("all"),
    row::<autoscaling_v1::HorizontalPodAutoscaler>(&[Status])
        .short(&["hpa"])
        .category("all"),
    row::<batch::CronJob>(&[Status, Generation])
        .short(&["cj"])
        .category("all"),
    row::<batch::Job>(&[Status, Generation]).category("all"),
    row::<policy::PodDisruptionBudget>(&[Status, Generation, Versioned]).short(&["pdb"]),
];
