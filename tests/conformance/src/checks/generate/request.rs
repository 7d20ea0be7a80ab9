//! Optional fields of the request.

use super::variants::sent_as;
use super::{COMPLETE, address, prerequisite, stable_address};
use crate::check::{Check, Group, Need};
use crate::lab::{DriverReply, Lab};
use crate::outcome::CheckOutcome;
use serde_json::{Map, Value, json};

pub(super) static GEN_05: Check = Check {
    id: "GEN-05",
    rule: "generateBackendAddr returns an address without parameters as well as with them",
    why: "The specification has parameters in this request, but the original controller leaves \
          them null. A driver that requires them never gets a backend registered there.",
    source: "Original controller, generatePodAddr (b120, b152, u11, d4)",
    typical: "parameters is accessed without a check for null. Derive the address without it, and \
              read parameters in ensureBackend.",
    needs: &[Need::LoadBalancer, Need::GeneratedBackend],
    ..Check::must(Group::Gen, |lab| Box::pin(gen_05(lab)))
};

async fn gen_05(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    for backend in lab.generated_backends(&load_balancer) {
        let with = backend
            .generate()
            .with("parameters", json!(backend.parameters));
        let since = "also with parameters, as in the specification";
        let with = address(lab, &with, since).await;

        let null = backend.generate().with("parameters", Value::Null);
        let since = "also with parameters null, as the original controller sends it";
        match (address(lab, &null, since).await, &with) {
            // The missing address does not depend on parameters.
            (Err(failed), Err(_)) => return Err(failed.blocked_by(prerequisite(&backend))),
            (null, _) => drop(null?),
        }
        let (with, _) = with?;
        let stable = stable_address(lab, &backend).await?;

        let absent = backend.generate().without("parameters").unusual();
        let (absent, reply) = address(lab, &absent, "also without parameters").await?;
        is_same(&absent, &stable, "without parameters", &reply)?;
        if with != stable {
            // The specification allows it.
            lab.note(format!(
                "the address of a {} depends on parameters: it does not follow their changes",
                backend.source.backend_type()
            ));
        }
    }
    Ok(())
}

pub(super) static GEN_07: Check = Check {
    id: "GEN-07",
    rule: "The driver accepts the port as port, as portNumber and without a protocol, which \
           defaults to TCP",
    why: "Drivers and controllers of the earlier edition use portNumber only, those of the later \
          one port. A driver that reads both works with either.",
    source: "Original controller, PortSelector (b24, b154)",
    typical: "Only one of the names is read, so that the port becomes 0 or undefined; or a missing \
              protocol is an error.",
    needs: &[Need::LoadBalancer, Need::GeneratedBackend],
    ..Check::should(Group::Gen, |lab| Box::pin(gen_07(lab)))
};

async fn gen_07(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    for backend in lab.generated_backends(&load_balancer) {
        let complete = stable_address(lab, &backend).await?;
        for (how, without) in [
            ("with port alone", "portNumber"),
            ("with portNumber alone", "port"),
            ("without a protocol", "protocol"),
        ] {
            let sent = sent_as(&backend, |sent| {
                if let Some(port) = sent.get_mut("port").and_then(Value::as_object_mut) {
                    Map::remove(port, without);
                }
            });
            let since = format!("also {how}: {COMPLETE}");
            let (addr, reply) = address(lab, &sent.generate().unusual(), &since).await?;
            is_same(&addr, &complete, how, &reply)?;
        }
    }
    Ok(())
}

fn is_same(addr: &str, expected: &str, how: &str, reply: &DriverReply) -> CheckOutcome {
    if addr == expected {
        return Ok(());
    }
    let expected = format!("backendAddr {expected:?} {how}, as for the same backend otherwise");
    Err(reply.failed(expected, format!("backendAddr {addr:?}")))
}
