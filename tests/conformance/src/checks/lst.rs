//! listBackends: the backends of a load balancer, with which controllers find what was left over.

use super::conc::concurrently;
use super::prelude::*;
use crate::lab::listed::{Listed, backends, list};
use lbcf_driver_sdk::webhook::HealthzResponse;

pub(super) const CHECKS: &[&Check] = &[
    &LST_01, &LST_02, &LST_03, &LST_04, &LST_05, &LST_06, &LST_07,
];

/// The number of backends in a list, unless the fixture names one: more than the shortest pages.
const A_FEW: usize = 12;

check! { LST_01 = lst_01, Lst, observer Improves,
    needs [Feature(ListBackends), LoadBalancer, Backend],
    why "The controller compares the list with its records. A backend that is missing is never \
         found when it is left over, and keeps its traffic.",
    source "LBCF webhook specification, listBackends; d52",
    typical "Only the first page of the cloud's list is returned, or addresses have another form \
             than those of generateBackendAddr.",
}

async fn lst_01(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    lab.run.require("ENS-01")?;
    // The cloud's own API may have pages.
    let count = lab.run.fixture.backend.pods.unwrap_or(A_FEW);
    let available = Some(lab.run.fixture.backend.static_addrs.len()).filter(|it| *it > 0);
    let count = available.map_or(count, |available| count.min(available));
    let backends = lab.given_backends(&lb, count).await?;
    let bound = concurrently(lab, backends.iter().map(Backend::ensure).collect()).await;
    bound.blocked_by("CONC-01")?;
    if lab.run.observer.is_some() {
        lab.are_registered(&lb, &backends)
            .await
            .blocked_by("CONC-01")?;
    }
    let list = match lab.run.fixture.load_balancer.reuse {
        true => listed(lab, &lb.lb_info).await?,
        false => {
            let other = lab.given_new_load_balancer().await?;
            let elsewhere = lab.given_registered(&other).await?.addr;
            let list = listed(lab, &lb.lb_info).await?;
            let expected = format!("no backend {elsewhere}, since it is another one's");
            let is_exact = list.find(&elsewhere).is_none();
            list.reply.check(is_exact, expected, "it is listed")?;
            list
        }
    };
    if list.backends.iter().all(|it| it.parameters.is_none()) {
        lab.note("the list has no parameters");
    }
    for backend in &backends {
        let addr = &backend.addr;
        let Some(listed) = &list.has(addr)?.parameters else {
            continue;
        };
        for (key, value) in &backend.parameters {
            let got = listed.get(key).and_then(Value::as_str);
            let expected = format!("parameters.{key} {value:?} of {addr}");
            let got_text = got.map_or_else(|| "none".to_owned(), |got| format!("{got:?}"));
            list.reply.check(got == Some(value), expected, got_text)?;
        }
    }
    Ok(())
}

check! { LST_02 = lst_02, Lst, observer Improves,
    needs [Feature(ListBackends), LoadBalancer, Backend],
    why "The controller reports it as left over, and calls deregisterBackend for it again and \
         again.",
    source "LBCF webhook specification, listBackends; d52",
    typical "The list comes from a cache, or from the driver's own table, instead of the cloud.",
}

async fn lst_02(lab: &Lab) -> CheckOutcome {
    lab.run.require("LST-01")?;
    let (lb, backend) = lab.given_registered_backend().await?;
    let list = listed(lab, &lb.lb_info).await.blocked_by("LST-01")?;
    list.has(&backend.addr).blocked_by("LST-01")?;
    lab.given_deregistered(&backend).await?;
    lab.is_deregistered(&backend).await.blocked_by("DRG-01")?;
    let list = listed(lab, &lb.lb_info).await?;
    let expected = format!("no backend {}, since it was deregistered", backend.addr);
    list.reply
        .check(list.find(&backend.addr).is_none(), expected, "it is listed")
}

check! { LST_03 = lst_03, Lst, observer Required,
    needs [Feature(ListBackends), LoadBalancer, Backend, ForeignBackend],
    why "Controllers call it at an interval, for load balancers that are in use.",
    source "LBCF webhook specification, listBackends; d52",
    typical "The list is used to clean up. The controller decides what is removed, and calls \
             deregisterBackend for it.",
}

