//! Requests that are aborted, held or disconnected.

use std::time::Duration;

use futures::FutureExt as _;
use kube::Error;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use local_cluster::{ErrorResponse, Fault, LocalCluster, RequestFilter, Verb};
use serde_json::json;

use super::{code, create, map, maps, two};
use crate::fixture::{DEADLINE, call, quick};
use crate::wire;

fn writes() -> RequestFilter {
    RequestFilter::default()
        .verbs(Verb::WRITES)
        .resource("configmaps")
}

#[tokio::test]
async fn aborted_requests_change_nothing() {
    let two = two().await;
    for (name, client) in &two.clients {
        // Not 503, which kube retries on its own connections.
        let fault = Fault::abort(ErrorResponse::internal_error())
            .of(writes())
            .times(2);
        let guard = two.cluster.faults().inject(fault);
        for number in 0..4 {
            let made = create(client, &format!("{name}-{number}")).await;
            assert_eq!(
                code(&made),
                if number < 2 { 500 } else { 200 },
                "{name} {number}"
            );
        }
        assert_eq!((guard.hits(), guard.matched()), (2, 4), "{name}");
        let there = maps(client).list(&ListParams::default()).await.unwrap();
        let there = there
            .items
            .iter()
            .filter(|m| m.metadata.name.as_ref().unwrap().starts_with(name));
        assert_eq!(there.count(), 2, "{name}");
    }
}

#[tokio::test]
async fn errors_are_those_of_kubernetes() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/x";
    for (error, code, reason, message, details) in [
        (
            ErrorResponse::conflict(),
            409,
            "Conflict",
            "Operation cannot be fulfilled on leases.coordination.k8s.io \"x\": the object has been modified; please apply your changes to the latest version and try again",
            json!({"name": "x", "group": "coordination.k8s.io", "kind": "leases"}),
        ),
        (
            ErrorResponse::too_many_requests(7),
            429,
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
            json!({"retryAfterSeconds": 7}),
        ),
        (
            ErrorResponse::new(200, "Odd", "words"),
            400,
            "Odd",
            "words",
            json!({}),
        ),
    ] {
        let _guard = cluster.faults().inject(Fault::abort(error));
        let (status, body) = call(&cluster, "PUT", path, Some(json!({}))).await;
        let expected = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": reason, "details": details, "code": code,
        });
        assert_eq!((status.as_u16(), body), (code, expected));
    }
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let _guard = cluster
        .faults()
        .inject(Fault::abort(ErrorResponse::too_many_requests(7)));
    let text = wire::exchange(server.addr(), wire::get(path, "")).await;
    assert!(
        text.starts_with("HTTP/1.1 429 ") && text.contains("\r\nretry-after: 7\r\n"),
        "{text}"
    );
    // Only requests for objects have faults.
    let text = wire::exchange(server.addr(), wire::get("/apis", "")).await;
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
}

#[tokio::test]
async fn a_dropped_response_follows_a_write() {
    let two = two().await;
    for (name, client) in &two.clients {
        let lost = two
            .cluster
            .faults()
            .inject(Fault::drop_response().of(writes()).times(1));
        let made = create(client, name).await;
        assert!(
            matches!(made, Err(ref error) if !matches!(error, Error::Api(_))),
            "{name}: {made:?}"
        );
        assert_eq!(lost.hits(), 1);
        assert_eq!(
            code(&create(client, name).await),
            409,
            "{name}: it is there"
        );

        let wrong = Fault::replace_response(ErrorResponse::internal_error()).of(writes());
        let guard = two.cluster.faults().inject(wrong);
        let gone = maps(client).delete(name, &DeleteParams::default()).await;
        assert_eq!(code(&gone), 500, "{name}");
        drop(guard);
        assert_eq!(code(&maps(client).get(name).await), 404, "{name}");
    }
}

#[tokio::test]
async fn a_disconnected_request_writes_nothing() {
    let two = two().await;
    for (name, client) in &two.clients {
        let guard = two
            .cluster
            .faults()
            .inject(Fault::disconnect().of(writes()));
        assert_eq!(code(&create(client, name).await), 0, "{name}");
        assert_eq!(guard.hits(), 1);
        drop(guard);
        assert_eq!(code(&create(client, name).await), 200, "{name}");
    }
}

