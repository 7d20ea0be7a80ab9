use super::*;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tokio::sync::Semaphore;

#[tokio::test]
async fn callers_that_come_during_a_reload_share_the_next_one() {
    let shared = Arc::new(SharedReload::default());
    let (reloads, may_go_on) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let (shared, reloads, may_go_on) = (shared.clone(), reloads.clone(), may_go_on.clone());
            tokio::spawn(async move {
                let reload = async {
                    reloads.fetch_add(1, Ordering::SeqCst);
                    may_go_on.acquire().await.is_ok()
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
        assert!(caller.await.unwrap());
    }
    // The reload in progress, and one for all callers that came during it.
    assert_eq!(reloads.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_failure_is_the_result_of_those_who_shared_it_and_of_no_later_caller() {
    let shared = SharedReload::default();
    assert_eq!(shared.join(async { Err("refused") }).await, Err("refused"));
    assert_eq!(shared.join(async { Ok(()) }).await, Ok(()));
}

#[tokio::test]
async fn a_caller_that_gives_up_does_not_stop_the_others() {
    let shared = SharedReload::default();
    let begun = shared.join(std::future::pending::<u8>());
    let waiting = shared.join(async { 2 });
    tokio::pin!(waiting);
    tokio::select! {
        biased;
        _ = begun => {}
        _ = &mut waiting => {}
        () = tokio::task::yield_now() => {}
    }
    assert_eq!(waiting.await, 2);
}
