use super::*;
use std::sync::{Arc, Mutex};
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Lines {
    fn get(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

fn log() -> (Lines, impl Sized) {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(lines.clone())
        .finish();
    // With one subscriber in the process, tracing asks the thread that first meets a log line whether it is
    // wanted, and remembers that thread's answer. With two it asks both.
    let other = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let guard = tracing::subscriber::set_default(subscriber);
    (lines, (other, guard))
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_does_not_end_is_logged_at_doubling_intervals() {
    let (lines, _guard) = log();
    let never = run_hook(Instant::now(), std::future::pending::<()>());
    let ten_minutes = Duration::from_secs(600);
    assert!(timeout(ten_minutes, never).await.is_err());
    let lines = lines.get();
    let seconds: Vec<_> = lines
        .iter()
        .filter_map(|line| line.split("seconds=").nth(1))
        .collect();
    assert_eq!(seconds, ["60", "120", "240", "480"], "{lines:?}");
    assert!(lines.iter().all(|line| line.contains("WARN")));
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_ends_in_time_is_not_logged() {
    let (lines, _guard) = log();
    let hook = async {
        tokio::time::sleep(LONG_RUNNING - Duration::from_millis(1)).await;
        7
    };
    assert_eq!(run_hook(Instant::now(), Box::pin(hook)).await, Some(7));
    assert_eq!(lines.get(), [""; 0]);
}

#[tokio::test]
async fn a_panic_with_several_lines_is_logged_on_one() {
    let (lines, _guard) = log();
    let hook = async { panic!("left\n2026 INFO all is well\u{1b}[2J") };
    assert_eq!(run_hook(Instant::now(), Box::pin(hook)).await, None::<()>);
    let lines = lines.get();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("ERROR") && !lines[0].contains('\u{1b}'));
}

#[test]
fn the_text_of_a_panic_is_found() {
    let texts = [
        contain_call(|| panic!("plain")),
        contain_call(|| panic!("{}", "made")),
        contain_call(|| std::panic::panic_any(7)),
        contain_call(|| ()),
    ];
    let texts = texts.map(|result| result.map_err(|panic| panic.text().to_owned()));
    let expected = ["plain", "made", "(no text)"].map(|text| Err(text.to_owned()));
    assert_eq!(texts[..3], expected);
    assert_eq!(texts[3], Ok(()));
}
