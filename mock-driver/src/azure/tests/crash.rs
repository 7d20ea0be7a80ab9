//! A driver that ends after any write of the cloud's API: the next one completes what it began.

use super::lab::{INTERNAL, Lab, SHARED, service};
use crate::azure::plan::Service;

/// Does `work` with a driver that is killed after 0, 1, 2, … writes, and then with a new one. Returns
/// after how many it was complete.
async fn killed_everywhere(before: &[Service], work: &Work, expected: &Lab) -> u32 {
    for calls in 0..100 {
        let lab = Lab::new();
        for service in before {
            lab.ensure(service).await;
            lab.bind(service, "10.0.0.1:80");
        }
        lab.fail_after(calls);
        let done = work.run(&lab).await;
        lab.recover();
        if !done {
            assert!(work.run(&lab).await, "after {calls} calls");
        }
        // Private addresses are counted, and a frontend that was there before has an earlier one.
        assert_eq!(lab.left().0, expected.left().0, "after {calls} calls");
        assert_eq!(lab.state(), expected.state(), "after {calls} calls");
        let writes = lab.api.writes();
        assert!(work.run(&lab).await);
        assert_eq!(lab.api.writes(), writes, "nothing is left to do");
        if done {
            return calls;
        }
    }
    panic!("it never completes");
}

enum Work {
    Ensure(Service),
    Delete(Service),
}

impl Work {
    async fn run(&self, lab: &Lab) -> bool {
        match self {
            Self::Ensure(service) => lab.steps().ensure(service).await.is_ok(),
            Self::Delete(service) => lab.try_delete(service).await.is_ok(),
        }
    }
}

async fn after(before: &[Service], work: &Work) -> Lab {
    let lab = Lab::new();
    for service in before {
        lab.ensure(service).await;
        lab.bind(service, "10.0.0.1:80");
    }
    assert!(work.run(&lab).await);
    lab
}

#[tokio::test]
async fn a26_a_driver_that_ends_while_it_ensures_is_continued() {
    let other = service("other", &[SHARED]);
    for pairs in [&[][..], &[SHARED], &[INTERNAL]] {
        let work = Work::Ensure(service("web", pairs));
        let before = std::slice::from_ref(&other);
        let expected = after(before, &work).await;
        let calls = killed_everywhere(before, &work, &expected).await;
        assert!(calls >= 2, "{calls}");
    }
}

#[tokio::test]
async fn a29_a_driver_that_ends_while_a_service_flips_is_continued() {
    let [public, internal] = [&[SHARED][..], &[SHARED, INTERNAL]].map(|it| service("web", it));
    let other = service("other", &[SHARED]);
    for [from, to] in [[&public, &internal], [&internal, &public]] {
        let before = [other.clone(), from.clone()];
        let work = Work::Ensure(to.clone());
        let expected = after(&before, &work).await;
        let calls = killed_everywhere(&before, &work, &expected).await;
        assert!(calls >= 6, "{calls}");
    }
}

#[tokio::test]
async fn a28_a_driver_that_ends_while_it_deletes_is_continued_and_leaves_nothing() {
    let other = service("other", &[SHARED]);
    for pairs in [&[][..], &[SHARED], &[INTERNAL, SHARED]] {
        let it = service("web", pairs);
        let before = [other.clone(), it.clone()];
        let work = Work::Delete(it);
        let expected = after(&before, &work).await;
        killed_everywhere(&before, &work, &expected).await;
        // Only the other service is left.
        let alone = after(&[], &Work::Ensure(other.clone())).await;
        assert_eq!(expected.left(), alone.left());
    }
}
