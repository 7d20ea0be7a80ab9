//! Endpoints of services, which are pods or addresses of their own.

use super::{COMPLETE, address, stable_address};
use crate::check::{Check, Feature, Group, Need};
use crate::lab::{Lab, Source};
use crate::outcome::CheckOutcome;
use serde_json::{Value, json};

pub(super) static GEN_09: Check = Check {
    id: "GEN-09",
    rule: "generateBackendAddr returns the address of a pod also where the request has the additional \
           member endpointBackend, with the same address and port",
    why: "Controllers that register the endpoints of a service send both. A driver that refuses what it \
          does not know, or what it takes for two backends, registers none of them.",
    source: "d66; WIRE-08",
    typical: "Request bodies are decoded strictly; or the first member whose name ends with Backend is \
              taken for the backend.",
    needs: &[Need::LoadBalancer, Need::Feature(Feature::PodBackends)],
    ..Check::must(Group::Gen, |lab| Box::pin(gen_09(lab)))
};

async fn gen_09(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let pod = lab.pod_backend(&load_balancer);
    let given = stable_address(lab, &pod).await?;
    let Source::Pod(sent) = &pod.source else {
        return Ok(());
    };
    let both = pod.generate().with("endpointBackend", of_pod(sent));
    let (addr, reply) = address(lab, &both, COMPLETE).await?;
    if addr == given {
        return Ok(());
    }
    // A cloud may know endpoints by another form of address, but it is the same each time.
    let (again, _) = address(lab, &both, COMPLETE).await?;
    if again == addr {
        lab.note("the address of a pod is another one where the request has endpointBackend");
        return Ok(());
    }
    let expected = format!("backendAddr {addr:?}, as before for the same endpoint");
    Err(reply.failed(expected, format!("backendAddr {again:?}")))
}

/// The endpoint that a service of the pod has.
fn of_pod(sent: &Value) -> Value {
    let port = &sent["port"];
    let mut endpoint = endpoint(&sent["pod"]["status"]["podIP"], &port["port"]);
    endpoint["protocol"] = port["protocol"].clone();
    endpoint["nodeName"] = json!("node-1");
    endpoint
}

fn endpoint(address: &Value, port: &Value) -> Value {
    json!({
        "address": address, "port": port, "protocol": "TCP", "addressType": "IPv4",
        "serving": true, "terminating": false,
        "service": {
            "namespace": "lbcf-conformance", "name": "web", "portName": "http",
            "port": {"port": 80, "portNumber": 80, "protocol": "TCP"},
        },
    })
}

pub(super) static GEN_10: Check = Check {
    id: "GEN-10",
    rule: "generateBackendAddr returns Succ with a non-empty backendAddr for an endpoint of a service \
           that is no pod, and another one for another endpoint",
    why: "Such endpoints are in slices made by hand, for what runs outside of the cluster. If the address \
          is empty, the controller retries indefinitely; if two are equal, one of them gets no traffic.",
    source: "d66; GEN-01, GEN-04",
    typical: "Only podBackend and serviceBackend are read; or the address is that of the service, which \
              all of its endpoints share.",
    needs: &[Need::LoadBalancer, Need::Feature(Feature::EndpointBackends)],
    ..Check::must(Group::Gen, |lab| Box::pin(gen_10(lab)))
};

async fn gen_10(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let mut seen: Option<String> = None;
    for _ in 0..2 {
        let backend = lab.endpoint_backend(&load_balancer);
        address(lab, &backend.generate(), COMPLETE).await?;
        let addr = stable_address(lab, &backend).await?;
        if seen.as_ref() == Some(&addr) {
            let reply = lab.call(&backend.generate()).await;
            let expected = "another backendAddr than that of another endpoint of the service";
            return Err(reply.failed(expected, format!("backendAddr {addr:?}")));
        }
        seen = Some(addr);
    }
    Ok(())
}
