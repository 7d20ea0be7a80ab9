//! Less common kubectl commands.

use local_cluster::{LocalCluster, ServerHandle};
use serde_json::json;

use super::{Kubectl, is_installed, output_of, write};
use crate::fixture::{eventually, quick};
use crate::tables::rows;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {app: web}}\nspec:\n  containers:\n  - {name: c, image: nginx, ports: [{containerPort: 80}], env: [{name: A, value: \"1\"}]}\n  - {name: d, image: busybox}\n";

/// The pod as a template that creates no pods.
fn template(pod: &str) -> String {
    let spec = pod.split_once("spec:").unwrap().1.replace("\n", "\n  ");
    format!("apiVersion: v1\nkind: PodTemplate\nmetadata: {{name: web}}\ntemplate:\n  spec:{spec}")
}

/// A cluster with the pod `web`, and kubectl.
async fn with_pod() -> Option<(LocalCluster, ServerHandle, Kubectl)> {
    if !is_installed().await {
        return None;
    }
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let kubectl = Kubectl::of(&server);
    write(&kubectl.home.join("pod.yaml"), POD);
    let created = kubectl.prints(&["apply", "-f", "pod.yaml"], "pod/web created");
    created.await;
    let ready = ["wait", "--for=condition=Ready", "pod/web", "--timeout=5s"];
    kubectl.prints(&ready, "condition met").await;
    Some((cluster, server, kubectl))
}

#[tokio::test]
async fn fields_are_explained() {
    let Some((_cluster, server, kubectl)) = with_pod().await else {
        return;
    };
    let table = r"
        pod.spec.containers | image\t<string>
        pod.spec.containers.env.valueFrom | <ConfigMapKeySelector>
        deployment.spec | replicas\t<integer>
        service.spec.ports.targetPort | <IntOrString>
        hpa.spec | maxReplicas\t<integer> -required-
        endpointslice | addressType\t<string> -required-
        ingress.spec.rules.http | paths\t<[]HTTPIngressPath> -required-
        crd.spec.versions | served\t<boolean> -required-
    ";
    for [what, expected] in rows(&table.replace("\\t", "\t")) {
        kubectl.prints(&["explain", what], expected).await;
    }
    let all = ["explain", "deployment", "--recursive"];
    kubectl
        .prints(&all, "containerPort\t<integer> -required-")
        .await;
    let unknown = ["explain", "pod.spec.nope"];
    kubectl
        .fails_with(&unknown, "field \"nope\" does not exist")
        .await;
    kubectl.end();
    server.shutdown().await;
}

#[tokio::test]
async fn a_pod_is_shown_and_changed() {
    let Some((_cluster, server, kubectl)) = with_pod().await else {
        return;
    };
    let table = r"
        get all | pod/web   2/2     Running
        get pods -o custom-columns=N:.metadata.name | N\nweb\n
        get pod web -o jsonpath={.spec.containers[*].image} | nginx busybox
        get pods -o name | pod/web
        get pods --show-labels | app=web
        get pods -L app | APP
        get pods --sort-by=.metadata.name | web
        get nodes -o wide | INTERNAL-IP
        describe node node-1 | default                     web
        describe svc kubernetes | 10.96.0.1
        label pod web a=b | labeled
        label pod web a- | unlabeled
        annotate pod web x=y | annotated
        set image pod/web d=busybox:2 | image updated
        expose pod web --port=80 | service/web exposed
        wait --for=jsonpath={.status.phase}=Running pod/web | condition met
        api-versions | apps/v1
        api-resources --verbs=list -o name | deployments.apps
        cluster-info | control plane
        get --raw /livez/ping | ok
        get --raw /readyz?verbose&exclude=etcd | [+]etcd excluded: ok\n
        version | Server Version: v1.36.2
    ";
    for [command, expected] in rows(table) {
        let command = Vec::from_iter(command.split(' '));
        let expected = expected.replace("\\n", "\n");
        kubectl.prints(&command, &expected).await;
    }
    let mut edit = kubectl.command(&["edit", "pod", "web"]);
    edit.env("EDITOR", "sed -i s/app:.web/app:\\ site/");
    let (success, output) = output_of(edit).await;
    assert!(success && output.contains("pod/web edited"), "{output}");
    kubectl
        .prints(&["get", "pods", "-l", "app=site"], "web")
        .await;
    let delete = ["delete", "pods", "--all", "--cascade=background"];
    kubectl.prints(&delete, "pod \"web\" deleted").await;
    let deleted = ["wait", "--for=delete", "pod/web", "--timeout=5s"];
    assert!(kubectl.run(&deleted).await.0);
    kubectl.end();
    server.shutdown().await;
}

#[tokio::test]
async fn lists_are_merged_by_their_keys() {
    let Some((_cluster, server, kubectl)) = with_pod().await else {
        return;
    };
    // Pod specs are immutable; those of templates are not.
    write(&kubectl.home.join("web.yaml"), template(POD));
    kubectl
        .prints(&["apply", "-f", "web.yaml"], "podtemplate/web created")
        .await;
    // Another client adds a variable; applying again changes the other one only.
    let add = json!({"template": {"spec": {"containers": [{"name": "c", "env": [{"name": "B", "value": "2"}]}]}}});
    let patch = ["patch", "podtemplate", "web", "-p", &add.to_string()];
    kubectl.prints(&patch, "patched").await;
    let changed = template(&POD.replace("value: \"1\"", "value: \"3\""));
    write(&kubectl.home.join("pod2.yaml"), changed);
    let (differs, output) = kubectl.run(&["diff", "-f", "pod2.yaml"]).await;
    assert!(!differs && output.contains("value: \"3\"\n"), "{output}");
    kubectl
        .prints(&["apply", "-f", "pod2.yaml"], "configured")
        .await;
    let path =
        "jsonpath={.template.spec.containers[0].env[*].value} {.template.spec.containers[*].name}";
    let (_, values) = kubectl
        .run(&["get", "podtemplate", "web", "-o", path])
        .await;
    let mut values: Vec<&str> = values.split_whitespace().collect();
    values.sort_unstable();
    assert_eq!(values, ["2", "3", "c", "d"]);
    kubectl.prints(&["diff", "-f", "pod2.yaml"], "").await;
    let wrong = POD.replace("image: nginx", "imagee: nginx");
    write(
        &kubectl.home.join("wrong.yaml"),
        wrong.replace("name: web", "name: wrong"),
    );
    let create = ["create", "-f", "wrong.yaml"];
    kubectl
        .fails_with(&create, "unknown field \"spec.containers[0].imagee\"")
        .await;
    kubectl.end();
    server.shutdown().await;
}

#[tokio::test]
async fn nodes_are_drained() {
    let Some((_cluster, server, kubectl)) = with_pod().await else {
        return;
    };
    for (command, expected) in [
        (&["cordon", "node-1"][..], "node/node-1 cordoned"),
        (&["get", "nodes"], "Ready,SchedulingDisabled"),
        (&["uncordon", "node-1"], "uncordoned"),
        (&["taint", "nodes", "node-1", "k=v:NoSchedule"], "tainted"),
        (&["taint", "nodes", "node-1", "k-"], "untainted"),
    ] {
        kubectl.prints(command, expected).await;
    }
    for node in ["node-1", "node-2"] {
        let drain = ["drain", node, "--force", "--timeout=8s"];
        kubectl.prints(&drain, "drained").await;
    }
    let deleted = || async {
        let (_, output) = kubectl.run(&["get", "pods"]).await;
        output.contains("No resources found").then_some(())
    };
    eventually("the pod has gone", deleted).await;
    kubectl.end();
    server.shutdown().await;
}

#[tokio::test]
async fn everything_is_allowed() {
    let Some((_cluster, server, kubectl)) = with_pod().await else {
        return;
    };
    for (command, expected) in [
        (&["auth", "can-i", "create", "pods"][..], "yes"),
        (&["auth", "can-i", "get", "/healthz"], "yes"),
        (&["auth", "can-i", "--list"], "*.*"),
        (&["auth", "whoami"], "system:admin"),
    ] {
        kubectl.prints(command, expected).await;
    }
    kubectl.end();
    server.shutdown().await;
}
