//! Mutants of the wire: something between the kit and a right driver changes one thing in the calls of one webhook. What a
//! controller can observe has to be found; `docs/mutants.md` has the totals, and what is not found with the reason.
//!
//! LBCF_EXHAUSTIVE=1 UPDATE_MUTANTS=1 cargo test -p lbcf-conformance --test main -- mutants

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use lbcf_conformance::Suite;
use lbcf_conformance::check::Level;
use lbcf_conformance::report::{Report, Status};
use lbcf_conformance::settings::Settings;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::ServiceExt as _;

const LARGEST: usize = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// The response lacks a member, has it in another type, or empty.
    Without(&'static str),
    OtherType(&'static str),
    Empty(&'static str),
    /// The response has another status, or the result of another outcome.
    Http(u16),
    Succeeds,
    Fails,
    RunsForever,
    /// The body is cut, or comes twice.
    Cut,
    Twice,
    /// The answer to the call before; every fifth one after the timeout.
    Former,
    Late,
    /// The driver gets a request without a member, or the same request twice, or none at all.
    RequestWithout(&'static str),
    Again,
    Lost,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Without(name) => write!(f, "answers without {name}"),
            Self::OtherType(name) => write!(f, "answers with {name} of another type"),
            Self::Empty(name) => write!(f, "answers with an empty {name}"),
            Self::Http(status) => write!(f, "answers with HTTP status {status}"),
            Self::Succeeds => write!(f, "answers with success where it fails"),
            Self::Fails => write!(f, "answers with failure where it succeeds"),
            Self::RunsForever => write!(f, "answers with Running for ever"),
            Self::Cut => write!(f, "answers with half a body"),
            Self::Twice => write!(f, "answers with the body twice"),
            Self::Former => write!(f, "answers with the response to the call before"),
            Self::Late => write!(f, "answers each fifth call after the timeout"),
            Self::RequestWithout(name) => write!(f, "does not read {name}"),
            Self::Again => write!(f, "does everything twice"),
            Self::Lost => write!(f, "does nothing, and answers with its last success"),
        }
    }
}

/// The webhooks, with the members of their responses beside msg, and those of their requests.
const WEBHOOKS: &[(&str, &[&str], &[&str])] = &[
    ("healthz", &["healthy", "specification", "features"], &[]),
    (
        "validateLoadBalancer",
        &["succ"],
        &["lbSpec", "attributes", "operation", "oldAttributes"],
    ),
    (
        "createLoadBalancer",
        &["status", "lbInfo"],
        &["recordID", "lbSpec", "attributes", "dryRun"],
    ),
    (
        "ensureLoadBalancer",
        &["status"],
        &["recordID", "lbInfo", "attributes", "dryRun"],
    ),
    (
        "deleteLoadBalancer",
        &["status"],
        &["recordID", "lbInfo", "dryRun"],
    ),
    (
        "validateBackend",
        &["succ"],
        &["backendType", "parameters", "operation", "oldParameters"],
    ),
    (
        "generateBackendAddr",
        &["status", "backendAddr"],
        &["podBackend", "serviceBackend", "endpointBackend", "lbInfo"],
    ),
    (
        "ensureBackend",
        &["status"],
        &[
            "recordID",
            "lbInfo",
            "backendAddr",
            "parameters",
            "injectedInfo",
            "dryRun",
        ],
    ),
    (
        "deregisterBackend",
        &["status"],
        &["recordID", "lbInfo", "backendAddr", "parameters", "dryRun"],
    ),
    (
        "judgePodDeregister",
        &["succ", "doNotDeregister"],
        &["notReadyPods"],
    ),
    (
        "listBackends",
        &["status", "backends"],
        &["lbInfo", "limit", "continue"],
    ),
];

/// Mutants that no check finds, each with the reason: most are equivalent, as nothing that a controller observes differs.
const NOT_FOUND: &[(&str, Change, &str)] = &[
    (
        "*",
        Change::Again,
        "equivalent: operations are idempotent, and decisions change nothing",
    ),
    (
        "healthz",
        Change::Without("msg"),
        "equivalent: controllers read no msg of it",
    ),
    (
        "healthz",
        Change::OtherType("msg"),
        "equivalent: there is no msg",
    ),
    (
        "healthz",
        Change::Succeeds,
        "equivalent: the mock is always healthy",
    ),
    (
        "healthz",
        Change::Former,
        "equivalent: each response is the same",
    ),
    (
        "healthz",
        Change::Lost,
        "equivalent: each response is the same",
    ),
    (
        "healthz",
        Change::Without("specification"),
        "a driver need not name a version",
    ),
    (
        "healthz",
        Change::Empty("specification"),
        "a driver need not name a version",
    ),
    (
        "healthz",
        Change::Without("features"),
        "a driver need not have features",
    ),
    (
        "healthz",
        Change::Empty("features"),
        "a driver need not have features",
    ),
    (
        "validateLoadBalancer",
        Change::RequestWithout("oldAttributes"),
        "equivalent: the mock compares with its cloud",
    ),
    (
        "validateBackend",
        Change::RequestWithout("oldParameters"),
        "equivalent: each parameter of the mock can change",
    ),
    (
        "validateBackend",
        Change::RequestWithout("backendType"),
        "equivalent: the mock takes every type",
    ),
    (
        "validateBackend",
        Change::RequestWithout("operation"),
        "equivalent: controllers send Create and Update only",
    ),
    (
        "ensureLoadBalancer",
        Change::RequestWithout("recordID"),
        "equivalent: lbInfo names the load balancer",
    ),
    (
        "deleteLoadBalancer",
        Change::RequestWithout("lbInfo"),
        "equivalent: the uid in recordID names what was created, and what was adopted stays",
    ),
    (
        "deleteLoadBalancer",
        Change::Without("msg"),
        "it fails in an outage only, where the kit reads the msg of other calls",
    ),
    (
        "deregisterBackend",
        Change::Without("msg"),
        "it fails in an outage only, where the kit reads the msg of other calls",
    ),
    (
        "generateBackendAddr",
        Change::Without("msg"),
        "Fail has a msg, which GEN-08 reads where pods have no IP; the mock is Running there",
    ),
    (
        "ensureBackend",
        Change::RequestWithout("recordID"),
        "the recordID in lists is optional: a cloud may have no room for it",
    ),
    (
        "ensureBackend",
        Change::RequestWithout("injectedInfo"),
        "equivalent: the mock injects nothing",
    ),
    (
        "deregisterBackend",
        Change::RequestWithout("recordID"),
        "equivalent: lbInfo and backendAddr name the backend",
    ),
    (
        "deregisterBackend",
        Change::RequestWithout("parameters"),
        "equivalent: lbInfo and backendAddr name the backend",
    ),
    (
        "judgePodDeregister",
        Change::Without("msg"),
        "equivalent: it never refuses",
    ),
    (
        "judgePodDeregister",
        Change::Succeeds,
        "equivalent: it never refuses",
    ),
    (
        "judgePodDeregister",
        Change::Without("doNotDeregister"),
        "which pods stay is the driver's decision",
    ),
    (
        "judgePodDeregister",
        Change::Empty("doNotDeregister"),
        "which pods stay is the driver's decision",
    ),
    (
        "judgePodDeregister",
        Change::RequestWithout("notReadyPods"),
        "which pods stay is the driver's decision",
    ),
];

/// An equivalent mutant leaves, for each call that a controller may make, the cloud in the same state, and answers with
/// what controllers read as the same.
fn reason(webhook: &str, change: Change) -> Option<&'static str> {
    let mut known = NOT_FOUND.iter();
    let found = known.find(|(of, what, _)| (*of == "*" || *of == webhook) && *what == change);
    found.map(|(_, _, reason)| *reason)
}

