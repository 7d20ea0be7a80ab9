//! kubectl commands for workloads.

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
    let prints = async |command: &str, expected: &str| {
        let arguments: Vec<&str> = command.split(' ').collect();
        kubectl.prints(&arguments, expected).await;
    };

    prints(
        "create deployment web --image=nginx:1 --replicas=3",
        "created",
    )
    .await;
    let status = "rollout status deployment/web --timeout=9s";
    prints(status, "successfully rolled out").await;
    prints("get deployment web", "3/3     3            3").await;
    prints("expose deployment web --port=80", "service/web exposed").await;
    prints("wait --for=jsonpath={.endpoints[2].conditions.ready}=true endpointslice -l kubernetes.io/service-name=web --timeout=9s", "condition met").await;
    prints("set image deployment/web nginx=nginx:2", "image updated").await;
    prints(status, "successfully rolled out").await;
    prints("rollout restart deployment/web", "restarted").await;
    prints(status, "successfully rolled out").await;
    prints(
        "rollout history deployment/web",
        "1         <none>\n2         <none>\n3         <none>",
    )
    .await;
    prints("rollout undo deployment/web --to-revision=1", "rolled back").await;
    prints(status, "successfully rolled out").await;
    prints(
        "rollout history deployment/web",
        "REVISION  CHANGE-CAUSE\n2         <none>\n3         <none>\n4         <none>",
    )
    .await;
    prints("get deployment web -o jsonpath={..image}", "nginx:1").await;
    prints("rollout pause deployment/web", "paused").await;
    kubectl
        .fails_with(
            &["rollout", "restart", "deployment/web"],
            "can't restart paused deployment",
        )
        .await;
    prints("rollout resume deployment/web", "resumed").await;
    prints(
        "delete deployment web --cascade=foreground --wait",
        "deleted",
    )
    .await;
    prints("get replicasets,pods", "No resources found").await;

    prints("apply -f sets.yaml", "daemonset.apps/agent created").await;
    for set in ["sts/db", "ds/agent"] {
        let status = format!("rollout status {set} --timeout=9s");
        let done = if set == "sts/db" {
            "roll out complete"
        } else {
            "successfully rolled out"
        };
        prints(&status, done).await;
        prints(&format!("set image {set} c=new:2"), "image updated").await;
        prints(&status, done).await;
        prints(&format!("rollout restart {set}"), "restarted").await;
        prints(&status, done).await;
        prints(&format!("describe {set}"), "Pods Status:").await;
    }
    prints("scale sts/db --replicas=1", "scaled").await;
    prints("rollout status sts/db --timeout=9s", "roll out complete").await;
    prints("get sts,ds", "1/1").await;
    prints("delete -f sets.yaml --cascade=foreground --wait", "deleted").await;
    prints("get sts,ds,pods", "No resources found").await;
    std::fs::remove_dir_all(&kubectl.home).unwrap();
    server.shutdown().await;
}