async fn lst_03(lab: &Lab) -> CheckOutcome {
    lab.run.require("LST-01")?;
    let lb = lab.given_load_balancer().await?;
    let [foreign, backend, _] = lab.given_three(&lb).await?;
    lab.given_bound(backend).await?;
    lab.modify_backend("foreign", &foreign).await?;
    let before = lab.observed(&lb.lb_info, BOUND).await?;
    for _ in 0..2 {
        listed(lab, &lb.lb_info).await.blocked_by("LST-01")?;
    }
    let since = "since listBackends only reads";
    lab.is_unchanged(&lb.lb_info, before.as_ref(), since).await
}

check! { LST_04 = lst_04, Lst, needs [Feature(ListBackends), LoadBalancer, Backend],
    why "The controller removes a backend that is left over only if its recordID proves that it \
         registered it. By a wrong one it removes a backend of another cluster, or none.",
    source "LBCF webhook specification, listBackends; d52",
    typical "The recordID of the list's own call is returned, or the tag in the cloud contains \
             the retryID, which differs in each call.",
}

async fn lst_04(lab: &Lab) -> CheckOutcome {
    lab.run.require("LST-01")?;
    let (lb, backend) = lab.given_registered_backend().await?;
    // The parameters may change, the recordID stays.
    let backend = lab.given_bound(backend).await?;
    let list = listed(lab, &lb.lb_info).await.blocked_by("LST-01")?;
    let Listed { record_id, .. } = list.has(&backend.addr).blocked_by("LST-01")?;
    if record_id.is_empty() {
        lab.note("the list has no recordID, so controllers report what is left over, and keep it");
        return Ok(());
    }
    let own = format!("ensureBackend({})", backend.uid);
    let expected = format!("recordID {own:?} of {}, or none", backend.addr);
    list.reply
        .check(*record_id == own, expected, format!("{record_id:?}"))
}

check! { LST_05 = lst_05, Lst, observer Required,
    needs [Feature(ListBackends), LoadBalancer, Backend, ForeignBackend],
    why "Controllers never remove what has no recordID. One that the driver makes up costs an \
         operator's server its traffic.",
    source "LBCF webhook specification, listBackends; d52",
    typical "A default is filled in where the cloud has no tag.",
}

async fn lst_05(lab: &Lab) -> CheckOutcome {
    lab.run.require("LST-01")?;
    let (lb, foreign) = lab.given_unregistered_backend().await?;
    lab.modify_backend("foreign", &foreign).await?;
    let list = listed(lab, &lb.lb_info).await.blocked_by("LST-01")?;
    let addr = &foreign.addr;
    let Listed { record_id, .. } = list.has(addr).blocked_by("LST-01")?;
    let expected = format!("no recordID of {addr}, since no call registered it");
    list.reply
        .check(record_id.is_empty(), expected, format!("{record_id:?}"))
}

check! { LST_06 = lst_06, Lst,
    needs [Feature(ListBackends), LoadBalancer, Backend, UnknownLbInfo],
    why "It may have been deleted outside of Kubernetes. Backends of another load balancer would \
         be reported, and removed, as its own.",
    source "LBCF webhook specification, listBackends; d52",
    typical "Without a match, the cloud's API returns the targets of all load balancers.",
}

async fn lst_06(lab: &Lab) -> CheckOutcome {
    lab.run.require("LST-01")?;
    // So that there is a backend elsewhere.
    lab.given_registered_backend().await?;
    let unknown = lab.unknown_load_balancer().lb_info;
    let reply = lab.until_done(&list(lab, &unknown)).await?;
    if reply.status() != Some(Status::Succ) {
        return Ok(());
    }
    let list = List::of(reply)?;
    let Some(listed) = list.backends.first() else {
        return Ok(());
    };
    let got = format!("backend {}", listed.addr);
    Err(list.reply.failed("Fail, or an empty list", got))
}

