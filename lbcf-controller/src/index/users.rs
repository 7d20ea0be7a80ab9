//! Who uses a driver, and so keeps it from being deleted (d12).

use super::Index;
use crate::key::ObjectKey;
use std::collections::BTreeSet;
use std::fmt;

/// Something that uses a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    /// What it is.
    pub(crate) kind: UserKind,
    /// Which one it is.
    pub(crate) key: ObjectKey,
}

/// What can use a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserKind {
    LoadBalancer,
    BackendGroup,
    Bind,
    BackendRecord,
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.kind, self.key)
    }
}

impl Index {
    /// All that uses a driver. The look-ups are by the driver that a name means in the user's
    /// namespace (b54), so users of a driver of kube-system are found in every namespace.
    #[must_use]
    pub(crate) fn users_of_driver(&self, driver: &ObjectKey) -> Vec<User> {
        let lbs = self.load_balancers.of_driver(driver);
        let records = self.records.of_driver(driver);
        let groups = self.groups.of_judge(driver);
        let each = |kind: UserKind| move |key: ObjectKey| User { kind, key };
        lbs.map(each(UserKind::LoadBalancer))
            .chain(groups.map(each(UserKind::BackendGroup)))
            .chain(
                self.binds_using(driver)
                    .into_iter()
                    .map(each(UserKind::Bind)),
            )
            .chain(records.map(each(UserKind::BackendRecord)))
            .collect()
    }

    /// The Binds that a driver has a load balancer of, or judges the pods of (u27).
    fn binds_using(&self, driver: &ObjectKey) -> BTreeSet<ObjectKey> {
        let lbs = self.binds.of_driver(driver).map(|lb| lb.bind.clone());
        lbs.chain(self.binds.of_judge(driver)).collect()
    }
}
