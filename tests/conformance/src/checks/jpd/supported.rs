//! Drivers with judgePodDeregister.

use super::judge;
use super::pods::{PodName, kept, not_ready};
use crate::check::{Check, Feature, Group, Need};
use crate::lab::Lab;
use crate::outcome::CheckOutcome;
use serde_json::Value;

pub(super) static JPD_01: Check = Check {
    id: "JPD-01",
    rule: "The response has succ, and doNotDeregister lists the pods to keep, each an object with \
           metadata.name and metadata.namespace",
    why: "The controller matches pods by name. It deregisters every pod that it does not find in \
          the response, even if the driver meant to keep it.",
    source: "Deregister policy proposal; b110, b151",
    typical: "The response contains the pods' names as strings, or pods without their namespaces. \
              Return the pods as received, or at least their metadata.",
    needs: &[Need::Feature(Feature::JudgePodDeregister)],
    ..Check::must(Group::Jpd, |lab| Box::pin(jpd_01(lab)))
};

const DECLARED: &str = "since the fixture's features name judgePodDeregister";

async fn jpd_01(lab: &Lab) -> CheckOutcome {
    let reply = lab.call(&judge(&not_ready(lab))).await;
    let decides = reply.any_decision(DECLARED)?;
    let kept = kept(&reply)?;
    if !decides {
        lab.note(format!(
            "the driver did not decide about the pods: {}",
            reply.summary()
        ));
    } else if kept.is_empty() {
        lab.note(
            "the driver keeps none of the pods, so their form could not be verified: \
             backend.podTemplate in the fixture can make it keep some",
        );
    }
    if kept.iter().any(|pod| pod.uid.is_empty()) {
        lab.note(
            "the pods in the response have no metadata.uid: the original controller compares \
             nothing else, and deregisters them",
        );
    }
    Ok(())
}

pub(super) static JPD_02: Check = Check {
    id: "JPD-02",
    rule: "doNotDeregister contains only pods of notReadyPods of the same request",
    why: "The controller ignores other pods. A pod that the driver returns under another name or \
          uid is deregistered.",
    source: "Deregister policy proposal; b110",
    typical: "Pods of earlier requests are remembered and returned again, or pods are looked up by \
              something that they share with others. Filter the received list.",
    needs: &[Need::Feature(Feature::JudgePodDeregister)],
    ..Check::must(Group::Jpd, |lab| Box::pin(jpd_02(lab)))
};

async fn jpd_02(lab: &Lab) -> CheckOutcome {
    let pods = not_ready(lab);
    // All of them, each alone, and others afterwards, to detect pods of earlier requests.
    let mut requests: Vec<Vec<Value>> = vec![pods.clone()];
    requests.extend(pods.into_iter().map(|pod| vec![pod]));
    requests.push(not_ready(lab));
    for pods in requests {
        let requested: Vec<PodName> = pods.iter().filter_map(PodName::of).collect();
        let reply = lab.call(&judge(&pods)).await;
        // JPD-01 verifies the form.
        let kept = reply.any_decision(DECLARED).and_then(|_| kept(&reply));
        let kept = kept.map_err(|e| e.blocked_by("JPD-01"))?;
        let is_requested = |pod: &&PodName| requested.iter().any(|other| pod.matches(other));
        if let Some(other) = kept.iter().find(|pod| !is_requested(pod)) {
            let expected = "no pods in doNotDeregister but those of notReadyPods";
            let uid = match other.uid.as_str() {
                "" => String::new(),
                uid => format!(" with uid {uid}"),
            };
            let got = format!("{}/{}{uid}", other.namespace, other.name);
            return Err(reply.failed(expected, got));
        }
    }
    Ok(())
}

pub(super) static JPD_03: Check = Check {
    id: "JPD-03",
    rule: "For an empty notReadyPods the response is succ true with no pods to keep",
    why: "Nothing can go wrong here. A driver that returns succ false triggers the group's \
          failurePolicy without need.",
    source: "Deregister policy proposal; derived",
    typical: "An empty list is treated as a missing one, or its first item is accessed.",
    needs: &[Need::Feature(Feature::JudgePodDeregister)],
    ..Check::must(Group::Jpd, |lab| Box::pin(jpd_03(lab)))
};

async fn jpd_03(lab: &Lab) -> CheckOutcome {
    let reply = lab.call(&judge(&[]).unusual()).await;
    reply.accepted("since there are no pods to decide about")?;
    let kept = kept(&reply)?;
    if let Some(pod) = kept.first() {
        let expected = "an empty doNotDeregister, since notReadyPods is empty";
        let got = format!("{}/{}", pod.namespace, pod.name);
        return Err(reply.failed(expected, got));
    }
    Ok(())
}
