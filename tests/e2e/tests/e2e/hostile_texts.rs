//! What drivers write is in no status, event or line of the log longer than its limit or with control characters.

use http::StatusCode;
use k8s_openapi::api::core::v1::{Event, Pod};
use lbcf_controller::Options;
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, NamespacedKind,
};
use lbcf_driver_sdk::webhook::{ALL, Class, Obligation, WebhookInfo};
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{ProxyAction, World, scrambled, until};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{Read as _, Seek as _};
use std::sync::Arc;
use std::time::Duration;

/// A driver's text has 2,000 characters at most, and names of objects and webhooks are around it.
const LIMIT: usize = 2500;
/// A text of up to 20,000 characters, of which many are control characters.
fn text(number: u64) -> String {
    const CHARACTERS: [char; 12] = [
        '\n', '\r', '\t', '\u{1b}', '\0', '\u{7f}', '\u{85}', '"', '\\', 'x', 'ö', '中',
    ];
    let length = scrambled(35, number) % 20_000;
    let character = |nth| scrambled(number, nth) % CHARACTERS.len() as u64;
    let characters = (0..length).map(character);
    characters
        .map(|it| CHARACTERS[usize::try_from(it).unwrap()])
        .collect()
}

/// The places where a driver can write a text.
fn response(place: usize, text: &str) -> (StatusCode, String) {
    let ok = |body: Value| (StatusCode::OK, body.to_string());
    match place {
        0 => ok(json!({"status": "Fail", "msg": text})),
        1 => ok(json!({"status": "Running", "msg": text, "minRetryDelayInSeconds": 0})),
        2 => (StatusCode::INTERNAL_SERVER_ERROR, text.to_owned()),
        3 => (StatusCode::OK, text.to_owned()),
        4 => ok(json!({"status": text, "healthy": false, "msg": text})),
        5 => ok(json!({"status": "Fail", "reason": text, "msg": "", text: text})),
        _ => ok(
            json!({"status": "Succ", "msg": text, "backendAddr": text, "healthy": true, "version": text}),
        ),
    }
}
const SUCCESS: usize = 6;
const PLACES: usize = 7;

fn check(value: &Value, path: &str) {
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            assert!(length <= LIMIT, "{path}: {length} characters");
            assert!(!text.contains(char::is_control), "{path}: {text:?}");
        }
        Value::Array(items) => items.iter().for_each(|item| check(item, path)),
        Value::Object(fields) => {
            for (name, field) in fields {
                check(field, &format!("{path}.{name}"));
            }
        }
        _ => {}
    }
}

async fn check_all<K: NamespacedKind + Serialize>(world: &World) {
    for object in world.all::<K>().await {
        check(&serde_json::to_value(object).unwrap(), "");
    }
}

// On one thread, so that the log of all of its tasks is written here.
#[tokio::test]
async fn d102_no_text_of_a_driver_is_shown_longer_than_its_limit_or_with_control_characters() {
    let log = Arc::new(tempfile::tempfile().unwrap());
    let logged = tracing_subscriber::fmt()
        .json()
        .with_writer(Arc::clone(&log));
    let logged = logged.finish();
    // With one subscriber in the process, tracing asks the thread that first meets a log line whether it is
    // wanted, and remembers that thread's answer. With two it asks both.
    let _other = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let _logged = tracing::subscriber::set_default(logged);
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let _controller = world.start(Options {
        driver_health_period: Some(Duration::from_millis(20)),
        ..World::quick()
    });
    world.settle_basics(2).await;
    world.create(&manifests::load_balancer("going")).await;
    until("it is created", async || {
        let lb = world.get::<LoadBalancer>("going").await;
        let created = lb.status?.lb_info;
        (!created.is_empty()).then_some(())
    })
    .await;
    // Decisions are asked for once, and listing is for audits.
    let is_repeated =
        |it: &&WebhookInfo| it.class != Class::Verdict && it.obligation != Obligation::Listed;
    let webhooks = ALL.iter().filter(is_repeated).map(|it| it.name);
    let webhooks: Vec<&str> = webhooks.collect();
    let hostile = |number: u64| {
        let place = usize::try_from(number).unwrap() % PLACES;
        proxy.rule(move |call| {
            // Others would be done then.
            let is_refused = matches!(call.webhook.as_str(), "generateBackendAddr" | "healthz");
            let place = if place == SUCCESS && !is_refused {
                0
            } else {
                place
            };
            let (code, body) = response(place, &text(number));
            ProxyAction::Reply(code, body)
        });
    };
    hostile(0);
    world.create(&manifests::load_balancer("new")).await;
    world.delete::<LoadBalancer>(NAMESPACE, "going").await;
    world.create(&manifests::pod("web-2")).await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    let weight = json!({"spec": {"parameters": {"weight": "7"}}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, weight).await;
    let name = json!({"spec": {"attributes": {"name": "other"}}});
    world.patch::<LoadBalancer>(NAMESPACE, LB, name).await;
    for number in 0..3 * PLACES as u64 {
        hostile(number);
        let count = |webhook: &&str| proxy.calls_of(webhook).len();
        let before: Vec<usize> = webhooks.iter().map(count).collect();
        until("every webhook is called twice", async || {
            let mut counts = webhooks.iter().zip(&before);
            let called =
                counts.all(|(webhook, before)| proxy.calls_of(webhook).len() >= before + 2);
            called.then_some(())
        })
        .await;
        check_all::<LoadBalancerDriver>(&world).await;
        check_all::<LoadBalancer>(&world).await;
        check_all::<BackendGroup>(&world).await;
        check_all::<BackendRecord>(&world).await;
        check_all::<Bind>(&world).await;
    }
    for event in world.all::<Event>().await {
        check(&serde_json::to_value(event).unwrap(), "event");
    }
    let mut written = String::new();
    (&*log).rewind().unwrap();
    (&*log).read_to_string(&mut written).unwrap();
    assert!(written.contains("the driver failed"), "{written}");
    for line in written.lines() {
        check(&serde_json::from_str(line).unwrap(), "log");
    }
    proxy.forward_all();
    world.delete::<LoadBalancer>(NAMESPACE, "new").await;
    world.delete_basics().await;
}
