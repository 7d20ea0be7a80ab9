use super::*;
use std::fmt;

#[derive(Debug)]
struct Behind(&'static str, Option<Box<Self>>);

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Behind {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|error| error as &dyn Error)
    }
}

fn behind(hook_error: &HookError) -> Option<String> {
    because(hook_error.source(), hook_error.message())
}

#[test]
fn the_chain_behind_a_failure_is_told_once() {
    let chain = || Behind("no answer", Some(Box::new(Behind("timed out", None))));
    // By `?`, the outermost error has become the message.
    assert_eq!(behind(&HookError::from(chain())), Some("timed out".into()));
    assert_eq!(
        behind(&HookError::fail("the cloud is away").because(chain())),
        Some("no answer: timed out".into())
    );
    assert_eq!(behind(&HookError::from(Behind("no answer", None))), None);
    assert_eq!(behind(&HookError::fail("plain")), None);
}

#[test]
fn a_chain_without_end_is_cut() {
    let mut chain = Behind("é", None);
    for _ in 0..10_000 {
        chain = Behind("é", Some(Box::new(chain)));
    }
    let text = behind(&HookError::fail("plain").because(chain)).unwrap();
    assert!((MESSAGE - 1..=MESSAGE).contains(&text.len()));
}

#[test]
fn a_load_balancer_is_named_by_its_key_or_by_what_fits_of_its_identity() {
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
