//! The installation, part by part: definitions, admission, the controller that leads, and each driver.

use crate::cluster::{Cluster, Object, ReadError, Scope};
use crate::finding::Fix;
use crate::object::{INSTALLATION, Kind, KindInfo, ObjectRef};
use crate::why::{not_leading, why};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use lbcf_controller::ObjectKey;
use lbcf_controller::admission::{MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION};
use lbcf_controller::api::{LoadBalancerDriver, crds};
use lbcf_controller::names::{CONTROLLER, SYSTEM_NAMESPACE};
use serde_json::{Value, json};

const CRDS: &str = "lbcf crds | kubectl apply --server-side --force-conflicts -f -";
const WEBHOOKS: &str = "lbcf webhooks | kubectl apply --server-side --force-conflicts -f -";

/// A part of the installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name, such as `CRD binds.lbcf.tkestack.io`.
    pub name: String,
    /// Its state.
    pub state: State,
}

/// The state of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It works; more about it.
    Works(String),
    /// The user may not see it, or it is optional; more about it.
    Unknown(String),
    /// The problem, and what helps.
    Broken(String, Fix),
}

/// Looks at each part. Admission is asked to admit a driver in a dry run, which stores nothing.
///
/// # Errors
/// [`ReadError`], unless the user only may not see something.
pub async fn check(client: &Client, scope: &Scope) -> Result<Vec<Part>, ReadError> {
    let mut cluster = Cluster::read(client, scope).await?;
    for info in INSTALLATION {
        cluster.list(client, info, "").await?;
    }
    let mut parts = definitions(&cluster);
    parts.extend(configurations(&cluster));
    parts.push(part("admission", admission(client).await));
    parts.push(part("controller", controller(&cluster)));
    parts.extend(drivers(&cluster));
    Ok(parts)
}

fn part(name: impl Into<String>, state: State) -> Part {
    let name = name.into();
    Part { name, state }
}

fn run(line: &str) -> Fix {
    Fix::Run(line.to_owned())
}

/// The object of the cluster, unless it is missing, or may be.
fn find<'a>(
    cluster: &'a Cluster,
    info: &KindInfo,
    name: &str,
    fix: &str,
) -> Result<&'a Object, State> {
    let object = ObjectRef::new(info.kind, ObjectKey::new("", name));
    cluster
        .get(&object)
        .ok_or_else(|| match cluster.sees(&object) {
            true => State::Broken("does not exist".to_owned(), run(fix)),
            false => State::Unknown("may not be seen".to_owned()),
        })
}

fn definitions(cluster: &Cluster) -> Vec<Part> {
    let definitions = crds().into_iter().map(|crd| {
        let name = crd.metadata.name.clone().unwrap_or_default();
        let own = serde_json::to_value(&crd.spec.versions).unwrap_or_default();
        let state = find(cluster, &INSTALLATION[0], &name, CRDS).map(|stored| {
            match contains(stored.at("/spec/versions"), &own) {
                true if stored.has_condition("Established") => {
                    State::Works("as this version has it".to_owned())
                }
                true => State::Broken(
                    "is not established".to_owned(),
                    Fix::advice("See its conditions."),
                ),
                false => State::Broken("differs from that of this version".to_owned(), run(CRDS)),
            }
        });
        part(format!("CRD {name}"), state.unwrap_or_else(|state| state))
    });
    definitions.collect()
}

/// True if a value has all of another one, as an API server adds defaults.
fn contains(stored: &Value, own: &Value) -> bool {
    match (stored, own) {
        (Value::Object(stored), Value::Object(own)) => own.iter().all(|(key, own)| {
            own.is_null() || stored.get(key).is_some_and(|stored| contains(stored, own))
        }),
        (Value::Array(stored), Value::Array(own)) => {
            let mut pairs = stored.iter().zip(own);
            stored.len() == own.len() && pairs.all(|(stored, own)| contains(stored, own))
        }
        // The numbers of JSON: 0 and 0.0 are one.
        _ => stored == own || stored.as_f64().is_some_and(|it| Some(it) == own.as_f64()),
    }
}

fn configurations(cluster: &Cluster) -> Vec<Part> {
    let names = [MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION];
    let parts = names.iter().zip(&INSTALLATION[1..]).map(|(name, info)| {
        let state = find(cluster, info, name, WEBHOOKS).map(|stored| {
            let webhooks = stored.list("/webhooks");
            let without = webhooks.iter().find(|it| {
                it["clientConfig"]["caBundle"]
                    .as_str()
                    .unwrap_or_default()
                    .is_empty()
            });
            match without {
                Some(webhook) => State::Broken(
                    format!("{} has no caBundle", webhook["name"]),
                    Fix::advice("The controller writes it: /readyz says what keeps it from that."),
                ),
                None => State::Works(format!("{} webhooks", webhooks.len())),
            }
        });
        part(
            format!("{} {name}", info.name),
            state.unwrap_or_else(|state| state),
        )
    });
    parts.collect()
}