check! { LST_07 = lst_07, Lst, needs [Feature(ListBackends), LoadBalancer, Backend],
    why "Controllers read answers up to a limit. A backend that two pages have counts twice, and one \
         that none has is never found when it is left over.",
    source "LBCF webhook specification, listBackends; d114",
    typical "Pages are counted by position, which changes when a backend goes, or continue does not \
             know its load balancer.",
}

async fn lst_07(lab: &Lab) -> CheckOutcome {
    lab.run.require("LST-01")?;
    let health = lab.call(&healthz()).await;
    let features = health.field("features").and_then(Value::as_array);
    if !features.is_some_and(|features| features.iter().any(|it| it == HealthzResponse::PAGES)) {
        return Err(CheckError::not_applicable(
            "healthz does not name the feature pages",
        ));
    }
    let lb = lab.given_new_load_balancer().await?;
    let other = lab.given_new_load_balancer().await?;
    let three = lab.given_three(&lb).await?;
    let [elsewhere, ..] = lab.given_three(&other).await?;
    let registered = lab.given_all_bound(three.into()).await?;
    lab.given_bound(elsewhere).await?;
    let call = list(lab, &lb.lb_info);
    let whole = listed(lab, &lb.lb_info).await?;
    for backend in &registered {
        whole.has(&backend.addr).blocked_by("LST-01")?;
    }
    for limit in [1, 2, 3] {
        let mut token = Value::from("");
        let mut pages = Vec::new();
        while pages.len() <= whole.backends.len() {
            let page = call
                .clone()
                .with("limit", Value::from(limit))
                .with("continue", token);
            let reply = lab
                .succeeds(&page.unusual(), "since the load balancer exists")
                .await?;
            let page = List::of(reply)?;
            let got = page.backends.len();
            let expected = format!("at most {limit} backends");
            page.reply.check(got <= limit, expected, format!("{got}"))?;
            token = page.reply.field("continue").cloned().unwrap_or_default();
            pages.push(page);
            if token.as_str().is_none_or(str::is_empty) {
                break;
            }
        }
        let sorted = |lists: &[&List]| {
            let backends = lists.iter().flat_map(|list| &list.backends);
            let mut addresses: Vec<_> = backends.map(|it| it.addr.clone()).collect();
            addresses.sort();
            addresses
        };
        let (got, expected) = (sorted(&pages.iter().collect::<Vec<_>>()), sorted(&[&whole]));
        let expected_text =
            format!("the backends of the whole list in pages of {limit}: {expected:?}");
        whole
            .reply
            .check(got == expected, expected_text, format!("{got:?}"))?;
    }
    Ok(())
}

/// A response with Succ, and its backends.
pub(super) struct List {
    reply: DriverReply,
    backends: Vec<Listed>,
}

impl List {
    /// The backends in a response.
    ///
    /// # Errors
    /// [`CheckError::Failed`], unless they are a list of backends.
    pub(super) fn of(reply: DriverReply) -> CheckOutcome<Self> {
        let backends = backends(&reply)?;
        Ok(Self { reply, backends })
    }

    fn find(&self, addr: &str) -> Option<&Listed> {
        self.backends.iter().find(|listed| listed.addr == addr)
    }

    /// The backend with this address.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when it is not listed.
    pub(super) fn has(&self, addr: &str) -> CheckOutcome<&Listed> {
        self.find(addr).ok_or_else(|| {
            let expected = format!("backend {addr} in the list, since it is registered");
            let addresses: Vec<&str> = self.backends.iter().map(|it| &*it.addr).collect();
            self.reply
                .failed(expected, format!("the listed addresses are {addresses:?}"))
        })
    }
}

/// Lists the backends of a load balancer that exists.
///
/// # Errors
/// [`CheckError::Failed`], unless the driver succeeds with a list of backends.
pub(super) async fn listed(lab: &Lab, lb_info: &StringMap) -> CheckOutcome<List> {
    let since = "since the load balancer exists and the fixture's features name listBackends";
    let reply = lab.succeeds(&list(lab, lb_info), since).await?;
    List::of(reply)
}
