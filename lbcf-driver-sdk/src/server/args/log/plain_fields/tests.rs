use super::*;
use proptest::prelude::*;
use std::io;
use std::sync::{Arc, Mutex};
use tracing::subscriber::with_default;
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Written {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The output of the library and of this module.
fn both(ansi: bool, log: impl Fn()) -> [String; 2] {
    let (theirs, ours) = (Written::default(), Written::default());
    let as_usual = || tracing_subscriber::fmt().without_time().with_ansi(ansi);
    with_default(as_usual().with_writer(theirs.clone()).finish(), &log);
    let plain = as_usual().fmt_fields(PlainFields::default());
    with_default(plain.with_writer(ours.clone()).finish(), &log);
    [theirs, ours].map(|written| String::from_utf8(written.0.lock().unwrap().clone()).unwrap())
}

/// Lines with all kinds of fields.
fn log(text: &str) {
    let span = tracing::info_span!(
        "webhook",
        webhook = "ensureBackend",
        recordID = text,
        seconds = 7,
        debugged = ?text,
        displayed = %text,
        later = tracing::field::Empty,
        r#type = text,
    );
    span.record("later", text);
    let error = io::Error::other(io::Error::other(text.to_owned()));
    let because: &(dyn Error + 'static) = &error;
    let _entered = span.enter();
    tracing::warn!(answer = text, because, took = ?std::time::Duration::ZERO, "it failed");
    tracing::info!(first = text, "{text}");
    tracing::info!(message = text, only = true);
}

#[test]
fn lines_are_those_of_the_library() {
    for ansi in [false, true] {
        let [theirs, ours] = both(ansi, || log("ensureBackend(1)"));
        assert_eq!(ours, theirs);
        assert_eq!(ours.lines().count(), 3, "{ours}");
    }
    let [_, ours] = both(false, || log("a\"b\n"));
    assert!(ours.contains(r#"recordID="a\"b\n""#), "{ours}");
}

proptest! {
    #[test]
    fn any_text_is_formatted_as_by_the_library(text in "[ -~]{0,20}|.{0,20}|[\\x00-\\x7f]{0,20}") {
        let [theirs, ours] = both(false, || log(&text));
        prop_assert_eq!(ours, theirs);
    }
}
