//! The checks, call by call.

use super::{BadValue, Findings, Sample, SampleMap};
use crate::Driver;
use crate::testing::{
    Registered, TestDriver, delete_load_balancer, ensure_load_balancer, validate_backend,
    validate_load_balancer,
};
use crate::webhook::StringMap;
use std::fmt;

/// Runs the life cycle of a load balancer with the sample, each call twice, and returns the rules that
/// the driver breaks: repeated calls have the same result, objects that do not exist can be deleted,
/// a backend's address is unique and stable, and invalid values are refused by name.
///
/// ```
/// use lbcf_driver_sdk::testing::{Sample, TestDriver, check_idempotency, create_load_balancer};
/// # async fn example(my_driver: impl lbcf_driver_sdk::Driver) {
/// let sample = Sample::new(create_load_balancer().spec("vpcID", "vpc-1").spec("port", 80))
///     .parameter("weight", 10)
///     .bad_spec("port", "8o")
///     .bad_parameter("weight", "heavy");
/// let findings = check_idempotency(&TestDriver::new(my_driver), &sample).await;
/// findings.assert_none();
/// # }
/// ```
pub async fn check_idempotency<D: Driver>(driver: &TestDriver<D>, sample: &Sample) -> Findings {
    let mut findings = Findings::default();
    for bad in &sample.bad {
        check_bad(driver, sample, bad, &mut findings).await;
    }
    if let Some(lb_info) = check_create(driver, sample, &mut findings).await {
        let registered = check_backends(driver, sample, &lb_info, &mut findings).await;
        check_delete(driver, sample, &lb_info, &mut findings).await;
        if let Some(registered) = registered {
            findings.note(
                "deregisterBackend succeeds if the load balancer does not exist",
                driver.until_done(registered.deregister()).await.succ(),
            );
        }
    }
    findings
}

async fn check_bad<D: Driver>(
    driver: &TestDriver<D>,
    sample: &Sample,
    bad: &BadValue,
    findings: &mut Findings,
) {
    let request = sample.create.request();
    let rejection = match bad.map {
        SampleMap::Spec | SampleMap::Attributes => {
            let mut call = validate_load_balancer()
                .lb_spec(&request.lb_spec)
                .attributes(&request.attributes);
            call = match bad.map {
                SampleMap::Spec => call.spec(&bad.key, &bad.value),
                _ => call.attribute(&bad.key, &bad.value),
            };
            driver.call(call).await.refused(&bad.key).map(drop)
        }
        SampleMap::Parameters => {
            let call = validate_backend()
                .parameters(&sample.parameters)
                .parameter(&bad.key, &bad.value);
            driver.call(call).await.refused(&bad.key).map(drop)
        }
    };
    findings.note("an invalid value is refused by name", rejection);

    let creation = sample.create.clone().record_id("createLoadBalancer(bad)");
    let creation = match bad.map {
        SampleMap::Spec => creation.spec(&bad.key, &bad.value),
        SampleMap::Attributes => creation.attribute(&bad.key, &bad.value),
        SampleMap::Parameters => return,
    };
    findings.note(
        "createLoadBalancer with an invalid value fails and names it",
        driver.until_done(creation).await.fail(&bad.key),
    );
}

async fn check_create<D: Driver>(
    driver: &TestDriver<D>,
    sample: &Sample,
    findings: &mut Findings,
) -> Option<StringMap> {
    let request = sample.create.request();
    let validation = validate_load_balancer()
        .lb_spec(&request.lb_spec)
        .attributes(&request.attributes);
    findings.note(
        "validateLoadBalancer accepts the sample",
        driver.call(validation).await.accepted(),
    );
    let created = findings.note(
        "createLoadBalancer succeeds with the sample",
        driver.until_done(&sample.create).await.succ(),
    )?;
    let again = driver.until_done(&sample.create).await.succ();
    findings.note(
        "createLoadBalancer repeated with the same recordID returns the same lbInfo",
        again.and_then(|again| same(&created.lb_info, &again.lb_info)),
    );
    let lb_info = if created.lb_info.is_empty() {
        request.lb_spec.clone()
    } else {
        created.lb_info
    };
    let ensure = ensure_load_balancer()
        .lb_info(&lb_info)
        .attributes(&request.attributes);
    for _ in 0..2 {
        findings.note(
            "ensureLoadBalancer succeeds with unchanged attributes",
            driver.until_done(&ensure).await.succ(),
        );
    }
    Some(lb_info)
}

