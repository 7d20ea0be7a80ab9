//! Bodies that are no JSON, or no object.

use super::judging::{Bad, Badness, judge};
use super::stage::Stage;
use crate::check::{Check, Company, Group, Level, Observer};
use crate::lab::{Call, Lab, healthz};
use crate::transport::Request;
use crate::verdict::Verdict;

/// Broken JSON.
pub(super) static BAD_01: Check = Check {
    id: "BAD-01",
    level: Level::Should,
    group: Group::Bad,
    rule: "A body that is no JSON object is refused within 2 seconds, and the driver goes on",
    why: "Anybody who reaches the driver can send it. A driver that dies of it takes all load \
          balancers of the cluster out of service.",
    source: "derived: RFC 9110, status 400",
    typical: "An exception in the body parser that ends as 500, or ends the process; a zero value \
              that is worked with after the error was only logged.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Alone,
    code: |lab| Box::pin(bad_01(lab)),
};

/// How deep JSON is nested that is meant to be too deep.
const DEPTH: usize = 50_000;

async fn bad_01(lab: &Lab) -> Verdict {
    let stage = Stage::new(lab).await;
    let mut bad = broken(lab, &stage.calls());
    // Whatever healthz makes of it, it answers.
    for body in [&b""[..], b"{", b"null"] {
        bad.push(Bad {
            call: healthz(),
            what: "a body that is no JSON object".to_owned(),
            request: Request::post("healthz", body.to_vec()),
            badness: Badness::Readable,
        });
    }
    judge(lab, bad).await
}

/// Each kind of broken body for each of the calls.
pub(super) fn broken(lab: &Lab, calls: &[Call]) -> Vec<Bad> {
    let mut bad = Vec::new();
    for (what, badness, body) in KINDS {
        for call in calls {
            let right = lab.request_of(call).body.to_vec();
            bad.push(Bad {
                call: call.clone(),
                what: (*what).to_owned(),
                request: Request::post(call.webhook(), body(right)),
                badness: *badness,
            });
        }
    }
    bad
}

type Kind = (&'static str, Badness, fn(Vec<u8>) -> Vec<u8>);

/// What a right body is made into. What some language's usual reader takes for a right body, or for
/// one in which nothing is said, may be answered as such: Go's decoder leaves alone what follows
/// the JSON, and takes null for no fields; Express does so with a body that is empty.
const KINDS: &[Kind] = &[
    (
        "a body that ends in the middle",
        Badness::Senseless,
        |mut right| {
            right.truncate(right.len() / 2);
            right
        },
    ),
    (
        "a body without its last brace",
        Badness::Senseless,
        |mut right| {
            right.pop();
            right
        },
    ),
    ("a body of plain text", Badness::Senseless, |_| {
        b"lbInfo=lb-1&backendAddr=10.0.0.1".to_vec()
    }),
    (
        "NaN for a map",
        Badness::Senseless,
        // No JSON, but some readers take it.
        |_| {
            br#"{"recordID":"x","lbSpec":NaN,"lbInfo":NaN,"parameters":NaN,"podBackend":NaN}"#
                .to_vec()
        },
    ),
    ("bytes that are no UTF-8", Badness::Senseless, |right| {
        [&[0x80, 0xfe, 0xc3][..], &right].concat()
    }),
    (
        "JSON that is nested without an end",
        Badness::Senseless,
        |_| br#"{"lbInfo":"#.iter().copied().chain(std::iter::repeat_n(b'[', DEPTH)).collect(),
    ),
    ("text behind the JSON", Badness::Readable, |right| {
        [&right[..], b"}, and more"].concat()
    }),
    ("a recordID that is no UTF-8", Badness::Readable, |right| {
        let text = br#"{"recordID":"#;
        match right.strip_prefix(text) {
            Some(rest) => [&text[..], b"\"\xff\xfe\",\"was\":", rest].concat(),
            None => [
                b"{\"was\":\"\xff\xfe\",",
                right.get(1..).unwrap_or_default(),
            ]
            .concat(),
        }
    }),
    ("an empty body", Badness::Readable, |_| Vec::new()),
    ("the body null", Badness::Readable, |_| b"null".to_vec()),
    ("an array for a body", Badness::Readable, |_| b"[]".to_vec()),
    ("a text for a body", Badness::Readable, |_| {
        b"\"x\"".to_vec()
    }),
];
