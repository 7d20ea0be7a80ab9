//! What people do to workloads.

use local_cluster::LocalCluster;

use super::{Kubectl, is_installed, write};
use crate::fixture::quick;

const SETS: &str = "
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: 'db:1'}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: 'agent:1'}]}
";

#[tokio::test]
async fn kubectl_rolls_workloads_out_and_back() {
    if !is_installed().await {
        return;
    }
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let home = std::env::temp_dir().join(format!("local-cluster-{}", server.addr().port()));
    std::fs::create_dir_all(&home).unwrap();
    write(&home.join("kubeconfig"), server.kubeconfig());
    write(&home.join("sets.yaml"), SETS);
    let kubectl = Kubectl { home };
    let says = async |command: &str, wanted: &str| {
        let arguments: Vec<&str> = command.split(' ').collect();
        kubectl.says(&arguments, wanted).await;
    };

    says(
        "create deployment web --image=nginx:1 --replicas=3",
        "created",
    )
    .await;
    let status = "rollout status deployment/web --timeout=9s";
    says(status, "successfully rolled out").await;
    says("get deployment web", "3/3     3            3").await;
    says("expose deployment web --port=80", "service/web exposed").await;
    says("wait --for=jsonpath={.endpoints[2].conditions.ready}=true endpointslice -l kubernetes.io/service-name=web --timeout=9s", "condition met").await;
    says("set image deployment/web nginx=nginx:2", "image updated").await;
    says(status, "successfully rolled out").await;
    says("rollout restart deployment/web", "restarted").await;
    says(status, "successfully rolled out").await;
    says(
        "rollout history deployment/web",
        "1         <none>\n2         <none>\n3         <none>",
    )
    .await;
    says("rollout undo deployment/web --to-revision=1", "rolled back").await;
    says(status, "successfully rolled out").await;
    says(
        "rollout history deployment/web",
        "REVISION  CHANGE-CAUSE\n2         <none>\n3         <none>\n4         <none>",
    )
    .await;
    says("get deployment web -o jsonpath={..image}", "nginx:1").await;
    says("rollout pause deployment/web", "paused").await;
    kubectl
        .refuses(
            &["rollout", "restart", "deployment/web"],
            "can't restart paused deployment",
        )
        .await;
    says("rollout resume deployment/web", "resumed").await;
    says(
        "delete deployment web --cascade=foreground --wait",
        "deleted",
    )
    .await;
    says("get replicasets,pods", "No resources found").await;

    says("apply -f sets.yaml", "daemonset.apps/agent created").await;
    for set in ["sts/db", "ds/agent"] {
        let status = format!("rollout status {set} --timeout=9s");
        let done = if set == "sts/db" {
            "roll out complete"
        } else {
            "successfully rolled out"
        };
        says(&status, done).await;
        says(&format!("set image {set} c=new:2"), "image updated").await;
        says(&status, done).await;
        says(&format!("rollout undo {set}"), "rolled back").await;
        says(&status, done).await;
        says(
            &format!("rollout history {set}"),
            "2         <none>\n3         <none>",
        )
        .await;
    }
    says("apply -f sets.yaml", "statefulset.apps/db unchanged").await;
    says("get controllerrevisions", "statefulset.apps/db").await;
    says("delete -f sets.yaml --cascade=foreground --wait", "deleted").await;
    says("get controllerrevisions,pods", "No resources found").await;

    says("create job sum --image=busybox", "created").await;
    says(
        "wait --for=condition=complete job/sum --timeout=9s",
        "condition met",
    )
    .await;
    says("get job sum", "Complete   1/1").await;
    std::fs::remove_dir_all(&kubectl.home).unwrap();
    server.shutdown().await;
}
