//! The test kit, with a driver that breaks rules on demand.

mod assertions;
mod builders;
mod cloudlet;
mod rules;

use cloudlet::Cloudlet;
use lbcf_driver_sdk::server::{DriverRouter, Settings};
use lbcf_driver_sdk::testing::{
    Clock, TestDriver, WebhookCall, create_load_balancer, delete_load_balancer, deregister_backend,
    ensure_backend, ensure_load_balancer, generate_backend_addr, healthz, judge_pod_deregister,
    list_backends, pod, validate_backend, validate_load_balancer,
};
use lbcf_driver_sdk::webhook::{EnsureBackend, StringMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

fn cloudlet() -> TestDriver<Cloudlet> {
    TestDriver::new(Cloudlet::default())
}

/// The text of a failed assertion, and the line that it reports.
fn complaint<T>(assertion: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(assertion()))).unwrap_err();
    *panic.downcast::<String>().expect("a text")
}

#[tokio::test(start_paused = true)]
async fn a_life_cycle_from_create_to_delete() {
    let driver = cloudlet();
    let lb_info = driver
        .create(
            create_load_balancer()
                .spec("name", "web")
                .attribute("bandwidth", 5),
        )
        .await;
    assert_eq!(lb_info, StringMap::from([("id".into(), "lb-web".into())]));
    let web = pod("web-0").ip("10.0.0.7").port(80);
    let call = generate_backend_addr().lb_info(&lb_info).pod(web);
    let backend = driver.register(call.parameter("weight", 10)).await;
    assert_eq!(backend.backend_addr, "10.0.0.7:80");
    assert_eq!(backend.lb_info, lb_info);
    assert_eq!(backend.parameters["weight"], "10");
    assert_eq!(backend.injected_info["on"], "lb-web");
    assert_eq!(driver.inner().backends(), ["lb-web 10.0.0.7:80 weight 10"]);

    let heavier = backend.ensure().parameter("weight", 20);
    driver.call(heavier).await.assert_succ();
    assert_eq!(driver.inner().backends(), ["lb-web 10.0.0.7:80 weight 20"]);

    driver.deregister(&backend).await;
    assert!(driver.inner().backends().is_empty());
    driver
        .delete(delete_load_balancer().lb_info(&lb_info))
        .await;
    assert_eq!(driver.inner().load_balancers(), 0);
}

#[tokio::test(start_paused = true)]
async fn b19_an_empty_lb_info_is_the_specification() {
    let driver = TestDriver::new(Cloudlet::with(&["empty lbInfo"]));
    let lb_info = driver
        .create(create_load_balancer().spec("name", "web"))
        .await;
    assert_eq!(lb_info, StringMap::from([("name".into(), "web".into())]));
}

#[tokio::test(start_paused = true)]
async fn running_operations_are_polled_after_their_delay() {
    let driver = TestDriver::new(Cloudlet::with(&["slow"]));
    let clock = Clock::start();
    driver
        .create(create_load_balancer().spec("name", "web"))
        .await;
    // Running twice, 3 s each; then it is done.
    assert_eq!(clock.elapsed(), Duration::from_secs(6));
}

#[tokio::test(start_paused = true)]
async fn what_never_ends_is_given_up() {
    let driver =
        TestDriver::new(Cloudlet::with(&["never ends"])).poll_every(Duration::from_secs(1));
    let clock = Clock::start();
    let call = create_load_balancer().spec("name", "web");
    driver.until_done(&call).await.assert_running();
    assert_eq!(driver.inner().calls(), 100);
    assert_eq!(clock.elapsed(), Duration::from_secs(99));
}

#[tokio::test(start_paused = true)]
async fn the_router_is_that_of_production() {
    // The deadline and other settings.
    let settings = Settings {
        answer_within: Duration::from_secs(2),
        ..Settings::default()
    };
    let router = DriverRouter::with(Cloudlet::with(&["hangs"]), settings);
    let driver = TestDriver::with(router);
    let clock = Clock::start();
    let call = ensure_backend().info("id", "lb-web").addr("10.0.0.7:80");
    driver.call(&call).await.assert_running();
    assert_eq!(clock.elapsed(), Duration::from_secs(2));

    // Dropping the call hangs up. The hook continues, and a repeated call joins it.
    let patience = Duration::from_secs(1);
    let hung_up = tokio::time::timeout(patience, driver.call(&call)).await;
    assert!(hung_up.is_err());
    assert_eq!(driver.running(), 1);
    driver.idle().await;
    assert_eq!(driver.running(), 0);
    driver.call(&call).await.assert_succ();
    assert_eq!(driver.inner().calls(), 1, "the repeats joined");

    // Panics.
    let driver = TestDriver::new(Cloudlet::with(&["panics"]));
    driver.call(&call).await.assert_http(500, "ensureBackend");
    // An invalid call.
    driver
        .post("ensureBackend", r#"{"recordID": 1}"#)
        .await
        .assert_http(400, "recordID");
    driver
        .post("/nothing", "")
        .await
        .assert_http(404, "ensureBackend");
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "hooks still run")]
async fn hooks_that_never_end_are_reported() {
    let driver = TestDriver::new(Cloudlet::with(&["hangs for ever"]));
    let call = ensure_backend().info("id", "lb-web").addr("10.0.0.7:80");
    driver.call(call).await.assert_running();
    driver.idle().await;
}

