//! Who uses a driver, and so keeps it from being deleted (d12).

use super::Index;
use crate::key::ObjectKey;
use std::collections::BTreeSet;

impl Index {
    /// All that uses a driver, each as `KIND NAMESPACE/NAME`. The look-ups are by the driver that
    /// a name means in the user's namespace (b54), so users of a driver of kube-system are found
    /// in every namespace.
    #[must_use]
    pub(crate) fn users_of_driver(&self, driver: &ObjectKey) -> Vec<String> {
        let lbs = self.load_balancers.of_driver(driver);
        let records = self.records.of_driver(driver);
        let groups = self.groups.of_judge(driver);
        let named = |kind: &'static str| move |key: ObjectKey| format!("{kind} {key}");
        lbs.map(named("LoadBalancer"))
            .chain(groups.map(named("BackendGroup")))
            .chain(self.binds_using(driver).into_iter().map(named("Bind")))
            .chain(records.map(named("BackendRecord")))
            .collect()
    }

    /// The Binds that a driver has a load balancer of, or judges the pods of (u27).
    fn binds_using(&self, driver: &ObjectKey) -> BTreeSet<ObjectKey> {
        let lbs = self.binds.of_driver(driver).map(|lb| lb.bind.clone());
        lbs.chain(self.binds.of_judge(driver)).collect()
    }
}
