//! The log of a test on a single-threaded runtime.
//!
//! The subscriber is one for the whole process and sorts by thread. Subscribers that come and go
//! would miss what another thread logs first: `tracing` caches the interest in each callsite.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, Once};

thread_local! {
    static CURRENT: RefCell<Option<CapturedLog>> = const { RefCell::new(None) };
}

/// The log of the thread that created it, from then on.
#[derive(Clone, Default)]
pub(crate) struct CapturedLog(Arc<Mutex<Vec<u8>>>);

impl CapturedLog {
    pub(crate) fn new() -> Self {
        static SUBSCRIBER: Once = Once::new();
        SUBSCRIBER.call_once(|| {
            tracing_subscriber::fmt()
                .with_ansi(false)
                .with_max_level(tracing::Level::INFO)
                .with_writer(|| OfThisThread)
                .init();
        });
        let log = Self::default();
        CURRENT.set(Some(log.clone()));
        log
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    pub(crate) fn has(&self, text: &str) -> bool {
        self.text().contains(text)
    }

    pub(crate) fn count(&self, text: &str) -> usize {
        self.text().matches(text).count()
    }
}

struct OfThisThread;

impl Write for OfThisThread {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        CURRENT.with_borrow(|log| match log {
            Some(log) => log.0.lock().unwrap().write(bytes),
            None => Ok(bytes.len()),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