#[tokio::test]
async fn held_requests_continue_when_the_guard_is_dropped() {
    let two = two().await;
    for (name, client) in &two.clients {
        let before = two.cluster.faults().inject(Fault::hold().of(writes()));
        let mut making = tokio::spawn({
            let (client, name) = (client.clone(), *name);
            async move { create(&client, name).await }
        });
        before.reached(1).await;
        assert_eq!(code(&maps(client).get(name).await), 404, "{name}: it waits");
        assert!((&mut making).now_or_never().is_none());
        let after = two
            .cluster
            .faults()
            .inject(Fault::hold_response().of(writes()));
        drop(before);
        assert_eq!(
            code(
                &tokio::time::timeout(DEADLINE, making)
                    .await
                    .unwrap()
                    .unwrap()
            ),
            200
        );

        let changing = tokio::spawn({
            let maps = maps(client);
            let patch = json!({"data": {"x": "y"}});
            let name = *name;
            async move {
                maps.patch(name, &PatchParams::default(), &Patch::Merge(patch))
                    .await
            }
        });
        after.reached(1).await;
        crate::fixture::eventually("the change", || async {
            let found = maps(client).get(name).await.unwrap();
            found.data.is_some().then_some(())
        })
        .await;
        assert!(!changing.is_finished(), "{name}: its response waits");
        drop(after);
        assert_eq!(code(&changing.await.unwrap()), 200);
    }
}

#[tokio::test(start_paused = true)]
async fn delays_end_with_their_guard() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let client = cluster.client();
    let minute = Duration::from_secs(60);
    let began = tokio::time::Instant::now();
    let before = cluster.faults().inject(Fault::delay(minute).of(writes()));
    let after = cluster
        .faults()
        .inject(Fault::delay_response(minute).of(writes()));
    create(&client, "a").await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 120);
    maps(&client).list(&ListParams::default()).await.unwrap();
    drop(after);
    let making = tokio::spawn(async move { create(&client, "b").await });
    before.reached(2).await;
    drop(before);
    making.await.unwrap().unwrap();
    assert_eq!(began.elapsed().as_secs(), 120);
}

#[tokio::test]
async fn several_faults_apply_in_order_up_to_the_first_that_prevents() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let client = cluster.client();
    let faults = cluster.faults();
    let first = faults.inject(Fault::delay(Duration::ZERO));
    let second = faults.inject(Fault::abort(ErrorResponse::conflict()).times(1));
    let third = faults.inject(Fault::abort(ErrorResponse::internal_error()));
    assert_eq!(code(&create(&client, "a").await), 409);
    assert_eq!(code(&create(&client, "a").await), 500);
    assert_eq!((first.hits(), second.hits(), third.hits()), (2, 1, 1));
    assert_eq!((second.matched(), third.matched()), (2, 1));
}

#[tokio::test]
async fn filter_and_schedule_decide_which_requests_are_hit() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let [mine, other] = ["mine", "other"].map(|name| cluster.client_as(name));
    let filter = writes().user_agent("mine").namespace("default").name("a");
    let fault = Fault::abort(ErrorResponse::conflict()).of(filter).skip(1);
    let guard = cluster.faults().inject(fault);
    for name in ["a", "b"] {
        create(&mine, name).await.unwrap();
    }
    let mut codes = Vec::new();
    for (client, name) in [(&mine, "a"), (&other, "a"), (&mine, "b"), (&mine, "a")] {
        let response = maps(client)
            .replace(name, &PostParams::default(), &map(name))
            .await;
        codes.push(code(&response));
    }
    assert_eq!(codes, [200, 200, 200, 409]);
    assert_eq!((guard.hits(), guard.matched()), (1, 2));
    drop(guard);

    let chance = Fault::abort(ErrorResponse::conflict())
        .of(writes())
        .chance(0.5, 42);
    let pattern = async || {
        let _guard = cluster.faults().inject(chance.clone());
        let mut codes = Vec::new();
        for _ in 0..20 {
            let response = maps(&mine)
                .replace("a", &PostParams::default(), &map("a"))
                .await;
            codes.push(code(&response));
        }
        codes
    };
    let first = pattern().await;
    assert!(first.contains(&200) && first.contains(&409), "{first:?}");
    assert_eq!(first, pattern().await);
}
