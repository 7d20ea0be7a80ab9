//! From `kubectl apply -k` to uninstalling in the order of docs/install.md, with processes of `lbcf`.

use super::{Cluster, has_kustomize, root};
use crate::process::{Running, words};

/// The commands of the document's block that contains `part`.
fn commands(part: &str) -> Vec<String> {
    let document = std::fs::read_to_string(root().join("docs/install.md")).unwrap();
    let mut blocks = document.split("```sh\n").skip(1);
    let block = blocks.find_map(|rest| {
        let block = rest.split("```").next()?;
        block.contains(part).then(|| block.to_owned())
    });
    let block = block.unwrap_or_else(|| panic!("docs/install.md has no commands with {part}"));
    let commands = block.lines().filter_map(|line| {
        let command = line.split(" #").next()?.trim();
        (!command.is_empty()).then(|| command.to_owned())
    });
    commands.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uninstalling_in_the_order_of_the_document_leaves_nothing() {
    if !has_kustomize("uninstalling_in_the_order_of_the_document_leaves_nothing") {
        return;
    }
    let cluster = Cluster::start().await;
    let before = cluster.inventory().await;
    cluster
        .kubectl(&["apply", "-k", "deploy/overlays/demo"])
        .await;
    let again = cluster
        .kubectl(&["apply", "-k", "deploy/overlays/demo"])
        .await;
    let changed: Vec<&str> = again
        .lines()
        .filter(|line| !line.ends_with("unchanged"))
        .collect();
    assert!(changed.is_empty(), "{changed:?}");

    // What the pods would run.
    let mock = Running::start(&["mock-driver", "--listen", "127.0.0.1:0"]);
    let url = mock.line_with("http://").trim().to_owned();
    let connect = format!("clb-app-driver.kube-system.svc.cluster.local={url}");
    let controller = Running::start(&words(&format!(
        "controller --kubeconfig {} --health-address=127.0.0.1:0 --admission-address=127.0.0.1:0 --connect-to {connect}",
        cluster.kubeconfig.as_str()
    )));
    let line = controller.line_with("listening for admission requests");
    let addr = line.split("addr=").nth(1).unwrap().trim();
    let service = "lbcf-controller.kube-system.svc";
    cluster.cluster.set_service_address(service, addr);
    controller.line_with("published the CA certificates");
    controller.line_with("published the CA certificates");
    for file in [
        "00-namespace",
        "10-driver",
        "20-load-balancer-existing",
        "30-backend-group-by-name",
        "40-pod",
    ] {
        let path = format!("deploy/examples/{file}.yaml");
        cluster.kubectl(&["apply", "-f", &path]).await;
    }
    let group = [
        "-n=my-namespace",
        "backendgroups",
        "--all",
        "--timeout=300s",
    ];
    cluster
        .kubectl(&[&["wait", "--for=condition=Ready"], &group[..]].concat())
        .await;
    let records = cluster.kubectl(&["get", "br", "-A", "-o=name"]).await;
    assert_eq!(records.lines().count(), 1, "{records}");

    let mut controller = Some(controller);
    for command in commands("kubectl delete -k") {
        let args: Vec<&str> = command.split_whitespace().collect();
        // It would end with its pods.
        if command.contains("secret/") {
            let (code, _) = controller.take().unwrap().interrupt();
            assert_eq!(code, Some(0));
        }
        assert_eq!(args[0], "kubectl", "{command}");
        let folder = if command.contains("-k deploy/") {
            vec!["deploy/overlays/demo"]
        } else {
            Vec::new()
        };
        let args = args[1..].iter().filter(|arg| **arg != "deploy/").copied();
        let mut args: Vec<&str> = args.chain(folder).collect();
        if command.contains("delete") {
            args.push("--timeout=300s");
        }
        cluster.kubectl(&args).await;
    }
    assert!(controller.is_none(), "the document removes the Secret");
    cluster
        .kubectl(&["delete", "-f", "deploy/examples/00-namespace.yaml"])
        .await;
    let left: Vec<String> = cluster.inventory().await;
    let left: Vec<&String> = left.iter().filter(|one| !before.contains(one)).collect();
    assert!(left.is_empty(), "{left:?}");
    cluster.shutdown().await;
}
