use super::*;
use crate::api::{BackendGroupSpec, StringMap};
use crate::index::UsableLoadBalancer;
use UnusableLoadBalancer::{Deleting, Missing, NotCreated, OutOfScope};

fn wait(lbs: impl IntoIterator<Item = (&'static str, LoadBalancerUse)>) -> Option<Wait> {
    let mut group = BackendGroup::new("web", BackendGroupSpec::default());
    group.metadata.namespace = Some("ns".into());
    let lbs = lbs.into_iter().map(|(name, lb)| (name.to_owned(), lb));
    group.load_balancer_wait(&BackendGroupStatus::default(), &lbs.collect())
}

fn usable() -> LoadBalancerUse {
    LoadBalancerUse::Usable(UsableLoadBalancer {
        driver: "driver".into(),
        lb_info: StringMap::default(),
        attributes: StringMap::default(),
    })
}

#[test]
fn d44_a_group_names_the_load_balancers_that_it_cannot_use() {
    assert_eq!(wait([("a", usable())]), None);
    let unusable = LoadBalancerUse::Unusable;
    for (lb, reason, message) in [
        (
            unusable(Missing),
            "LoadBalancerNotFound",
            "LoadBalancer ns/b not found",
        ),
        (
            unusable(Deleting),
            "LoadBalancerDeleting",
            "LoadBalancer ns/b is being deleted",
        ),
        (
            unusable(NotCreated(None)),
            "LoadBalancerNotCreated",
            "LoadBalancer ns/b is not created yet",
        ),
        (
            unusable(NotCreated(Some(
                "QuotaExceeded: 20 load balancers".to_owned(),
            ))),
            "LoadBalancerNotCreated",
            "LoadBalancer ns/b is not created yet: QuotaExceeded: 20 load balancers",
        ),
        (
            unusable(OutOfScope),
            "LoadBalancerOutOfScope",
            "LoadBalancer ns/b cannot be used: its spec.scope does not include ns",
        ),
        (
            LoadBalancerUse::Unknown,
            "LoadBalancerUnreadable",
            "LoadBalancer ns/b cannot be parsed; what is registered with it stays so",
        ),
    ] {
        let wait = wait([("a", usable()), ("b", lb)]).unwrap();
        assert_eq!((&**wait.reason, wait.message.as_str()), (reason, message));
    }
    let not_created = unusable(NotCreated(None));
    let several = wait([("b", not_created), ("lbcf-c", unusable(Missing))]).unwrap();
    assert_eq!(several.reason, "LoadBalancerNotFound", "a user has to act");
    let first = "LoadBalancer kube-system/lbcf-c not found, LoadBalancer ns/b ";
    assert!(several.message.starts_with(first), "{}", several.message);
    let none = wait([]).map(|wait| &**wait.reason);
    assert_eq!(none, Some("NoLoadBalancers"));
}
