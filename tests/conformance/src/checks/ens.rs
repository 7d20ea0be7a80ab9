//! ensureBackend: registering backends and setting their parameters.

use super::elb::is_lacking;
use super::prelude::*;

pub(super) const CHECKS: &[&Check] = &[
    &ENS_01, &ENS_02, &ENS_03, &ENS_04, &ENS_05, &ENS_06, &ENS_07, &ENS_08, &ENS_09, &ENS_10,
    &ENS_11,
];

check! { ENS_01 = ens_01, Ens, observer Improves, needs [LoadBalancer, Backend],
    why "Without it the pod gets no traffic.",
    source "LBCF webhook specification, ensureBackend",
    typical "Succ is returned before the cloud has applied the change, parameters are read under \
             another name, or ensureBackend does not accept the backendAddr that \
             generateBackendAddr returned.",
}

async fn ens_01(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    for parameters in lab.valid_parameters() {
        let mut backend = lab.given_backend(&lb).await?;
        backend.parameters = parameters;
        lab.is_registered(&lab.registered(backend).await?).await?;
    }
    Ok(())
}

check! { ENS_02 = ens_02, Ens, observer Improves, needs [LoadBalancer, Backend],
    why "Controllers repeat ensureBackend after a lost response, after their own restart and \
         periodically. If the driver then fails, they retry indefinitely, and the pod never \
         becomes registered.",
    source "LBCF webhook specification, ensureBackend; b124",
    typical "The cloud's \"already exists\" is returned as Fail. Check first, or treat that error \
             as success.",
}

async fn ens_02(lab: &Lab) -> CheckOutcome {
    let (_, backend) = lab.given_registered_backend().await?;
    let since = "since the backend is registered already";
    lab.keeps_succeeding(lab.repeats(), &backend.ensure(), since)
        .await?;
    lab.is_bound_once(&backend).await
}

check! { ENS_03 = ens_03, Ens, observer Improves,
    needs [LoadBalancer, Backend, UpdateParameters],
    why "The recordID identifies the operation on the object, not the attempt: it never changes. \
         A driver that returns stored results by recordID ignores every later change of a weight.",
    source "LBCF controller: ensureBackend(<uid>) (d28)",
    typical "A table of finished recordIDs, or \"already registered, nothing to do\". Compare the \
             parameters, too.",
}

async fn ens_03(lab: &Lab) -> CheckOutcome {
    let (_, mut backend) = lab.given_registered_backend().await?;
    let old = backend.parameters.clone();
    let new = lab.updated_parameters(&backend);
    // Back and forth, because a driver that stores results has seen both in the end.
    for parameters in [&new, &old, &new] {
        backend.parameters.clone_from(parameters);
        backend = lab.registered(backend).await?;
        lab.is_registered(&backend).await?;
    }
    Ok(())
}

check! { ENS_04 = ens_04, Ens, observer Improves, needs [LoadBalancer, Backend],
    why "It is null in the first call, and in the next if the first response got lost. A driver \
         may use it, but must not depend on it.",
    source "LBCF webhook specification, injectedInfo; b121, b126",
    typical "The binding's id is read from injectedInfo only. Look the binding up by address when \
             it is missing.",
}

async fn ens_04(lab: &Lab) -> CheckOutcome {
    let (_, backend) = lab.given_registered_backend().await?;
    let latest = json!(backend.injected_info);
    for injected_info in [Value::Null, latest.clone(), json!({}), latest, Value::Null] {
        let since = format!("with injectedInfo {injected_info}, since the backend is registered");
        let call = backend.ensure().with("injectedInfo", injected_info);
        lab.succeeds(&call.unusual(), &since).await?;
    }
    lab.is_registered(&backend).await
}

check! { ENS_05 = ens_05, Ens, observer Improves, needs [LoadBalancer, Backend],
    why "A BackendRecord that is deleted and created again has another uid, and so another \
         recordID. The load balancer and the address identify a backend.",
    source "LBCF controller: lbInfo and backendAddr identify a backend",
    typical "Bindings are stored by recordID, and a binding of another record is a conflict.",
}

async fn ens_05(lab: &Lab) -> CheckOutcome {
    let (_, mut backend) = lab.given_registered_backend().await?;
    backend.uid = lab.uid();
    backend.injected_info = StringMap::new();
    let backend = lab.registered(backend).await?;
    lab.is_registered(&backend).await?;
    // The new record can also deregister it.
    lab.given_deregistered(&backend).await
}

check! { ENS_06 = ens_06, Ens, observer Listed, needs [LoadBalancer, Backend],
    why "Each backend has its own record and its own calls. A driver that replaces the list with \
         the backend of one call takes all others out of service.",
    source "derived: LBCF controllers call for one backend at a time (b157)",
    typical "A cloud API that replaces the whole list of targets, called with one target.",
}

async fn ens_06(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let [first, second, third] = lab.given_three(&lb).await?;
    let first = lab.given_bound(first).await?;
    let mut second = lab.given_bound(second).await?;
    lab.is_registered(&first).await?;
    second.parameters = lab.updated_parameters(&second);
    let second = lab.given_bound(second).await?;
    let third = lab.given_bound(third).await?;
    for backend in [&first, &second, &third] {
        lab.is_registered(backend).await?;
    }
    Ok(())
}

check! { ENS_07 = ens_07, Ens, observer Required,
    needs [LoadBalancer, Backend, ForeignBackend],
    why "Pods may share a load balancer with other servers, and operators may add one by hand. A \
         driver that prunes unknown backends takes them out of service.",
    source "LBCF: consistency goals; b157",
    typical "The driver keeps a list of the backends it expects and removes the rest.",
}

