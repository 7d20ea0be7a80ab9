//! The rules by which certificates are signed again.

use super::found::Found;
use super::{
    FOREIGN_REPLACED_AFTER, MAX_CAS, Names, PUBLISH_GRACE, RENEWED_AFTER, REPLACED_IS_SERVED,
};
use jiff::{SignedDuration, Timestamp};

/// What is signed again, and which CA certificates are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::process::serving) struct Plan {
    pub(super) reissue: Reissue,
    /// The indices of the CA certificates that are kept.
    pub(super) keeps: Vec<usize>,
    /// The reason, for the log.
    pub(in crate::process::serving) reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Reissue {
    /// A new CA, which comes before the others.
    pub(super) ca: bool,
    /// A new server's certificate, signed by the CA that is then the first.
    pub(super) server: bool,
}

/// The change that is due; `None` where none is. `published` is how long the CA certificates have been
/// published.
pub(in crate::process::serving) fn decide(
    found: &Found,
    names: &Names,
    published: Option<SignedDuration>,
    now: Timestamp,
) -> Option<Plan> {
    let name = names.first();
    let unusable = found.is_accepted(name, |_| true, now).err();
    if found.is_foreign && unusable.is_none() && !server_is_past(found, FOREIGN_REPLACED_AFTER, now)
    {
        return None;
    }
    let by_signer = found.is_accepted(name, |ca| ca == 0, now).is_ok();
    let plan = |ca: bool, server: bool, reason: String| {
        let reissue = Reissue { ca, server };
        let keeps = cas_in_use(found, names, reissue, by_signer, now);
        Some(Plan {
            reissue,
            keeps,
            reason,
        })
    };

    if let Err(reason) = signer(found, now) {
        return plan(true, unusable.is_some(), reason);
    }
    if let Some(reason) = unusable {
        // A CA that is not published yet is no worse than a certificate that no client accepts.
        let reason = format!("the server's certificate is not accepted: {reason}");
        return plan(false, true, reason);
    }
    let is_published = published.is_some_and(|published| published >= PUBLISH_GRACE);
    if (by_signer || is_published)
        && let Some(reason) = needs_signing(found, names, by_signer, now)
    {
        return plan(false, true, reason);
    }
    if by_signer && found.cas[0].validity.is_past(RENEWED_AFTER, now) {
        let end = found.cas[0].validity.end;
        return plan(true, false, format!("the CA is valid until {end} only"));
    }
    if !found.problems.is_empty() {
        return plan(false, false, "parts of it are damaged".into());
    }
    let reason = "an old CA signed nothing that is in use".into();
    plan(false, false, reason).filter(|plan| plan.keeps.len() < found.cas.len())
}

/// Whether there is a CA to sign with.
fn signer(found: &Found, now: Timestamp) -> Result<(), String> {
    if found.signer.is_none() {
        return Err("there is no CA to sign with".into());
    }
    match found.cas.first() {
        Some(ca) if ca.validity.holds(now) => Ok(()),
        Some(ca) => Err(format!(
            "the CA is valid from {} to {}",
            ca.validity.start, ca.validity.end
        )),
        None => Err("there is no CA to sign with".into()),
    }
}

/// Why a certificate that is accepted should be replaced.
fn needs_signing(found: &Found, names: &Names, by_signer: bool, now: Timestamp) -> Option<String> {
    if !by_signer {
        return Some("there is a new CA, and it has been published".into());
    }
    let server = found.server.as_ref()?;
    if server_is_past(found, RENEWED_AFTER, now) {
        let end = server.validity.end;
        return Some(format!(
            "the server's certificate is valid until {end} only"
        ));
    }
    let missing = names.iter().find(|name| !server.is_for(name))?.to_str();
    Some(format!("the server's certificate is not for {missing:?}"))
}

fn server_is_past(found: &Found, part: (i32, i32), now: Timestamp) -> bool {
    found
        .server
        .as_ref()
        .is_some_and(|server| server.validity.is_past(part, now))
}

/// The CA certificates that a certificate in use may need. Where the server's certificate changes with
/// this plan, or changed lately, other replicas still serve one that an older CA signed.
fn cas_in_use(
    found: &Found,
    names: &Names,
    reissue: Reissue,
    by_signer: bool,
    now: Timestamp,
) -> Vec<usize> {
    let changed_lately = found
        .server
        .as_ref()
        .is_none_or(|server| now.duration_since(server.validity.start) < REPLACED_IS_SERVED);
    let all_are_in_use = reissue != Reissue::default() || !by_signer || changed_lately;
    let is_in_use = |&number: &usize| {
        let is_signer = number == 0 && found.signer.is_some() && !reissue.ca;
        is_signer || (all_are_in_use && !found.cas[number].validity.is_over(now))
    };
    let mut keeps: Vec<usize> = (0..found.cas.len()).filter(is_in_use).collect();
    let most = if reissue.ca { MAX_CAS - 1 } else { MAX_CAS };
    while keeps.len() > most {
        // The oldest is removed, unless this replica's clients need it now.
        let is_free = |&ca: &usize| found.is_accepted(names.first(), |n| n == ca, now).is_err();
        let free = keeps.iter().rposition(is_free);
        keeps.remove(free.unwrap_or(most));
    }
    keeps
}