/// Certificates, network and the server of admission, by using them.
async fn admission(client: &Client) -> State {
    let resource = ApiResource::erase::<LoadBalancerDriver>(&());
    let drivers: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), SYSTEM_NAMESPACE, &resource);
    let spec = json!({"spec": {"driverType": "Webhook", "url": "http://lbcf-check.invalid"}});
    let driver = DynamicObject::new("lbcf-check", &resource).data(spec);
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    match drivers.create(&params, &driver).await {
        Ok(_) => State::Works("answers".to_owned()),
        Err(kube::Error::Api(status)) if status.message.contains("failed calling webhook") => {
            State::Broken(
                status.message.clone(),
                Fix::advice(
                    "See that the controller runs and its Service has endpoints; for x509, /readyz of the controller says why it cannot write the CA.",
                ),
            )
        }
        // A webhook's refusal is an answer, too.
        Err(kube::Error::Api(status)) if status.message.contains("denied the request") => {
            State::Works("answers".to_owned())
        }
        Err(kube::Error::Api(status)) if status.code == 404 => {
            State::Unknown("nothing to ask about without the CRDs".to_owned())
        }
        Err(error) => State::Unknown(error.to_string()),
    }
}

fn controller(cluster: &Cluster) -> State {
    if let Some(problem) = not_leading(cluster) {
        return State::Broken(problem.finding.message, problem.finding.fix);
    }
    let object = ObjectRef::new(
        Kind::Deployment,
        ObjectKey::new(SYSTEM_NAMESPACE, CONTROLLER),
    );
    let lease = cluster.get(&object.beside(Kind::Lease, CONTROLLER));
    let holder = lease.map(|it| it.text("/spec/holderIdentity"));
    let Some(deployment) = cluster.get(&object) else {
        return match holder {
            Some(holder) => State::Works(format!("{holder} leads")),
            None => State::Unknown("neither its lease nor its Deployment can be seen".to_owned()),
        };
    };
    let args = deployment.list("/spec/template/spec/containers").iter();
    let mut args = args.flat_map(|it| it["args"].as_array().into_iter().flatten());
    if args.any(|it| it.as_str().is_some_and(|it| it.starts_with("--dry-run"))) {
        let fix = Fix::advice("Take --dry-run out of its arguments, if it is to change something.");
        return State::Broken(
            "changes nothing, because it has the argument --dry-run".to_owned(),
            fix,
        );
    }
    let ready = deployment
        .at("/status/readyReplicas")
        .as_i64()
        .unwrap_or_default();
    match ready {
        0 => State::Broken(
            "has no ready replica".to_owned(),
            Fix::kubectl("logs", &object, ""),
        ),
        _ => State::Works(format!(
            "{} leads, {ready} replicas are ready",
            holder.unwrap_or("no replica")
        )),
    }
}

fn drivers(cluster: &Cluster) -> Vec<Part> {
    let parts = cluster
        .all(Kind::LoadBalancerDriver)
        .map(|(object, driver)| {
            let chains = why(cluster, &object);
            let first = chains.first().and_then(|chain| chain.first());
            let state = match first {
                Some(first) => State::Broken(first.message.clone(), first.fix.clone()),
                None => {
                    let features = driver.texts("/status/features").join(", ");
                    let version = driver.text("/status/specification");
                    State::Works(format!(
                        "{} specification {version:?} features: {features}",
                        driver.text("/spec/url")
                    ))
                }
            };
            part(object.to_string(), state)
        });
    parts.collect()
}

/// A line for each part, with what helps below those that are broken.
#[must_use]
pub fn text(parts: &[Part]) -> String {
    let mut text = String::new();
    for Part { name, state } in parts {
        let (sign, more) = match state {
            State::Works(more) => ('✓', more),
            State::Unknown(more) => ('?', more),
            State::Broken(problem, _) => ('✗', problem),
        };
        crate::printed::push_line(&mut text, &format!("{sign} {name}: {more}"));
        if let State::Broken(_, Fix::Run(fix) | Fix::Advice(fix)) = state {
            crate::printed::push_line(&mut text, &format!("  fix: {fix}"));
        }
    }
    text
}