fn mutants() -> Vec<(&'static str, Change)> {
    let mut all = Vec::new();
    for (webhook, response, request) in WEBHOOKS {
        let mut changes = vec![
            Change::Without("msg"),
            Change::OtherType("msg"),
            Change::Http(201),
            Change::Http(500),
            Change::Succeeds,
            Change::Fails,
            Change::Cut,
            Change::Twice,
            Change::Former,
            Change::Late,
            Change::Again,
            Change::Lost,
        ];
        if response.contains(&"status") {
            changes.push(Change::RunsForever);
        }
        for member in *response {
            changes.extend([
                Change::Without(member),
                Change::OtherType(member),
                Change::Empty(member),
            ]);
        }
        changes.extend(request.iter().map(|member| Change::RequestWithout(member)));
        all.extend(changes.into_iter().map(|change| (*webhook, change)));
    }
    all
}

/// What the mutants remember between two calls.
type Memory = Arc<Mutex<(u32, Option<Value>)>>;

fn mutant(inner: Router, webhook: &'static str, change: Change) -> Router {
    let memory = Memory::default();
    Router::new().fallback(move |request: Request<Body>| async move {
        if request.uri().path().trim_start_matches('/') != webhook {
            return inner.oneshot(request).await.unwrap();
        }
        let (head, body) = request.into_parts();
        let Ok(mut body) = to_bytes(body, LARGEST).await else {
            return StatusCode::BAD_REQUEST.into_response();
        };
        if let (Change::RequestWithout(name), Ok(mut value)) =
            (change, serde_json::from_slice::<Value>(&body))
        {
            if let Some(members) = value.as_object_mut() {
                members.retain(|key, _| !key.eq_ignore_ascii_case(name));
            }
            body = value.to_string().into();
        }
        let call = |body: Bytes| {
            inner
                .clone()
                .oneshot(Request::from_parts(head.clone(), Body::from(body)))
        };
        if change == Change::Again {
            let _ = call(body.clone()).await;
        }
        let last = memory.lock().unwrap().1.clone();
        if let (Change::Lost, Some(last)) = (change, last) {
            return axum::Json(last).into_response();
        }
        let response = call(body).await.unwrap();
        changed(response, change, &memory).await
    })
}