async fn check_backends<D: Driver>(
    driver: &TestDriver<D>,
    sample: &Sample,
    lb_info: &StringMap,
    findings: &mut Findings,
) -> Option<Registered> {
    let validation = validate_backend()
        .lb_info(lb_info)
        .parameters(&sample.parameters);
    findings.note(
        "validateBackend accepts the sample",
        driver.call(validation).await.accepted(),
    );
    let addrs = check_addresses(driver, sample, lb_info, findings).await?;
    let registered = addrs.map(|backend_addr| Registered {
        lb_info: lb_info.clone(),
        backend_addr,
        parameters: sample.parameters.clone(),
        injected_info: StringMap::new(),
    });
    for backend in registered.clone() {
        check_registration(driver, backend, findings).await;
    }
    let [one, _] = registered;
    Some(one)
}

async fn check_addresses<D: Driver>(
    driver: &TestDriver<D>,
    sample: &Sample,
    lb_info: &StringMap,
    findings: &mut Findings,
) -> Option<[String; 2]> {
    let mut addrs = [String::new(), String::new()];
    for (backend, addr) in sample.backends.iter().zip(&mut addrs) {
        let generate = backend
            .clone()
            .lb_info(lb_info)
            .parameters(&sample.parameters);
        let generated = driver.until_done(&generate).await.succ();
        *addr = findings
            .note("generateBackendAddr succeeds with the sample", generated)?
            .backend_addr;
        let is_empty = addr
            .is_empty()
            .then(|| format!("it is empty: {generate:?}"));
        findings.note(
            "generateBackendAddr returns an address that is not empty",
            is_empty.map_or(Ok(()), Err),
        );
        let again = driver.until_done(&generate).await.succ();
        findings.note(
            "generateBackendAddr returns the same address each time",
            again.and_then(|again| same(addr, &again.backend_addr)),
        );
    }
    let [one, other] = &addrs;
    let is_shared = (one == other).then(|| format!("both have {one:?}"));
    findings.note(
        "each backend has an address of its own",
        is_shared.map_or(Ok(()), Err),
    );
    Some(addrs)
}

async fn check_registration<D: Driver>(
    driver: &TestDriver<D>,
    mut backend: Registered,
    findings: &mut Findings,
) {
    findings.note(
        "deregisterBackend succeeds if the backend was never registered",
        driver.until_done(backend.deregister()).await.succ(),
    );
    for rule in [
        "ensureBackend succeeds with the sample",
        "ensureBackend succeeds if the backend is registered",
    ] {
        let ensured = driver.until_done(backend.ensure()).await.succ();
        if let Some(ensured) = findings.note(rule, ensured) {
            // An empty map leaves the stored one unchanged.
            if !ensured.injected_info.is_empty() {
                backend.injected_info = ensured.injected_info;
            }
        }
    }
    for rule in [
        "deregisterBackend succeeds with the sample",
        "deregisterBackend succeeds if the backend is deregistered",
    ] {
        let repeated = driver.until_done(backend.deregister()).await.succ();
        findings.note(rule, repeated);
    }
}

async fn check_delete<D: Driver>(
    driver: &TestDriver<D>,
    sample: &Sample,
    lb_info: &StringMap,
    findings: &mut Findings,
) {
    let attributes = &sample.create.request().attributes;
    let delete = delete_load_balancer()
        .lb_info(lb_info)
        .attributes(attributes);
    for rule in [
        "deleteLoadBalancer succeeds with the sample",
        "deleteLoadBalancer succeeds if the load balancer is deleted",
    ] {
        findings.note(rule, driver.until_done(&delete).await.succ());
    }
    let nothing = delete_load_balancer().attributes(attributes);
    findings.note(
        "deleteLoadBalancer succeeds if the load balancer was never created",
        driver.until_done(nothing).await.succ(),
    );
}

fn same<T: PartialEq + fmt::Debug>(first: &T, second: &T) -> Result<(), String> {
    (first == second)
        .then_some(())
        .ok_or_else(|| format!("first {first:?}, then {second:?}"))
}
