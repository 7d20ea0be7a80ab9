//! Batches: each caller gets what a sequence of single calls would give it, whatever arrives, repeats, fails or hangs up.

use crate::support::{cases, ok, send, spawn_ok, takes_maps};
use lbcf_driver_sdk::request::{
    DeregisterBackend, EnsureBackend, EnsureLoadBalancer, GenerateBackendAddr,
};
use lbcf_driver_sdk::server::{DriverRouter, Settings};
use lbcf_driver_sdk::webhook::{LoadBalancer, StringMap, WebhookInfo};
use lbcf_driver_sdk::{Driver, HookError};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// What the driver did, in order.
#[derive(Debug, Clone, PartialEq)]
struct Done {
    load_balancer: String,
    /// The call, of which repeats have the same number.
    call: usize,
    record: String,
    address: String,
    batch: usize,
}

#[derive(Debug, Default)]
struct Cloud {
    done: Vec<Done>,
    batches: Vec<usize>,
    busy: BTreeSet<String>,
}

/// A driver that takes 100 ms for a batch, however large.
#[derive(Debug, Clone)]
struct Batching {
    cloud: Arc<Mutex<Cloud>>,
    size: usize,
}

/// The wishes of a request, in its parameters.
struct Wish {
    load_balancer: String,
    call: usize,
    record: String,
    address: String,
    what: String,
}

fn wish(info: &StringMap, parameters: &StringMap, record: String, address: String) -> Wish {
    Wish {
        load_balancer: info["id"].clone(),
        call: parameters["call"].parse().unwrap(),
        record,
        address,
        what: parameters["do"].clone(),
    }
}

impl Batching {
    fn new(size: usize) -> Self {
        let cloud = Arc::default();
        Self { cloud, size }
    }

    /// Works on one load balancer; the outcome of each has the number of what was done.
    async fn work(&self, wishes: Vec<Wish>) -> Vec<Result<StringMap, HookError>> {
        let busy: Vec<String> = {
            let records = wishes.iter().map(|it| it.record.clone());
            records.chain([wishes[0].load_balancer.clone()]).collect()
        };
        let batch = {
            let mut cloud = self.cloud.lock().unwrap();
            for name in &busy {
                assert!(cloud.busy.insert(name.clone()), "{name} is worked on twice");
            }
            cloud.batches.push(wishes.len());
            assert!(wishes.len() <= self.size.max(1));
            cloud.batches.len()
        };
        sleep(Duration::from_millis(100)).await;
        let mut cloud = self.cloud.lock().unwrap();
        for name in &busy {
            cloud.busy.remove(name);
        }
        let panics = wishes.iter().any(|wish| wish.what == "panic");
        let outcomes: Vec<_> = wishes
            .into_iter()
            .map(|wish| {
                let number = cloud.done.len();
                let failed = format!("{} cannot be done", wish.call);
                let what = wish.what;
                cloud.done.push(Done {
                    load_balancer: wish.load_balancer,
                    call: wish.call,
                    record: wish.record,
                    address: wish.address,
                    batch,
                });
                match what.as_str() {
                    "fail" => Err(HookError::fail(failed)),
                    _ => Ok(StringMap::from([("done".to_owned(), number.to_string())])),
                }
            })
            .collect();
        drop(cloud);
        assert!(!panics, "on purpose");
        outcomes
    }
}

impl Driver for Batching {
    takes_maps!(creates nothing);

    async fn generate_backend_addr(
        &self,
        _: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Err(HookError::fail("not here"))
    }

    async fn ensure_load_balancer(
        &self,
        request: EnsureLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let (info, attributes) = (&request.lb_info, &request.attributes);
        let wish = wish(info, attributes, request.record_id, String::new());
        self.work(vec![wish]).await.remove(0).map(drop)
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        self.ensure_backends(vec![request]).await.remove(0)
    }