async fn ens_07(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let [foreign, first, second] = lab.given_three(&lb).await?;
    lab.modify_backend("foreign", &foreign).await?;
    let survives = async |after: &str| -> CheckOutcome {
        lab.shown(&lb.lb_info, |seen| {
            let expected = format!("the foreign backend {} still registered", foreign.addr);
            let got = format!("it is missing after {after}");
            Failure::unless(seen.backend(&foreign.addr).is_some(), expected, got)
        })
        .await
    };
    let is_seen = survives("its registration").await;
    is_seen.map_err(|error| error.hint("The observer's /foreign does not register anything."))?;
    let first = lab.given_bound(first).await?;
    survives("ensureBackend of another").await?;
    let second = lab.given_bound(second).await?;
    survives("ensureBackend of a second").await?;
    let ensured = lab.until_done(&lb.ensure()).await?;
    if ensured.status() == Some(Status::Succ) {
        survives("ensureLoadBalancer").await?;
    }
    for backend in [&first, &second] {
        lab.given_deregistered(backend).await?;
        survives("deregisterBackend of another").await?;
    }
    Ok(())
}

check! { ENS_08 = ens_08, Ens, needs [LoadBalancer, Backend, UnknownLbInfo],
    why "It may have been deleted outside of Kubernetes. After Succ the pod counts as registered \
         and gets no traffic.",
    source "LBCF webhook specification, ensureBackend",
    typical "The cloud's \"not found\" is ignored, or becomes 500.",
}

async fn ens_08(lab: &Lab) -> CheckOutcome {
    let (_, mut backend) = lab.given_unregistered_backend().await?;
    backend.lb_info = lab.unknown_load_balancer().lb_info;
    let reply = lab.until_done(&backend.ensure()).await?;
    reply.fail(UNKNOWN)?.has_msg().map(drop)
}

check! { ENS_09 = ens_09, Ens, observer Required,
    needs [LoadBalancer, Backend, Unbinding],
    why "The call exists for this: a backend may be removed by mistake in the cloud's console, \
         and with ensurePolicy Always the controller calls again.",
    source "LBCF: ensurePolicy Always",
    typical "The driver reads its own state, or injectedInfo, instead of the cloud.",
}

async fn ens_09(lab: &Lab) -> CheckOutcome {
    let (_, backend) = lab.given_registered_backend().await?;
    lab.modify_backend("unbind", &backend).await?;
    lab.is_registered(&lab.registered(backend).await?).await
}

check! { ENS_10 = ens_10, Ens, observer Improves, needs [LoadBalancer, Backend, UnusableAddr],
    why "The user wrote the address, and sees only what the controller says. After Succ the backend \
         counts as registered and gets no traffic.",
    source "LBCF webhook specification, ensureBackend",
    typical "The address is stored unread, and whatever uses it later ignores what it cannot read.",
}

async fn ens_10(lab: &Lab) -> CheckOutcome {
    let (lb, mut backend) = lab.given_unregistered_backend().await?;
    let before = lab.observed(&lb.lb_info, CREATED).await?;
    for addr in &lab.run.fixture.backend.unusable_addrs {
        addr.clone_into(&mut backend.addr);
        let reply = lab.until_done(&backend.ensure().unusual()).await?;
        let since = format!("since the fixture declares that the cloud cannot use {addr:?}");
        reply.fail(&since)?.has_msg()?;
        lab.is_unchanged(&lb.lb_info, before.as_ref(), &since)
            .await?;
    }
    Ok(())
}

check! { ENS_11 = ens_11, Ens, observer Listed, needs [LoadBalancer, Backend, UpdateParameters],
    why "A user who deletes a line from a manifest expects that its setting is gone. A weight that stays is found by \
         nobody: the manifest does not show it.",
    source "LBCF webhook specification, ensureBackend",
    typical "The parameters are merged into those of the cloud. Set every parameter that the driver knows, to its \
             default if it is not sent.",
}

async fn ens_11(lab: &Lab) -> CheckOutcome {
    let update = lab.run.fixture.backend.parameters.update.as_ref();
    let mut samples = lab.valid_parameters().into_iter();
    let Some(parameters) = samples.find(|it| is_lacking(it, update)) else {
        let reason = "each of backend.parameters.valid has all of backend.parameters.update";
        return Err(CheckError::not_applicable(reason));
    };
    let lb = lab.given_load_balancer().await?;
    let mut backend = lab.given_backend(&lb).await?;
    backend.parameters = parameters;
    let backend = lab.given_bound(backend).await?;
    let shown = async || -> CheckOutcome<StringMap> {
        let seen = lab.observed(&lb.lb_info, BOUND).await?.unwrap_or_default();
        let seen = seen.backend(&backend.addr).cloned();
        Ok(seen.unwrap_or_default().parameters)
    };
    let before = shown().await?;
    let with = Backend {
        parameters: lab.updated_parameters(&backend),
        ..backend.clone()
    };
    lab.is_registered(&lab.registered(with).await?)
        .await
        .blocked_by("ENS-03")?;
    let reply = lab
        .succeeds(
            &backend.ensure(),
            "since these parameters were accepted before",
        )
        .await?;
    let seen = shown().await?;
    let expected = format!(
        "parameters {} again, as before others were added",
        json!(before)
    );
    reply.check(seen == before, expected, json!(seen).to_string())
}
