//! Reviews of the deletions that follow from the deletion of a namespace.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::fixture::{call, cluster, eventually, quick, widget};
use crate::webhook::Webhooks;

#[tokio::test]
async fn a_denied_deletion_keeps_the_namespace_until_it_is_allowed() {
    let cluster = cluster(quick()).await;
    let allowed = Arc::new(AtomicBool::new(false));
    let decision = Arc::clone(&allowed);
    let webhooks = Webhooks::start(move |call| {
        if decision.load(Ordering::SeqCst) {
            call.allow()
        } else {
            call.deny(json!({"message": "not yet"}))
        }
    })
    .await;
    let team = json!({"metadata": {"name": "team"}});
    call(&cluster, "POST", "/api/v1/namespaces", Some(team)).await;
    let widgets = "/apis/example.com/v1/namespaces/team/widgets";
    call(&cluster, "POST", widgets, Some(widget("a"))).await;
    let rules = json!({"rules": [{
        "operations": ["DELETE"], "apiGroups": ["example.com"],
        "apiVersions": ["v1"], "resources": ["widgets"],
    }]});
    webhooks.validate(&cluster, "/v", rules).await;

    call(&cluster, "DELETE", "/api/v1/namespaces/team", None).await;
    eventually("the deletion is tried again", || async {
        (webhooks.calls().len() > 2).then_some(())
    })
    .await;
    let (_, kept) = call(&cluster, "GET", &format!("{widgets}/a"), None).await;
    assert_eq!(kept["metadata"]["deletionTimestamp"], Value::Null);
    let review = webhooks.calls().swap_remove(0).request;
    assert_eq!(review["operation"], "DELETE");
    assert_eq!(review["name"], Value::Null, "as in a delete collection");
    assert_eq!(review["oldObject"]["metadata"]["name"], "a");

    allowed.store(true, Ordering::SeqCst);
    eventually("the namespace is gone", || async {
        let (status, _) = call(&cluster, "GET", "/api/v1/namespaces/team", None).await;
        (status == 404).then_some(())
    })
    .await;
}