    async fn ensure_backends(
        &self,
        batch: Vec<EnsureBackend<Self>>,
    ) -> Vec<Result<StringMap, HookError>> {
        let wishes = batch.into_iter();
        let wishes =
            wishes.map(|it| wish(&it.lb_info, &it.parameters, it.record_id, it.backend_addr));
        self.work(wishes.collect()).await
    }

    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        self.deregister_backends(vec![request]).await.remove(0)
    }

    async fn deregister_backends(
        &self,
        batch: Vec<DeregisterBackend<Self>>,
    ) -> Vec<Result<(), HookError>> {
        let wishes = batch.into_iter().map(|it| {
            let parameters = it.parameters.unwrap_or_default();
            wish(&it.lb_info, &parameters, it.record_id, it.backend_addr)
        });
        let outcomes = self.work(wishes.collect()).await.into_iter();
        outcomes.map(|outcome| outcome.map(drop)).collect()
    }

    fn batch_size(&self, _: WebhookInfo) -> usize {
        self.size
    }

    fn serial_key(
        &self,
        webhook: WebhookInfo,
        load_balancer: LoadBalancer<&StringMap, &StringMap>,
    ) -> Option<String> {
        let key = load_balancer.either().get("id").cloned();
        key.filter(|_| webhook.changes_load_balancer())
    }
}

#[derive(Debug, Clone)]
struct Call {
    /// After the one before, in milliseconds.
    after: u64,
    webhook: &'static str,
    load_balancer: u8,
    record: u8,
    address: u8,
    what: &'static str,
    hangs_up_after: Option<u64>,
    /// Sent again so many milliseconds later.
    repeated_after: Option<u64>,
}

impl Call {
    fn body(&self, number: usize) -> Value {
        let wish = json!({"call": number.to_string(), "do": self.what});
        let record = format!("{}({})", self.webhook, self.record);
        json!({
            "recordID": record, "lbInfo": {"id": format!("lb-{}", self.load_balancer)},
            "backendAddr": format!("address-{}", self.address), "parameters": wish, "attributes": wish,
        })
    }
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let webhooks = prop_oneof![
        8 => Just("ensureBackend"),
        4 => Just("deregisterBackend"),
        1 => Just("ensureLoadBalancer"),
    ];
    let whats = prop_oneof![12 => Just("work"), 3 => Just("fail"), 1 => Just("panic")];
    let call = (
        prop_oneof![3 => Just(0_u64), 1 => 1_u64..150],
        webhooks,
        prop_oneof![4 => Just(0_u8), 1 => Just(1_u8)],
        (0_u8..6, 0_u8..6),
        whats,
        prop::option::weighted(0.2, 0_u64..300),
        prop::option::weighted(0.2, 0_u64..400),
    );
    let call = call.prop_map(
        |(
            after,
            webhook,
            load_balancer,
            (record, address),
            what,
            hangs_up_after,
            repeated_after,
        )| {
            Call {
                after,
                webhook,
                load_balancer,
                record,
                address,
                what,
                hangs_up_after,
                repeated_after,
            }
        },
    );
    prop::collection::vec(call, 1..24)
}

/// A call and its answer; none if the caller hung up.
type Answered = (usize, Option<(u16, Value)>);

/// Makes the calls. Returns which arrived in which order, and the answers.
async fn make(driver: Batching, calls: &[Call]) -> (Vec<usize>, Vec<Answered>) {
    let settings = Settings {
        answer_within: Duration::from_millis(450),
        ..Settings::default()
    };
    let router = DriverRouter::with(driver, settings);
    let hooks = router.running_hooks();
    let router = router.build();
    let began = Instant::now();
    let mut at = 0;
    let mut arrivals = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        at += call.after;
        arrivals.push((at, number, call.hangs_up_after));
        if let Some(later) = call.repeated_after {
            arrivals.push((at + later, number, None));
        }
    }
    arrivals.sort_by_key(|(at, ..)| *at);
    let mut tasks = Vec::new();
    for (at, number, hangs_up_after) in &arrivals {
        sleep_until(began + Duration::from_millis(*at)).await;
        let (router, call, number) = (router.clone(), calls[*number].clone(), *number);
        let limit = Duration::from_millis(hangs_up_after.unwrap_or(60_000));
        tasks.push(tokio::spawn(async move {
            let (path, body) = (format!("/{}", call.webhook), call.body(number));
            let answer = raw(&router, &path, &body);
            (number, tokio::time::timeout(limit, answer).await.ok())
        }));
        // It arrives before the next one.
        tokio::task::yield_now().await;
    }
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    let idle = tokio::time::timeout(Duration::from_secs(60), hooks.idle());
    idle.await.expect("every hook ends");
    let arrivals = arrivals.into_iter().map(|(_, number, _)| number);
    (arrivals.collect(), answers)
}

