use super::*;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tokio::sync::Semaphore;

#[tokio::test]
async fn callers_that_come_during_a_reload_share_the_next_one() {
    let (shared, reloads) = (
        Arc::new(SharedReload::<()>::default()),
        Arc::new(AtomicUsize::new(0)),
    );
    let may_go_on = Arc::new(Semaphore::new(0));
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let (shared, reloads, may_go_on) = (shared.clone(), reloads.clone(), may_go_on.clone());
            tokio::spawn(async move {
                let reload = || async {
                    reloads.fetch_add(1, Ordering::SeqCst);
                    may_go_on.acquire().await.map(drop).map_err(drop)
                };
                shared.join(reload).await
            })
        })
        .collect();
    while shared.asked.load(Ordering::SeqCst) < 20 {
        tokio::task::yield_now().await;
    }
    may_go_on.add_permits(20);
    for caller in callers {
        assert_eq!(caller.await.ok(), Some(Ok(())));
    }
    // One that had begun, and one for all who came meanwhile.
    assert_eq!(reloads.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_failure_is_the_result_of_those_who_shared_it_and_of_no_later_caller() {
    let shared = SharedReload::default();
    assert_eq!(
        shared.join(|| async { Err("refused") }).await,
        Err("refused")
    );
    assert_eq!(shared.join(|| async { Ok(()) }).await, Ok(()));
}