async fn changed(response: Response, change: Change, memory: &Memory) -> Response {
    let (mut head, body) = response.into_parts();
    head.headers.remove("content-length");
    let body = to_bytes(body, LARGEST).await.unwrap();
    let mut value: Value = serde_json::from_slice(&body).unwrap_or_default();
    let is_success = value["status"] == "Succ" || value["succ"] == true || value["healthy"] == true;
    let (count, former) = {
        let mut memory = memory.lock().unwrap();
        memory.0 += 1;
        let remembers = is_success || change == Change::Former;
        let former = if remembers {
            memory.1.replace(value.clone())
        } else {
            None
        };
        (memory.0, former)
    };
    let (good, bad) = (
        json!({"status": "Succ", "succ": true, "healthy": true}),
        json!({"status": "Fail", "succ": false, "healthy": false}),
    );
    let says = |value: &mut Value, what: &Value| {
        for (key, new) in what.as_object().unwrap() {
            if value.get(key).is_some() {
                value[key] = new.clone();
            }
        }
    };
    match change {
        Change::Without(name) => drop(value.as_object_mut().and_then(|it| it.remove(name))),
        Change::OtherType(name) if value.get(name).is_some() => {
            value[name] = match &value[name] {
                Value::String(_) => json!(7),
                Value::Bool(it) => json!(it.to_string()),
                _ => json!("text"),
            };
        }
        Change::Empty(name) if value.get(name).is_some() => {
            value[name] = match &value[name] {
                Value::String(_) => json!(""),
                Value::Array(_) => json!([]),
                Value::Object(_) => json!({}),
                _ => Value::Null,
            };
        }
        Change::Http(status) => head.status = StatusCode::from_u16(status).unwrap(),
        Change::Succeeds if !is_success => says(&mut value, &good),
        Change::Fails if is_success => says(&mut value, &bad),
        Change::RunsForever if is_success => value["status"] = json!("Running"),
        Change::Cut => return Response::from_parts(head, body.slice(..body.len() / 2).into()),
        Change::Twice => return Response::from_parts(head, [body.clone(), body].concat().into()),
        Change::Former => value = former.unwrap_or(value),
        Change::Late if count % 5 == 0 => tokio::time::sleep(Duration::from_secs(11)).await,
        _ => return Response::from_parts(head, body.into()),
    }
    Response::from_parts(head, value.to_string().into())
}