/// The status and the body of an answer, which is text after a panic.
async fn raw(router: &axum::Router, path: &str, body: &Value) -> (u16, Value) {
    use http_body_util::BodyExt;
    let request = axum::http::Request::post(path);
    let request = request.body(body.to_string().into()).unwrap();
    let response = send(router, request).await;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

/// The calls that were done are in the order in which they arrived, some of them again.
fn in_order(done: &[&Done], arrivals: &[usize]) -> bool {
    let mut arrivals = arrivals.iter();
    done.iter()
        .all(|done| arrivals.any(|number| *number == done.call))
}

fn check(size: usize, calls: &[Call], cloud: &Cloud, arrivals: &[usize], answers: &[Answered]) {
    let is_of_backend = |done: &&Done| calls[done.call].webhook != "ensureLoadBalancer";
    let mut by_address: BTreeMap<_, Vec<&Done>> = BTreeMap::new();
    for done in cloud.done.iter().filter(is_of_backend) {
        let address = (&done.load_balancer, &done.address);
        by_address.entry(address).or_default().push(done);
    }
    for (address, done) in &by_address {
        assert!(
            in_order(done, arrivals),
            "{address:?}: {done:?} of {arrivals:?}"
        );
        let batches: BTreeSet<_> = done.iter().map(|it| it.batch).collect();
        assert_eq!(batches.len(), done.len(), "{address:?} is twice in a batch");
    }
    let mut batches: BTreeMap<usize, BTreeSet<_>> = BTreeMap::new();
    for done in &cloud.done {
        let kind = (calls[done.call].webhook, &done.load_balancer);
        batches.entry(done.batch).or_default().insert(kind);
    }
    assert!(
        batches.values().all(|kinds| kinds.len() == 1),
        "{batches:?}"
    );
    assert!(cloud.batches.iter().all(|requests| *requests <= size));
    let called: BTreeSet<_> = arrivals.iter().collect();
    let done: BTreeSet<_> = cloud.done.iter().map(|it| &it.call).collect();
    assert_eq!(called, done, "each is done, and nothing else");
    // Nothing that came later overtakes what is in no batch.
    for (position, barrier) in cloud.done.iter().enumerate() {
        if is_of_backend(&barrier) {
            continue;
        }
        let first = |call| arrivals.iter().position(|number| *number == call);
        let before = cloud.done[..position].iter();
        let before = before.filter(|it| it.load_balancer == barrier.load_balancer);
        let last = arrivals.iter().rposition(|number| *number == barrier.call);
        for done in before {
            assert!(first(done.call) <= last, "{done:?} before {barrier:?}");
        }
    }
    for (call, answer) in answers {
        let Some((status, answer)) = answer else {
            continue;
        };
        let message = answer["msg"].as_str().unwrap_or_default();
        let of_batch = || {
            let done = cloud.done.iter().filter(|it| it.call == *call);
            let batches: BTreeSet<_> = done.map(|it| it.batch).collect();
            let mut others = cloud.done.iter().filter(|it| batches.contains(&it.batch));
            others.any(|it| calls[it.call].what == "panic")
        };
        match (*status, answer["status"].as_str()) {
            (200, Some("Running")) => {}
            (200, Some("Succ")) if calls[*call].webhook == "ensureBackend" => {
                let done: usize = answer["injectedInfo"]["done"]
                    .as_str()
                    .unwrap()
                    .parse()
                    .unwrap();
                assert_eq!(cloud.done[done].call, *call, "{answer}");
                assert_eq!(calls[*call].what, "work");
            }
            (200, Some("Succ")) => assert_eq!(calls[*call].what, "work"),
            (200, Some("Fail")) if message == format!("{call} cannot be done") => {}
            (200, Some("Fail")) if message.contains("panicked") => assert!(of_batch()),
            (500, _) => assert!(of_batch()),
            _ => panic!("{call}: {status} {answer}"),
        }
    }
}

proptest! {
    #![proptest_config(cases(if std::env::var_os("LBCF_EXHAUSTIVE").is_some() { 5000 } else { 300 }))]

    #[test]
    fn d120_each_caller_of_a_batch_gets_what_single_calls_would_give_it(
        size in 1_usize..6,
        calls in calls(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let driver = Batching::new(size);
        let (arrivals, answers) = runtime.block_on(make(driver.clone(), &calls));
        check(size, &calls, &driver.cloud.lock().unwrap(), &arrivals, &answers);
    }
}

fn backend(number: usize, what: &str) -> Value {
    json!({
        "recordID": format!("ensureBackend({number})"), "lbInfo": {"id": "lb-1"},
        "backendAddr": number.to_string(), "parameters": {"call": number.to_string(), "do": what},
    })
}

#[tokio::test(start_paused = true)]
async fn d120_what_waits_for_a_load_balancer_is_done_in_full_batches() {
    let driver = Batching::new(20);
    let router = DriverRouter::new(driver.clone()).build();
    let began = Instant::now();
    let calls: Vec<_> = (0..101)
        .map(|number| spawn_ok(&router, "/ensureBackend", backend(number, "work")))
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap()["status"], "Succ");
    }
    assert_eq!(
        driver.cloud.lock().unwrap().batches,
        [1, 20, 20, 20, 20, 20]
    );
    assert_eq!(began.elapsed(), Duration::from_millis(600));
}

