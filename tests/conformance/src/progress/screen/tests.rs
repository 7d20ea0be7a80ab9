//! What is written to a terminal and to a pipe.

use super::*;
use crate::check::Level;

fn result(id: &str, status: Status) -> CheckResult {
    CheckResult {
        id: id.to_owned(),
        level: Level::Must,
        group: "ENS".to_owned(),
        rule: String::new(),
        status,
        reason: String::new(),
        skip: None,
        response_only: false,
        known: None,
        ms: 3,
        failure: None,
        exchanges: Vec::new(),
    }
}

/// What a run of three checks writes.
fn written(mode: ProgressMode) -> String {
    let paint = Paint { on: false };
    let screen = Screen::new(Vec::new(), 2, mode, paint, FailurePolicy::default());
    screen.started("ENS-01");
    screen.finished(&result("ENS-01", Status::Passed));
    screen.started("ENS-02");
    screen.finished(&result("ENS-02", Status::Failed));
    screen.note("cleaning\u{1b}[2J up");
    screen.ended();
    let inner = screen.inner.into_inner().unwrap();
    String::from_utf8(inner.stream).unwrap()
}

#[test]
fn a_pipe_gets_plain_lines() {
    assert_eq!(
        written(ProgressMode::Lines),
        "passed  ENS-01 MUST (3 ms)\nfailed  ENS-02 MUST (3 ms)\ncleaning\\x1b[2J up\n"
    );
    assert_eq!(written(ProgressMode::Quiet), "cleaning\\x1b[2J up\n");
}

#[test]
fn a_terminal_gets_one_line_and_keeps_failures() {
    let text = written(ProgressMode::Redrawn(79));
    let frames: Vec<_> = text.split(CLEAR).collect();
    assert_eq!(
        frames,
        [
            "",
            "0/2: ENS-01",
            "1/2",
            "1/2: ENS-02",
            "failed  ENS-02 MUST (3 ms)\n2/2, 1 failed",
            "cleaning\\x1b[2J up\n2/2, 1 failed",
            "",
        ]
    );
}

#[test]
fn a_closed_output_is_no_error() {
    #[derive(Debug)]
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }
    let paint = Paint { on: false };
    let screen = Screen::new(
        Closed,
        1,
        ProgressMode::Lines,
        paint,
        FailurePolicy::default(),
    );
    screen.finished(&result("ENS-01", Status::Passed));
    screen.note("x");
    screen.ended();
}
