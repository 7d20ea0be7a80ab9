//! Drivers that judge pods.

use super::judge;
use super::pods::{Name, kept, not_ready};
use crate::check::{Check, Company, Feature, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::Verdict;
use serde_json::Value;

/// The answer is a list of pods.
pub(super) static JPD_01: Check = Check {
    id: "JPD-01",
    level: Level::Must,
    group: Group::Jpd,
    rule: "The answer has succ, and in doNotDeregister the pods that stay, each an object with metadata.name and metadata.namespace",
    why: "The controller looks for the pods by their names. Whatever it cannot find in the answer \
          is taken away, though the driver meant it to stay.",
    source: "Deregister policy proposal; b110, b151",
    typical: "The pods' names are answered as texts, or pods without their namespaces. Answer the \
              pods as they came, or at least their metadata.",
    observer: Observer::Unused,
    needs: &[Need::Feature(Feature::JudgePodDeregister)],
    company: Company::Any,
    code: |lab| Box::pin(jpd_01(lab)),
};

async fn jpd_01(lab: &Lab) -> Verdict {
    let answer = lab.call(&judge(&not_ready(lab))).await;
    let is_judged = answer.any_verdict("since the fixture's features have judgePodDeregister")?;
    let kept = kept(&answer)?;
    if !is_judged {
        lab.note(format!(
            "the driver would not judge the pods: {}",
            answer.said()
        ));
    } else if kept.is_empty() {
        lab.note(
            "the driver keeps none of the pods, so nothing was seen of how it names them: \
             backend.podTemplate in the fixture can have what makes it keep some",
        );
    }
    if kept.iter().any(|pod| pod.uid.is_empty()) {
        lab.note(
            "the pods in the answer have no metadata.uid: the original controller compares \
             nothing else, and takes them away",
        );
    }
    Ok(())
}

/// Only pods of the request can stay.
pub(super) static JPD_02: Check = Check {
    id: "JPD-02",
    level: Level::Must,
    group: Group::Jpd,
    rule: "The pods in doNotDeregister are pods of notReadyPods of the same request",
    why: "The controller asked about these pods. Others mean nothing to it, and where the driver \
          means one of these by another name or uid, it is taken away.",
    source: "Deregister policy proposal; b110",
    typical: "Pods of earlier requests are remembered and answered again, or pods are looked up \
              by something that others have as well. Filter the list that came.",
    observer: Observer::Unused,
    needs: &[Need::Feature(Feature::JudgePodDeregister)],
    company: Company::Any,
    code: |lab| Box::pin(jpd_02(lab)),
};

async fn jpd_02(lab: &Lab) -> Verdict {
    let pods = not_ready(lab);
    // All of them, each alone, and others afterwards, so that nothing is left of earlier requests.
    let mut requests: Vec<Vec<Value>> = vec![pods.clone()];
    requests.extend(pods.into_iter().map(|pod| vec![pod]));
    requests.push(not_ready(lab));
    for pods in requests {
        let names: Vec<Name> = pods.iter().filter_map(Name::of).collect();
        let answer = lab.call(&judge(&pods)).await;
        // What is no list of pods is for JPD-01 to say.
        let since = "since the fixture's features have judgePodDeregister";
        let judged = answer.any_verdict(since).and_then(|_| kept(&answer));
        let kept = judged.map_err(|e| e.blocked_by("JPD-01"))?;
        let is_asked_about = |pod: &&Name| names.iter().any(|asked| pod.is(asked));
        if let Some(other) = kept.iter().find(|pod| !is_asked_about(pod)) {
            let expected = "no pods in doNotDeregister but those of notReadyPods";
            let uid = match other.uid.as_str() {
                "" => String::new(),
                uid => format!(" with uid {uid}"),
            };
            let got = format!("{}/{}{uid}", other.namespace, other.name);
            return Err(answer.failed(expected, got));
        }
    }
    Ok(())
}

/// No pods, nothing to judge.
pub(super) static JPD_03: Check = Check {
    id: "JPD-03",
    level: Level::Must,
    group: Group::Jpd,
    rule: "Without pods that are not ready the answer is succ true, and no pod stays",
    why: "There is nothing that could go wrong. A driver that refuses then starts the group's \
          failurePolicy without need.",
    source: "Deregister policy proposal; derived",
    typical: "An empty list counts as a missing one, or its first pod is looked at.",
    observer: Observer::Unused,
    needs: &[Need::Feature(Feature::JudgePodDeregister)],
    company: Company::Any,
    code: |lab| Box::pin(jpd_03(lab)),
};

async fn jpd_03(lab: &Lab) -> Verdict {
    let answer = lab.call(&judge(&[]).unusual()).await;
    answer.accepted("since there is no pod that could not be judged")?;
    let kept = kept(&answer)?;
    if let Some(pod) = kept.first() {
        let expected = "an empty doNotDeregister, since notReadyPods is empty";
        let got = format!("{}/{}", pod.namespace, pod.name);
        return Err(answer.failed(expected, got));
    }
    Ok(())
}