#[tokio::test(start_paused = true)]
async fn d120_values_that_do_not_fit_and_dry_runs_are_in_no_batch() {
    let driver = Batching::new(20);
    let router = DriverRouter::new(driver.clone()).build();
    let first = spawn_ok(&router, "/ensureBackend", backend(0, "work"));
    tokio::task::yield_now().await;
    let mut dry = backend(1, "work");
    dry["dryRun"] = json!(true);
    assert_eq!(ok(&router, "/ensureBackend", &dry).await["status"], "Fail");
    let others: Vec<_> = (2..5)
        .map(|number| spawn_ok(&router, "/ensureBackend", backend(number, "work")))
        .collect();
    first.await.unwrap();
    for other in others {
        other.await.unwrap();
    }
    assert_eq!(driver.cloud.lock().unwrap().batches, [1, 3]);
}

/// A driver that loses the last outcome of a batch.
#[derive(Debug, Clone)]
struct Forgetful(Batching);

impl Driver for Forgetful {
    takes_maps!(creates nothing);

    async fn generate_backend_addr(
        &self,
        _: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Err(HookError::fail("not here"))
    }

    async fn ensure_backend(&self, _: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        Ok(StringMap::new())
    }

    async fn ensure_backends(
        &self,
        batch: Vec<EnsureBackend<Self>>,
    ) -> Vec<Result<StringMap, HookError>> {
        sleep(Duration::from_millis(100)).await;
        vec![Ok(StringMap::new()); batch.len().saturating_sub(1).max(1)]
    }

    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        Ok(())
    }

    fn batch_size(&self, webhook: WebhookInfo) -> usize {
        self.0.batch_size(webhook)
    }

    fn serial_key(
        &self,
        webhook: WebhookInfo,
        load_balancer: LoadBalancer<&StringMap, &StringMap>,
    ) -> Option<String> {
        self.0.serial_key(webhook, load_balancer)
    }
}

#[tokio::test(start_paused = true)]
async fn d120_a_batch_without_an_outcome_for_each_fails_for_all() {
    let router = DriverRouter::new(Forgetful(Batching::new(20))).build();
    let calls: Vec<_> = (0..4)
        .map(|number| spawn_ok(&router, "/ensureBackend", backend(number, "work")))
        .collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    assert_eq!(answers[0]["status"], "Succ");
    for answer in &answers[1..] {
        assert_eq!(
            (&answer["status"], &answer["reason"]),
            (&json!("Fail"), &json!("Internal"))
        );
        let message = "the driver returned 2 outcomes for 3 requests";
        assert_eq!(answer["msg"], message);
    }
}

#[tokio::test(start_paused = true)]
async fn d120_hooks_wait_for_the_rate_and_batches_grow_meanwhile() {
    let settings = |by_key| Settings {
        max_hooks_per_second: Some(2),
        hook_rate_by_key: by_key,
        ..Settings::default()
    };
    let all = (false, vec![1, 1, 2, 20, 20], 2100);
    let each = (true, vec![1, 1, 1, 1, 20, 20], 1100);
    for (by_key, expected, millis) in [all, each] {
        let driver = Batching::new(20);
        let router = DriverRouter::with(driver.clone(), settings(by_key)).build();
        let began = Instant::now();
        let calls: Vec<_> = (0..44)
            .map(|number| {
                let mut body = backend(number, "work");
                body["lbInfo"]["id"] = json!(format!("lb-{}", number % 2));
                spawn_ok(&router, "/ensureBackend", body)
            })
            .collect();
        for call in calls {
            assert_eq!(call.await.unwrap()["status"], "Succ");
        }
        let mut batches = driver.cloud.lock().unwrap().batches.clone();
        batches.sort_unstable();
        assert_eq!(batches, expected);
        assert_eq!(began.elapsed(), Duration::from_millis(millis));
    }
}