async fn judged(webhook: &'static str, change: Change) -> Report {
    let options = mock_driver::MockOptions {
        stage_duration: Duration::ZERO,
        name_delays: false,
        ..mock_driver::MockOptions::default()
    };
    let driver = mock_driver::ClbDriver::new(mock_driver::Cloud::with_samples(), options);
    let router = mutant(mock_driver::router(driver), webhook, change);
    let mut fixture = crate::matrix::fixture(crate::matrix::FIXTURE);
    fixture.budgets.asynchronous = Duration::from_secs(3);
    fixture.budgets.total = Duration::from_secs(3600);
    // Enough for what one change does, in less time.
    fixture.backend.pods = Some(3);
    let settings = Settings {
        repeat: 3,
        concurrency: 8,
        ..Settings::default()
    };
    let suite = Suite::of_router(router).fixture(fixture).settings(settings);
    suite.run().await.unwrap()
}

/// The highest level of a rule that the mutant fails.
fn found(webhook: &'static str, change: Change) -> Option<Level> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let report = runtime.block_on(judged(webhook, change));
    let failed = report
        .results
        .iter()
        .filter(|it| it.status == Status::Failed);
    let levels: Vec<Level> = failed.map(|it| it.level).collect();
    let of = |level| levels.contains(&level).then_some(level);
    of(Level::Must).or_else(|| of(Level::Should))
}

type Found = BTreeMap<usize, (&'static str, Change, Option<Level>)>;

fn document(found: &Found) -> String {
    let count = |level| found.values().filter(|it| it.2 == level).count();
    let (must, should) = (count(Some(Level::Must)), count(Some(Level::Should)));
    let missed: Vec<_> = found.values().filter(|it| it.2.is_none()).collect();
    let mut text = format!(
        "# Mutants\n\nHow the conformance kit judges a right driver, the mock, with one thing wrong in the calls of one webhook. \
         Written by\n`LBCF_EXHAUSTIVE=1 UPDATE_MUTANTS=1 cargo test -p lbcf-conformance --test main -- mutants`.\n\n\
         A mutant is equivalent if for every call that a controller may make it leaves the cloud in the same state, and answers \
         with\nwhat a controller reads as the same.\n\n\
         | mutants | fail a MUST | fail a SHOULD only | not found |\n|---|---|---|---|\n| {} | {must} | {should} | {} |\n\n\
         | webhook | mutant | why it is not found |\n|---|---|---|\n",
        found.len(),
        missed.len()
    );
    for (webhook, change, _) in missed {
        let reason = reason(webhook, *change).unwrap_or("NO REASON IS KNOWN");
        let _ = writeln!(text, "| {webhook} | {change} | {reason} |");
    }
    text
}

#[test]
fn exhaustive_mutants_of_the_wire_are_found() {
    let is_exhaustive = std::env::var_os("LBCF_EXHAUSTIVE").is_some();
    let all: Vec<_> = mutants().into_iter().enumerate().collect();
    let sample = fastrand::Rng::with_seed(1).choose_multiple(all.clone(), 2);
    let left = Mutex::new(if is_exhaustive { all } else { sample });
    let results = Mutex::new(Found::new());
    let next = || left.lock().unwrap().pop();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((number, (webhook, change))) = next() {
                    let level = found(webhook, change);
                    results
                        .lock()
                        .unwrap()
                        .insert(number, (webhook, change, level));
                }
            });
        }
    });
    let results = results.into_inner().unwrap();
    let mut wrong = Vec::new();
    for (webhook, change, level) in results.values() {
        let found = level.map_or_else(|| "not found".to_owned(), |level| level.to_string());
        let _ = writeln!(std::io::stderr(), "{found:10} {webhook:22} {change}");
        let is_known = reason(webhook, *change).is_some();
        wrong.extend((level.is_none() != is_known).then(|| format!("{webhook} {change}: {found}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if is_exhaustive {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mutants.md");
        if std::env::var_os("UPDATE_MUTANTS").is_some() {
            std::fs::write(&path, document(&results)).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), document(&results));
    }
}
