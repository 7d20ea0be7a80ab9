//! What is to be done about the certificates: the whole of the rules.

use super::found::Found;
use super::validity::Part;
use super::{MAX_CAS, Names, PUBLISH_GRACE, REPLACED_IS_SERVED};
use jiff::{SignedDuration, Timestamp};

/// What is to be made anew, and what is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::serving) struct Plan {
    pub(super) anew: Anew,
    /// Which of the CA certificates that were found stay, by their places.
    pub(super) keeps: Vec<usize>,
    /// Why, for people.
    pub(in crate::serving) reason: String,
}

/// What is to be made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Anew {
    /// A CA, which goes in front of the others.
    pub(super) ca: bool,
    /// A certificate for the server, signed by the CA that is then first.
    pub(super) server: bool,
}

/// What is to be done; `None` where all is well. `published` says how long the CA certificates
/// have been seen published.
pub(in crate::serving) fn decide(
    found: &Found,
    names: &Names,
    published: Option<SignedDuration>,
    now: Timestamp,
) -> Option<Plan> {
    let name = names.first();
    let unusable = found.is_accepted(name, |_| true, now).err();
    if found.is_foreign && unusable.is_none() && !server_is_past(found, Part::NineTenths, now) {
        // Whoever keeps it without us renews it earlier than that.
        return None;
    }
    let by_signer = found.is_accepted(name, |ca| ca == 0, now).is_ok();
    let plan = |ca: bool, server: bool, reason: String| {
        let anew = Anew { ca, server };
        let keeps = cas_in_use(found, names, anew, by_signer, now);
        Some(Plan {
            anew,
            keeps,
            reason,
        })
    };

    if let Err(reason) = signer(found, now) {
        return plan(true, unusable.is_some(), reason);
    }
    if let Some(reason) = unusable {
        // A CA that is not published yet is no worse than what nobody accepts.
        let reason = format!("the server's certificate is not accepted: {reason}");
        return plan(false, true, reason);
    }
    let is_published = published.is_some_and(|published| published >= PUBLISH_GRACE);
    if (by_signer || is_published)
        && let Some(reason) = wants_signing(found, names, by_signer, now)
    {
        return plan(false, true, reason);
    }
    if by_signer && found.cas[0].validity.is_past(Part::TwoThirds, now) {
        let end = found.cas[0].validity.end();
        return plan(true, false, format!("the CA is valid until {end} only"));
    }
    if !found.problems().is_empty() {
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
            ca.validity.start(),
            ca.validity.end()
        )),
        None => Err("there is no CA to sign with".into()),
    }
}

/// Why a certificate that is accepted should be replaced.
fn wants_signing(found: &Found, names: &Names, by_signer: bool, now: Timestamp) -> Option<String> {
    if !by_signer {
        return Some("there is a new CA, and it has been published".into());
    }
    let server = found.server.as_ref()?;
    if server_is_past(found, Part::TwoThirds, now) {
        let end = server.validity().end();
        return Some(format!(
            "the server's certificate is valid until {end} only"
        ));
    }
    let missing = names.iter().find(|name| !server.is_for(name))?.to_str();
    Some(format!("the server's certificate is not for {missing:?}"))
}

fn server_is_past(found: &Found, part: Part, now: Timestamp) -> bool {
    found
        .server
        .as_ref()
        .is_some_and(|server| server.validity().is_past(part, now))
}

/// The CA certificates that a certificate in use may need. Where what is served changes with this
/// plan, or changed lately, other replicas still serve what an older CA signed.
fn cas_in_use(
    found: &Found,
    names: &Names,
    anew: Anew,
    by_signer: bool,
    now: Timestamp,
) -> Vec<usize> {
    let changed_lately = found
        .server
        .as_ref()
        .is_none_or(|server| now.duration_since(server.validity().start()) < REPLACED_IS_SERVED);
    let all_are_in_use = anew != Anew::default() || !by_signer || changed_lately;
    let is_in_use = |&number: &usize| {
        let is_signer = number == 0 && found.signer.is_some() && !anew.ca;
        is_signer || (all_are_in_use && !found.cas[number].validity.is_over(now))
    };
    let mut keeps: Vec<usize> = (0..found.cas.len()).filter(is_in_use).collect();
    let most = if anew.ca { MAX_CAS - 1 } else { MAX_CAS };
    while keeps.len() > most {
        // The oldest goes, but for the one that this replica's callers need now.
        let is_free = |&ca: &usize| found.is_accepted(names.first(), |n| n == ca, now).is_err();
        let free = keeps.iter().rposition(is_free);
        keeps.remove(free.unwrap_or(most));
    }
    keeps
}
