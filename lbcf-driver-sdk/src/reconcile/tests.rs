use super::*;
use std::sync::Mutex;

/// A number that another writer increments before the first writes.
#[derive(Debug, Default)]
struct Counter {
    stored: Mutex<Option<(u32, u32)>>,
    others: Mutex<u32>,
}

impl Counter {
    fn of(value: u32) -> Self {
        let stored = Mutex::new(Some((value, 1)));
        Self {
            stored,
            others: Mutex::default(),
        }
    }

    fn check(&self, seen: Option<u32>) -> Result<(), WriteError> {
        let mut stored = self.stored.lock().unwrap();
        let mut others = self.others.lock().unwrap();
        if *others > 0 {
            *others -= 1;
            let (value, version) = stored.unwrap_or_default();
            *stored = Some((value + 1, version + 1));
        }
        match stored.map(|(_, version)| version) == seen {
            true => Ok(()),
            false => Err(WriteError::Conflict),
        }
    }
}

impl Resource for Counter {
    type State = u32;
    type Version = u32;

    async fn get(&self) -> Result<Option<(u32, u32)>, HookError> {
        Ok(*self.stored.lock().unwrap())
    }

    async fn put(&self, state: u32, seen: Option<u32>) -> Result<u32, WriteError> {
        self.check(seen)?;
        *self.stored.lock().unwrap() = Some((state, seen.unwrap_or_default() + 1));
        Ok(state)
    }

    async fn delete(&self, seen: u32) -> Result<(), WriteError> {
        self.check(Some(seen))?;
        *self.stored.lock().unwrap() = None;
        Ok(())
    }
}

fn plus_ten(found: Option<u32>) -> Result<Option<u32>, HookError> {
    Ok(Some(found.unwrap_or_default() + 10))
}

#[tokio::test]
async fn d84_nothing_is_written_where_nothing_differs() {
    let counter = Counter::of(7);
    let done = reconcile(&counter, Ok).await.unwrap();
    assert_eq!((done.state, done.writes), (Some(7), 0));
    let none = reconcile(&Counter::default(), Ok).await.unwrap();
    assert_eq!((none.state, none.writes), (None, 0));
    assert_eq!(*counter.stored.lock().unwrap(), Some((7, 1)));
}

#[tokio::test]
async fn d84_it_creates_replaces_and_deletes() {
    let counter = Counter::default();
    assert_eq!(reconcile(&counter, plus_ten).await.unwrap().state, Some(10));
    assert_eq!(reconcile(&counter, plus_ten).await.unwrap().state, Some(20));
    let deleted = reconcile(&counter, |_| Ok(None)).await.unwrap();
    assert_eq!((deleted.state, deleted.writes), (None, 1));
    assert_eq!(*counter.stored.lock().unwrap(), None);
}

#[tokio::test]
async fn d84_a_conflict_makes_the_plan_again_from_what_is_there() {
    let counter = Counter::of(1);
    *counter.others.lock().unwrap() = 2;
    let done = reconcile(&counter, plus_ten).await.unwrap();
    // Both increments of the other writer are there.
    assert_eq!((done.state, done.writes, done.conflicts), (Some(13), 1, 2));
}

#[tokio::test]
async fn d84_endless_conflicts_are_running_and_errors_are_errors() {
    let counter = Counter::of(1);
    *counter.others.lock().unwrap() = 100;
    let busy = reconcile(&counter, plus_ten).await.unwrap_err();
    assert!(busy.is_running(), "{busy}");
    assert_eq!(busy.delay(), Some(Duration::from_secs(1)));
    let wrong = |_| Err(HookError::fail("no such set"));
    let failed = reconcile(&counter, wrong).await.unwrap_err();
    assert_eq!(failed.message(), "no such set");
}
