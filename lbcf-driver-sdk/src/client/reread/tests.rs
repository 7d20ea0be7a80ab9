//! Files that change, are damaged, or hang.

use super::*;
use std::fs;
use std::sync::Mutex as Lock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// A directory of a test, gone when the test is over.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lbcf-reread-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("file")
    }

    fn write(&self, text: &str) {
        fs::write(self.file(), text).unwrap();
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes a text of a file's contents, unless they are `bad`. `slow` ones wait for the test.
struct Text {
    path: PathBuf,
    made: Arc<AtomicUsize>,
    go: Lock<mpsc::Receiver<()>>,
}

impl FromFiles for Text {
    type Made = String;
    const MAX_LENGTH: u64 = 8;

    fn paths(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn make(&self, contents: &[Vec<u8>]) -> Result<String, HttpClientError> {
        self.made.fetch_add(1, Ordering::SeqCst);
        match String::from_utf8(contents[0].clone()).unwrap() {
            text if text == "bad" => Err(HttpClientError::file(&self.path, "bad")),
            text => {
                if text == "slow" {
                    let _ = self.go.lock().unwrap().recv();
                }
                Ok(text)
            }
        }
    }
}

struct Fixture {
    directory: Directory,
    text: Reread<Text>,
    made: Arc<AtomicUsize>,
    go: mpsc::Sender<()>,
}

fn fixture(name: &str, interval: Duration) -> Fixture {
    let directory = Directory::new(name);
    directory.write("one");
    let made = Arc::new(AtomicUsize::new(0));
    let (go, wait) = mpsc::channel();
    let text = Text {
        path: directory.file(),
        made: Arc::clone(&made),
        go: Lock::new(wait),
    };
    Fixture {
        text: Reread::new(text, interval).unwrap(),
        directory,
        made,
        go,
    }
}

#[tokio::test(start_paused = true)]
async fn files_are_looked_at_again_after_a_while_and_only_changes_count() {
    let Fixture {
        directory,
        text,
        made,
        go: _go,
    } = fixture("changes", Duration::from_secs(10));
    directory.write("two");
    tokio::time::advance(Duration::from_secs(9)).await;
    assert_eq!(text.current().await, "one");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(text.current().await, "two");
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(text.current().await, "two");
    assert_eq!(made.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn what_cannot_be_used_changes_nothing() {
    let Fixture {
        directory,
        text,
        go: _go,
        ..
    } = fixture("bad", Duration::ZERO);
    directory.write("bad");
    assert_eq!(text.current().await, "one");
    directory.write("much too long");
    assert_eq!(text.current().await, "one");
    fs::remove_file(directory.file()).unwrap();
    assert_eq!(text.current().await, "one");
    fs::create_dir(directory.file()).unwrap();
    assert_eq!(text.current().await, "one");
    fs::remove_dir(directory.file()).unwrap();
    directory.write("two");
    assert_eq!(text.current().await, "two");
}

#[tokio::test]
async fn a_look_that_takes_long_holds_nobody_up_for_long_and_is_the_only_one() {
    let Fixture {
        directory,
        text,
        made,
        go,
    } = fixture("slow", Duration::ZERO);
    directory.write("slow");
    // This one waits, and is dropped meanwhile.
    let dropped = timeout(Duration::from_millis(20), text.current()).await;
    assert!(dropped.is_err());
    let began = Instant::now();
    for _ in 0..100 {
        assert_eq!(text.current().await, "one");
    }
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    assert_eq!(made.load(Ordering::SeqCst), 2);
    go.send(()).unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    while text.current().await != "slow" {
        assert!(Instant::now() < end, "the look was lost");
        tokio::task::yield_now().await;
    }
}

#[test]
fn the_first_look_names_the_file_and_what_is_wrong() {
    let directory = Directory::new("first");
    let first = || {
        let (_, wait) = mpsc::channel();
        let text = Text {
            path: directory.file(),
            made: Arc::default(),
            go: Lock::new(wait),
        };
        let error = Reread::new(text, Duration::ZERO).err().unwrap().to_string();
        let path = directory.file().display().to_string();
        assert!(error.starts_with(&path), "{error}");
        error
    };
    assert!(first().contains("No such file"));
    directory.write("much too long");
    assert!(first().ends_with("longer than 8 bytes"));
    directory.write("bad");
    assert!(first().ends_with(": bad"));
    fs::remove_file(directory.file()).unwrap();
    fs::create_dir(directory.file()).unwrap();
    assert!(first().ends_with("not a file"));
}
