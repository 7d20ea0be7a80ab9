//! How a load balancer is paid for. A prepaid one is paid for when it is made, for a time: one
//! that is not prepaid cannot become it, nor the other way round. It is the one change of
//! attributes that is refused.

use lbcf_driver_sdk::webhook::StringMap;

const CHARGE_TYPE: &str = "chargeType";
const PREPAID: &str = "PREPAID";

/// A change between paying before and after.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ForbiddenChange {
    /// It would become prepaid.
    #[error(
        "attributes.chargeType: {0:?}: a load balancer that is not prepaid cannot become it: make a new one"
    )]
    ToPrepaid(String),
    /// It would no longer be prepaid.
    #[error(
        "attributes.chargeType: {0:?}: a prepaid load balancer cannot change how it is paid: leave {PREPAID:?}"
    )]
    FromPrepaid(String),
}

/// Whether an existing load balancer's attributes may be changed like this.
pub(super) fn check_change(old: &StringMap, new: &StringMap) -> Result<(), ForbiddenChange> {
    let given = |map: &StringMap| map.get(CHARGE_TYPE).cloned().unwrap_or_default();
    let is_prepaid = |text: &str| text.eq_ignore_ascii_case(PREPAID);
    let (old, new) = (given(old), given(new));
    match (is_prepaid(&old), is_prepaid(&new)) {
        (false, true) => Err(ForbiddenChange::ToPrepaid(new)),
        (true, false) => Err(ForbiddenChange::FromPrepaid(new)),
        (true, true) | (false, false) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str) -> Result<(), String> {
        let map = |value: &str| StringMap::from([(CHARGE_TYPE.to_owned(), value.to_owned())]);
        check_change(&map(old), &map(new)).map_err(|error| error.to_string())
    }

    #[test]
    fn vlb_03_prepaid_is_for_life() {
        assert_eq!(
            check("TRAFFIC_POSTPAID_BY_HOUR", "PREPAID").unwrap_err(),
            r#"attributes.chargeType: "PREPAID": a load balancer that is not prepaid cannot become it: make a new one"#
        );
        assert_eq!(
            check("PREPAID", "MONTHLY").unwrap_err(),
            r#"attributes.chargeType: "MONTHLY": a prepaid load balancer cannot change how it is paid: leave "PREPAID""#
        );
        let prepaid = StringMap::from([(CHARGE_TYPE.to_owned(), PREPAID.to_owned())]);
        assert!(check_change(&StringMap::new(), &prepaid).is_err());
        assert!(check_change(&prepaid, &StringMap::new()).is_err());
    }

    #[test]
    fn vlb_03_other_changes_are_free() {
        for (old, new) in [
            ("TRAFFIC_POSTPAID_BY_HOUR", "BANDWIDTH_POSTPAID_BY_HOUR"),
            ("HOURLY", "MONTHLY"),
            ("PREPAID", "prepaid"),
        ] {
            assert_eq!(check(old, new), Ok(()), "{old} to {new}");
        }
        assert_eq!(check_change(&StringMap::new(), &StringMap::new()), Ok(()));
    }
}
