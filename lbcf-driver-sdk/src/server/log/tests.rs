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
