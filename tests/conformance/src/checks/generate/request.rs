//! What may be in the request, or not.

use super::variants::sent_as;
use super::{POSSIBLE, address, basis_of, kind, steady_address};
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::{Answer, Lab};
use crate::verdict::{NotPassed, Verdict};
use serde_json::{Map, Value, json};

/// Parameters are not needed for an address.
pub(super) static GEN_05: Check = Check {
    id: "GEN-05",
    level: Level::Must,
    group: Group::Gen,
    rule: "There is an address without parameters as well as with them",
    why: "The specification has parameters in this request, but the original controller leaves \
          them null. A driver that needs them never gets a backend registered there.",
    source: "The original's code, generatePodAddr (b120, b152, u11, d4)",
    typical: "parameters is indexed as if it were always there. Make the address without it, and \
              read parameters where the backend is registered.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::GeneratedBackend],
    company: Company::Any,
    code: |lab| Box::pin(gen_05(lab)),
};

async fn gen_05(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    for backend in lab.generated_backends(&load_balancer) {
        let given = backend
            .generate()
            .with("parameters", json!(backend.parameters));
        let since = "also with parameters, as the specification has them";
        let given = address(lab, &given, since).await;

        let null = backend.generate().with("parameters", Value::Null);
        let since = "also with parameters null, as the original controller asks";
        match (address(lab, &null, since).await, &given) {
            // It is not for parameters that there is no address.
            (Err(failed), Err(_)) => return Err(failed.blocked_by(basis_of(&backend))),
            (null, _) => drop(null?),
        }
        let (given, _) = given?;
        let steady = steady_address(lab, &backend).await?;

        let absent = backend.generate().without("parameters").unusual();
        let (absent, answer) = address(lab, &absent, "also without parameters").await?;
        same(&absent, &steady, "without parameters", &answer)?;
        if given != steady {
            // Allowed, as the specification gives them to the driver.
            lab.note(format!(
                "the address of a {} depends on parameters: it stays as it is when they change",
                kind(&backend)
            ));
        }
    }
    Ok(())
}

/// The port has two names.
pub(super) static GEN_07: Check = Check {
    id: "GEN-07",
    level: Level::Should,
    group: Group::Gen,
    rule: "The port is understood as port, as portNumber and without a protocol, which then is TCP",
    why: "Drivers and controllers of the earlier edition know portNumber only, those of the later \
          one port. Who reads both works with either.",
    source: "The original's code, PortSelector (b24, b154)",
    typical: "Only one of the names is read, so that the port becomes 0 or undefined; or a missing \
              protocol is an error.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::GeneratedBackend],
    company: Company::Any,
    code: |lab| Box::pin(gen_07(lab)),
};

async fn gen_07(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    for backend in lab.generated_backends(&load_balancer) {
        let whole = steady_address(lab, &backend).await?;
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
            let since = format!("also {how}: {POSSIBLE}");
            let (addr, answer) = address(lab, &sent.generate().unusual(), &since).await?;
            same(&addr, &whole, how, &answer)?;
        }
    }
    Ok(())
}

fn same(addr: &str, wanted: &str, how: &str, answer: &Answer) -> Result<(), NotPassed> {
    if addr == wanted {
        return Ok(());
    }
    let expected = format!("backendAddr {wanted:?} {how}, as for the same backend otherwise");
    Err(answer.failed(expected, format!("backendAddr {addr:?}")))
}
