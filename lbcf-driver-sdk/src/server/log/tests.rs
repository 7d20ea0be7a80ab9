use super::*;
use std::fmt;

#[derive(Debug)]
struct Cause(&'static str, Option<Box<Self>>);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|error| error as &dyn Error)
    }
}

fn cause(hook_error: &HookError) -> Option<String> {
    because(hook_error.source(), hook_error.message())
}

#[test]
fn the_causes_of_a_failure_are_logged_once() {
    let chain = || Cause("no answer", Some(Box::new(Cause("timed out", None))));
    // By `?`, the outermost error has become the message.
    assert_eq!(cause(&HookError::from(chain())), Some("timed out".into()));
    assert_eq!(
        cause(&HookError::fail("the cloud is away").because(chain())),
        Some("no answer: timed out".into())
    );
    assert_eq!(cause(&HookError::from(Cause("no answer", None))), None);
    assert_eq!(cause(&HookError::fail("plain")), None);
}

#[test]
fn a_long_chain_of_causes_is_truncated() {
    let mut chain = Cause("é", None);
    for _ in 0..10_000 {
        chain = Cause("é", Some(Box::new(chain)));
    }
    let text = cause(&HookError::fail("plain").because(chain)).unwrap();
    assert!((MESSAGE - 1..=MESSAGE).contains(&text.len()));
}

#[test]
fn a_load_balancer_is_named_by_its_key_or_the_beginning_of_its_identity() {
    let map = |fields: &[(&str, &str)]| -> StringMap {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        fields.iter().map(owned).collect()
    };
    let identity = map(&[("lbID", "lb-1"), ("region", "north")]);
    assert_eq!(load_balancer(Some("lb-1"), &identity), "lb-1");
    assert_eq!(load_balancer(None, &identity), "lbID=lb-1,region=north");
    assert_eq!(load_balancer(None, &map(&[])), "");
    let long = "é".repeat(1 << 20);
    for name in [
        load_balancer(Some(&long), &identity),
        load_balancer(None, &map(&[("a", &long), ("b", &long)])),
        load_balancer(None, &map(&[(&long, "c")])),
    ] {
        assert!(
            (SPAN_VALUE - 1..=SPAN_VALUE).contains(&name.len()),
            "{name}"
        );
    }
}

#[test]
fn a_trace_is_named_unless_its_header_is_malformed() {
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let span = "00f067aa0ba902b7";
    let found = |value: &str| {
        let value = value.parse().unwrap();
        let headers = HeaderMap::from_iter([("traceparent".parse().unwrap(), value)]);
        Trace::of(&headers).map(|trace| trace.id().to_owned())
    };
    assert_eq!(
        found(&format!("00-{trace}-{span}-01")).as_deref(),
        Some(trace)
    );
    let short = format!("{:032x}", 7);
    assert_eq!(found(&format!("00-{short}-{span}-00")), Some(short));
    for malformed in [
        String::new(),
        "\u{fc}".repeat(55),
        trace.to_owned(),
        format!("00-{trace}-{span}"),
        format!("00-{trace}-{span}-01-x"),
        format!("00-{trace}-{span}-1"),
        format!("ff-{trace}-{span}-01"),
        format!("00-{}-{span}-01", trace.to_uppercase()),
        format!("00-+{}-{span}-01", &trace[1..]),
        format!("00-{:032}-{span}-01", 0),
        format!("00-{trace}-{:016}-01", 0),
        format!("00-{trace}-{span}-01\tforged"),
    ] {
        assert_eq!(found(&malformed), None, "{malformed:?}");
    }
    assert!(Trace::of(&HeaderMap::new()).is_none());
}
