//! A tenant whose drivers respond after their deadline, or always fail, and how long requests of others wait meanwhile.

use super::*;
use crate::index::{Owner, Request};
use crate::process::backoff::Backoff;
use crate::runtime::outcome::Action;
use crate::runtime::queue::Queue;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep, timeout};

/// The longest timeout of a webhook, and of a probe.
const CALL: Duration = Duration::from_secs(60);
const PROBE: Duration = Duration::from_secs(5);

/// `DRIVER.NUMBER` of a namespace.
fn object(namespace: &str, driver: usize, number: usize) -> ObjectKey {
    ObjectKey::new(namespace, format!("{driver}.{number}"))
}

fn limits_of(request: &RequestKey, options: &Options) -> ConcurrencyLimits {
    if let RequestKey::DriverHealth(driver) = request {
        return probe_limits(driver, options);
    }
    let ObjectKey { namespace, name } = request.object();
    let driver = ObjectKey::new(&**namespace, name.split('.').next().unwrap_or_default());
    let shares = shares(&driver, options);
    let driver = ConcurrencyKey::Driver(driver);
    [vec![(driver, options.calls_per_driver)], shares]
        .concat()
        .into()
}

/// How long a request of another namespace waits at most, of those that are added each second for five minutes. Those of
/// the tenant are repeated one second after their call.
async fn longest_wait(tenants: Vec<RequestKey>, namespace: &'static str) -> Duration {
    let options = Options::default();
    let queue = Arc::new(Queue::new(Backoff::default()));
    queue.add(tenants.into_iter().map(Request::normal));
    let (waited, mut waits) = mpsc::unbounded_channel();
    let workers = Arc::new(Semaphore::new(options.workers));
    let began = Instant::now();
    let work = async {
        loop {
            let worker = Arc::clone(&workers).acquire_owned().await.unwrap();
            let active = queue.next(|request| limits_of(request, &options)).await;
            let waited = waited.clone();
            tokio::spawn(async move {
                let _worker = worker;
                let key = &active.key;
                let call = match key {
                    RequestKey::DriverHealth(_) => PROBE,
                    key if *key.object().namespace == *namespace => {
                        let second = key
                            .object()
                            .name
                            .split('.')
                            .nth(1)
                            .unwrap()
                            .parse()
                            .unwrap();
                        let added = began + Duration::from_secs(second);
                        waited.send(added.elapsed()).unwrap();
                        return active.done(Ok(Action::AwaitChange));
                    }
                    _ => CALL,
                };
                sleep(call).await;
                active.done(Ok(Action::RequeueAfter(Duration::from_secs(1))));
            });
        }
    };
    let others = async {
        for second in 0..300 {
            sleep(Duration::from_secs(1)).await;
            let key = RequestKey::Record(object(namespace, 0, second + 1));
            queue.add([Request::normal(key)]);
        }
        sleep(2 * CALL).await;
    };
    tokio::select! {
        () = others => {}
        () = work => {}
    }
    let mut longest = Duration::ZERO;
    let mut number = 0;
    while let Ok(Some(wait)) = timeout(Duration::ZERO, waits.recv()).await {
        longest = longest.max(wait);
        number += 1;
    }
    assert_eq!(number, 300);
    longest
}

fn objects(namespace: &str) -> Vec<RequestKey> {
    let objects = (0..8).flat_map(|driver| (0..100).map(move |it| object(namespace, driver, it)));
    objects.map(RequestKey::Record).collect()
}

fn verdicts(namespace: &str) -> Vec<RequestKey> {
    let groups = (0..300).map(|it| Owner::Group(object(namespace, 0, it)));
    groups.map(RequestKey::DeregisterVerdict).collect()
}

fn probes(namespace: &str) -> Vec<RequestKey> {
    let drivers = (0..300).map(|driver| object(namespace, driver, 0));
    drivers.map(RequestKey::DriverHealth).collect()
}

fn everything(namespace: &str) -> Vec<RequestKey> {
    [objects(namespace), verdicts(namespace), probes(namespace)].concat()
}

#[tokio::test(start_paused = true)]
async fn d109_the_drivers_of_a_tenant_that_respond_too_late_delay_no_other() {
    for (mix, requests) in [
        ("objects", objects("tenant")),
        ("verdicts", verdicts("tenant")),
        ("probes", probes("tenant")),
        ("everything", everything("tenant")),
    ] {
        for namespace in [SYSTEM_NAMESPACE, "other"] {
            let longest = longest_wait(requests.clone(), namespace).await;
            assert!(longest.is_zero(), "{mix}, {namespace}: {longest:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn d109_those_of_many_tenants_delay_none_of_the_operator() {
    let tenants = (0..16).map(|number| format!("tenant-{number}"));
    let requests = tenants
        .flat_map(|namespace| everything(&namespace))
        .collect();
    let longest = longest_wait(requests, SYSTEM_NAMESPACE).await;
    assert!(longest.is_zero(), "{longest:?}");
}