#[tokio::test]
async fn every_webhook_is_called_by_its_name() {
    let driver = cloudlet();
    driver.healthz(healthz()).await.assert_healthy();
    driver
        .validate_load_balancer(validate_load_balancer().spec("name", "web"))
        .await
        .assert_accepted();
    driver
        .create_load_balancer(create_load_balancer().spec("name", "web"))
        .await
        .assert_succ();
    let id = ("id", "lb-web");
    driver
        .ensure_load_balancer(ensure_load_balancer().info(id.0, id.1).attribute("a", 1))
        .await
        .assert_succ();
    driver
        .validate_backend(validate_backend().info(id.0, id.1).parameter("weight", 1))
        .await
        .assert_accepted();
    let generated = driver
        .generate_backend_addr(
            generate_backend_addr()
                .info(id.0, id.1)
                .pod(pod("a").port(8080)),
        )
        .await
        .assert_succ();
    let addr = generated.backend_addr;
    driver
        .ensure_backend(ensure_backend().info(id.0, id.1).addr(&addr))
        .await
        .assert_succ();
    // Its author did not implement it (d52).
    driver
        .list_backends(list_backends().info(id.0, id.1))
        .await
        .assert_fail("this driver does not list backends");
    driver
        .deregister_backend(deregister_backend().info(id.0, id.1).addr(&addr))
        .await
        .assert_succ();
    driver
        .delete_load_balancer(delete_load_balancer().info(id.0, id.1))
        .await
        .assert_succ();
    let kept = driver
        .judge_pod_deregister(
            judge_pod_deregister()
                .pod(pod("a").ready(false))
                .pod(pod("b").label("keep", "yes")),
        )
        .await
        .assert_accepted();
    let [kept] = &kept.do_not_deregister[..] else {
        panic!("{kept:?}")
    };
    assert_eq!(kept.name, "b");

    let sick = TestDriver::new(Cloudlet::with(&["sick"]));
    sick.healthz(healthz()).await.assert_not_healthy();
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_sets_its_flag() {
    let driver = cloudlet();
    let call = create_load_balancer().spec("name", "web").dry_run();
    driver.call(call).await.assert_fail("dryRun");
    assert_eq!(driver.inner().calls(), 0);
}

#[tokio::test]
async fn each_call_has_a_new_retry_id_and_a_record_id_derived_from_its_object() {
    let driver = cloudlet();
    let call = ensure_backend().info("id", "lb-web").addr("10.0.0.7:80");
    driver.call(&call).await.assert_succ();
    driver
        .call(call.clone().parameter("weight", 2))
        .await
        .assert_succ();
    driver
        .call(call.clone().addr("10.0.0.8:80"))
        .await
        .assert_succ();
    driver
        .call(call.clone().record_id("mine"))
        .await
        .assert_succ();
    let request = EnsureBackend {
        record_id: "my record".into(),
        retry_id: "my retry".into(),
        ..call.request().clone()
    };
    driver
        .call(WebhookCall::<EnsureBackend>::of(request))
        .await
        .assert_succ();
    let [one, changed, other, named, own] = driver.inner().ids().try_into().unwrap();
    assert!(one.0.starts_with("ensureBackend(") && one.0.ends_with(')'));
    assert_eq!(
        one.0, changed.0,
        "d28: the same operation with other parameters"
    );
    assert_ne!(one.0, other.0);
    assert_eq!(named.0, "mine");
    assert_eq!(own, ("my record".into(), "my retry".into()));
    assert_eq!(
        [one.1, changed.1, other.1, named.1],
        ["retry-1", "retry-2", "retry-3", "retry-4"]
    );
}

#[tokio::test(start_paused = true)]
async fn the_clock_advances_step_by_step() {
    let clock = Clock::start();
    let (fire, mut fired) = tokio::sync::mpsc::unbounded_channel();
    // Each timer starts when the one before fires: a clock that jumps would miss them.
    let job = tokio::spawn(async move {
        for n in 1..=3 {
            tokio::time::sleep(Duration::from_secs(10)).await;
            fire.send(n).unwrap();
        }
    });
    clock.advance(Duration::from_secs(20)).await;
    assert_eq!((fired.try_recv(), fired.try_recv()), (Ok(1), Ok(2)));
    assert!(fired.try_recv().is_err());
    clock.advance(Duration::from_millis(9999)).await;
    assert!(!job.is_finished());
    clock.advance(Duration::from_millis(1)).await;
    assert!(job.is_finished());
    assert_eq!(clock.elapsed(), Duration::from_secs(30));
}

#[tokio::test]
#[should_panic(expected = "time is not frozen")]
async fn a_clock_that_runs_cannot_be_moved() {
    Clock::start().advance(Duration::from_secs(3600)).await;
}
