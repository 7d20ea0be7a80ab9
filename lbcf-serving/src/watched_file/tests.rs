//! Files that change, are damaged, or hang.

use super::*;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use tokio::time::{Instant, timeout};

/// Removed at the end of the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lbcf-watched-{name}-{}", std::process::id()));
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

/// The contents as text, unless they are `bad`. Parsing `slow` waits for the test.
struct Fixture {
    directory: Directory,
    parsed: Arc<AtomicUsize>,
    go: mpsc::Sender<()>,
}

fn files(name: &str) -> (Fixture, WatchedFiles<String>) {
    let directory = Directory::new(name);
    directory.write("one");
    let parsed = Arc::new(AtomicUsize::new(0));
    let (go, wait) = mpsc::channel();
    let (count, wait, path) = (Arc::clone(&parsed), Mutex::new(wait), directory.file());
    let parse = move |contents: &[Vec<u8>]| {
        count.fetch_add(1, Ordering::SeqCst);
        let text = String::from_utf8(contents.concat()).unwrap();
        match &*text {
            "bad" => return Err(FileError::contents(&path, "bad")),
            "slow" => drop(wait.lock().unwrap().recv()),
            _ => {}
        }
        Ok(text)
    };
    let files = WatchedFiles::new("test", vec![directory.file()], parse).max_length(8);
    let fixture = Fixture {
        directory,
        parsed,
        go,
    };
    (fixture, files)
}

fn reread(name: &str, interval: Duration) -> (Fixture, RereadFiles<String>) {
    let (fixture, files) = files(name);
    (fixture, RereadFiles::new(files, interval).unwrap())
}

#[tokio::test(start_paused = true)]
async fn files_are_read_again_after_the_interval_and_parsed_only_when_they_changed() {
    let (fixture, text) = reread("changes", Duration::from_secs(10));
    fixture.directory.write("two");
    tokio::time::advance(Duration::from_secs(9)).await;
    assert_eq!(text.current().await, "one");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(text.current().await, "two");
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(text.current().await, "two");
    assert_eq!(fixture.parsed.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn unusable_files_leave_the_value_as_it_was() {
    let (Fixture { directory, .. }, text) = reread("bad", Duration::ZERO);
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

#[tokio::test(start_paused = true)]
async fn a_check_that_hangs_delays_one_caller_for_a_second_and_is_the_only_one() {
    let (fixture, text) = reread("slow", Duration::ZERO);
    fixture.directory.write("slow");
    // The first caller is dropped while it waits.
    assert!(
        timeout(Duration::ZERO, text.current()).await.is_err(),
        "parsing waits for the test"
    );
    let began = Instant::now();
    for _ in 0..100 {
        assert_eq!(text.current().await, "one");
    }
    // The clock is paused: it advances only where a caller waits.
    assert_eq!(began.elapsed(), Duration::ZERO);
    fixture.go.send(()).unwrap();
    while text.current().await != "slow" {
        tokio::task::yield_now().await;
    }
    assert_eq!(fixture.parsed.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_watch_reports_each_change() {
    let (fixture, files) = files("watch");
    let (first, files) = files.load().await.unwrap();
    assert_eq!(first, "one");
    let (changed, mut changes) = tokio::sync::mpsc::unbounded_channel();
    let watch = files.watch(Duration::from_millis(1), move |text| {
        changed.send(text).unwrap();
    });
    let watch = tokio::spawn(watch);
    for text in ["two", "three"] {
        fixture.directory.write(text);
        assert_eq!(changes.recv().await.unwrap(), text);
    }
    watch.abort();
}

#[test]
fn the_first_read_names_the_file_and_what_is_wrong() {
    let (fixture, mut files) = files("first");
    let file = fixture.directory.file();
    let mut first = || {
        files.seen = None;
        let error = files.read().unwrap_err().to_string();
        assert!(error.contains(&file.display().to_string()), "{error}");
        error
    };
    fixture.directory.write("much too long");
    assert!(first().ends_with("longer than 8 bytes"));
    fixture.directory.write("bad");
    assert!(first().ends_with(": bad"));
    fs::remove_file(&file).unwrap();
    assert!(first().contains("No such file"));
    fs::create_dir(&file).unwrap();
    assert!(first().ends_with("not a file"));
}
