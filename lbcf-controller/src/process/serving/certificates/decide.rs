//! The rules by which certificates are signed again.

use super::found::{Ca, Found};
use super::{MAX_CAS, Names, PUBLISH_GRACE, RENEWED_AFTER, REPLACED_IS_SERVED};
use jiff::{SignedDuration, Timestamp};

/// The certificates that are signed again, and the CA certificates that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::process::serving) struct Plan {
    /// A new CA, which comes before the others.
    pub(super) ca: bool,
    /// A new server's certificate, signed by the CA that is then the first.
    pub(super) server: bool,
    /// The indices of the CA certificates that are kept.
    pub(super) keeps: Vec<usize>,
    /// The reason, for the log.
    pub(in crate::process::serving) reason: String,
}

/// The change that is due; `None` where none is. `published` is how long the CA certificates have been
/// published.
pub(in crate::process::serving) fn decide(
    found: &Found,
    names: &Names,
    published: Option<SignedDuration>,
    now: Timestamp,
) -> Option<Plan> {
    let accepted_by = found.accepted_by(names.first(), now);
    let plan = |ca: bool, server: bool, reason: &str| Plan {
        ca,
        server,
        keeps: cas_in_use(found, ca, ca || server, accepted_by, now),
        reason: reason.to_owned(),
    };
    let can_sign = |ca: &&Ca| found.signer.is_some() && ca.validity.holds(now);
    let Some(signer) = found.cas.first().filter(can_sign) else {
        let reason = "there is no CA, or it is not valid now";
        return Some(plan(true, accepted_by.is_none(), reason));
    };
    let Some(accepted_by) = accepted_by else {
        // A CA that is not published yet is no worse than a certificate that no client accepts.
        return Some(plan(false, true, "clients do not accept the server's"));
    };
    let is_published = published.is_some_and(|published| published >= PUBLISH_GRACE);
    if (accepted_by == 0 || is_published)
        && let Some(reason) = needs_signing(found, names, accepted_by, now)
    {
        return Some(plan(false, true, &reason));
    }
    if accepted_by == 0 && signer.validity.is_past(RENEWED_AFTER, now) {
        let reason = format!("the CA is valid until {} only", signer.validity.end);
        return Some(plan(true, false, &reason));
    }
    let plan = plan(false, false, "an old CA signed nothing that is in use");
    (plan.keeps.len() < found.cas.len()).then_some(plan)
}

/// Why a certificate that is accepted should be replaced.
fn needs_signing(found: &Found, names: &Names, ca: usize, now: Timestamp) -> Option<String> {
    if ca > 0 {
        return Some("there is a new CA, and it has been published".into());
    }
    let server = found.server.as_ref()?;
    if server.validity.is_past(RENEWED_AFTER, now) {
        let end = server.validity.end;
        return Some(format!(
            "the server's certificate is valid until {end} only"
        ));
    }
    let missing = names.iter().find(|name| !server.is_for(name))?.to_str();
    Some(format!("the server's certificate is not for {missing:?}"))
}

/// The CA certificates that a certificate in use may need. Where the server's certificate or its CA
/// changes, or changed lately, other replicas still serve one that an older CA signed.
fn cas_in_use(
    found: &Found,
    is_new_ca: bool,
    changes: bool,
    accepted_by: Option<usize>,
    now: Timestamp,
) -> Vec<usize> {
    let changed_lately = found
        .server
        .as_ref()
        .is_none_or(|server| now.duration_since(server.validity.start) < REPLACED_IS_SERVED);
    let all_are_in_use = changes || accepted_by != Some(0) || changed_lately;
    let is_in_use = |&number: &usize| {
        let signs = number == 0 && !is_new_ca;
        signs || (all_are_in_use && !found.cas[number].validity.is_over(now))
    };
    let mut keeps: Vec<usize> = (0..found.cas.len()).filter(is_in_use).collect();
    let most = MAX_CAS - usize::from(is_new_ca);
    while keeps.len() > most {
        // The oldest is removed, unless this replica's clients need it now.
        let is_free = |&ca: &usize| Some(ca) != accepted_by;
        let free = keeps.iter().rposition(is_free);
        keeps.remove(free.unwrap_or(most));
    }
    keeps
}
