use super::*;
use std::io::Read as _;
use std::net::TcpListener;

/// How long anything may take.
const DEADLINE: Duration = Duration::from_secs(20);

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process runs: one that ended and was not waited for does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// Starts a command that writes the number of a process of its own first, and gives that.
async fn started(command: &str) -> (Exec, String) {
    let exec = Exec::start(command).unwrap();
    until("it writes", || !exec.output().is_empty()).await;
    let pid = exec.output()[0].clone();
    (exec, pid)
}

/// A driver that starts another process and waits.
const FAMILY: &str = "sleep 1000 & echo $!; : {port}; wait";

#[tokio::test]
async fn the_port_is_passed_in_both_ways() {
    let exec = Exec::start("echo {port} $PORT; echo oops >&2; exit 3").unwrap();
    until("it ends", || exec.has_ended()).await;
    let words = exec.last_output().await;
    let port = exec.port();
    assert!(words.contains(&format!("{port} {port}")), "{words}");
    assert!(
        words.contains("oops") && words.contains("exit status: 3"),
        "{words}"
    );
    assert!(Exec::start("run $PORT").is_ok());
    let problem = Exec::start("./driver").unwrap_err().to_string();
    assert!(
        problem.contains("--exec \"./driver\"") && problem.contains("{port}"),
        "{problem}"
    );
}

#[tokio::test]
async fn stopping_ends_all_that_was_started() {
    let (exec, child) = started(FAMILY).await;
    assert!(runs(&child) && !exec.has_ended());
    exec.stop().await;
    until("the child ends", || !runs(&child)).await;
    assert!(exec.has_ended());
}

#[tokio::test]
async fn who_does_not_listen_is_killed() {
    let (exec, child) = started("trap '' TERM; sleep 1000 & echo $!; : {port}; wait; wait").await;
    let began = Instant::now();
    exec.stop().await;
    assert!(began.elapsed() < DEADLINE);
    until("the child ends", || !runs(&child)).await;
}

/// A process that writes its number, and a line half a second after SIGTERM, started by a shell that ends at once.
const SLOW: &str = "sh -c 'trap \"sleep 0.5; echo late; exit\" TERM; echo $$; \
                    while :; do sleep 0.01; done' & : {port}; wait";

#[tokio::test]
async fn a_driver_gets_its_time_and_has_ended_when_it_is_stopped() {
    let (exec, first) = started(SLOW).await;
    exec.restart_gracefully().await.unwrap();
    assert!(!runs(&first));
    let late = || exec.output().iter().filter(|it| *it == "late").count();
    let second = || {
        let numbers = exec.output();
        let mut numbers = numbers.iter().filter(|it| it.parse::<u32>().is_ok());
        numbers.find(|it| **it != first).cloned()
    };
    until("the next one starts", || late() == 1 && second().is_some()).await;
    exec.stop().await;
    assert!(!runs(&second().unwrap()));
    until("its last line is read", || late() == 2).await;
}

#[tokio::test]
async fn the_port_of_a_driver_is_no_ephemeral_one_and_stays_its_own() {
    let port = {
        let exec = Exec::start("sleep 1000; : {port}").unwrap();
        let other = Exec::start("sleep 1000; : {port}").unwrap();
        assert_ne!(exec.port(), other.port());
        let any = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(exec.port() < any.local_addr().unwrap().port());
        exec.stop().await;
        // Still reserved.
        let third = Exec::start("sleep 1000; : {port}").unwrap();
        assert_ne!(exec.port(), third.port());
        exec.port()
    };
    assert!(is_free(port));
}

#[tokio::test]
async fn a_stranger_on_the_port_does_not_pass_for_the_driver() {
    let exec = Exec::start("echo up; sleep 1000; : {port}").unwrap();
    exec.stop().await;
    let _stranger = TcpListener::bind(("127.0.0.1", exec.port())).unwrap();
    let problem = exec.restart().await.unwrap_err().to_string();
    let port = exec.port().to_string();
    assert!(
        problem.contains("in use by another process") && problem.contains(&port),
        "{problem}"
    );
}

/// Responds to each request.
fn respond_on(listener: TcpListener) {
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        }
    });
}

#[tokio::test]
async fn a_driver_is_ready_when_it_responds() {
    let exec = Exec::start("sleep 1000; : {port}").unwrap();
    // It accepts connections, and does not respond.
    let listener = TcpListener::bind(("127.0.0.1", exec.port())).unwrap();
    let waited = exec.ready(Duration::from_millis(300)).await;
    assert!(matches!(waited, Err(NoResponse::TimedOut(_))), "{waited:?}");
    respond_on(listener);
    exec.ready(DEADLINE).await.unwrap();
}

#[tokio::test]
async fn a_driver_that_has_exited_is_not_ready_though_somebody_responds() {
    let exec = Exec::start("read line < /dev/null; : {port}").unwrap();
    until("it ends", || exec.has_ended()).await;
    respond_on(TcpListener::bind(("127.0.0.1", exec.port())).unwrap());
    let problem = exec.ready(DEADLINE).await.unwrap_err().to_string();
    assert!(problem.contains("another process responds"), "{problem}");
}

#[tokio::test]
async fn dropping_kills_all_that_was_started() {
    let (exec, child) = started(FAMILY).await;
    drop(exec);
    until("the child ends", || !runs(&child)).await;
}

#[tokio::test]
async fn a_panic_kills_all_that_was_started() {
    let (exec, child) = started(FAMILY).await;
    let panicked = tokio::spawn(async move {
        let _exec = exec;
        panic!("on purpose");
    });
    assert!(panicked.await.is_err());
    until("the child ends", || !runs(&child)).await;
}

#[tokio::test]
async fn what_a_shell_leaves_behind_is_killed_too() {
    let (exec, child) = started("sleep 1000 & echo $!; : {port}").await;
    until("the shell ends", || exec.has_ended()).await;
    until("the child ends", || !runs(&child)).await;
}

#[tokio::test]
async fn a_restart_is_another_process_on_the_same_port() {
    let exec = Exec::start("echo $$ {port}; sleep 1000").unwrap();
    until("it writes", || exec.output().len() == 1).await;
    exec.restart().await.unwrap();
    until("it writes again", || exec.output().len() == 2).await;
    let lines = exec.output();
    let parts = |line: &str| {
        line.split_once(' ')
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
    };
    let (first, second) = (parts(&lines[0]).unwrap(), parts(&lines[1]).unwrap());
    assert_ne!(first.0, second.0);
    assert_eq!(first.1, second.1);
    assert!(!runs(&first.0) && !exec.has_ended());
    exec.stop().await;
}

#[tokio::test]
async fn output_takes_little_room() {
    // One line of 20 MB without an end, then many.
    let command = ": {port}; head -c 20000000 /dev/zero | tr '\\0' x; echo; seq 100000";
    let exec = Exec::start(command).unwrap();
    until("it ends", || exec.has_ended()).await;
    let words = exec.last_output().await;
    let lines = exec.output();
    assert_eq!(lines.len(), KEPT_LINES);
    assert_eq!(lines[KEPT_LINES - 1], "100000");
    assert_eq!(words.lines().count(), SHOWN_LINES + 1);
    let kept = Mutex::default();
    let endless = std::io::Cursor::new(vec![b'x'; 1 << 20]);
    let kept = Arc::new(kept);
    keep(endless, kept.clone(), false).await;
    assert_eq!(lock(&kept)[0].1.len(), MAX_LINE_LENGTH);
}
