//! A shell and all processes that it starts, as far as they stay in its process group.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::process::ExitStatus;
use std::time::Duration;
use tokio::process::Child;
use tokio::time::{sleep, timeout};

/// The time that a group may take to end after SIGTERM.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// The interval of looking for processes of a group whose shell has ended.
const POLL: Duration = Duration::from_millis(20);

/// Killed when it is dropped.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    shell: Child,
    /// `None` once the group was killed: the system may reuse its number.
    id: Option<Pid>,
    /// The status of a shell that exited on its own.
    status: Option<ExitStatus>,
}

impl ProcessGroup {
    /// The group that this shell leads.
    pub(super) fn of(shell: Child) -> Self {
        let id = shell.id().and_then(|id| i32::try_from(id).ok());
        Self {
            shell,
            id: id.and_then(Pid::from_raw),
            status: None,
        }
    }

    /// True if the shell has exited. The rest of the group is killed then: the kit cannot test a
    /// driver that its shell does not wait for.
    pub(super) fn has_ended(&mut self) -> bool {
        match self.shell.try_wait() {
            Ok(None) => false,
            Ok(Some(status)) => {
                self.status = Some(status);
                self.kill();
                true
            }
            Err(_) => true,
        }
    }

    pub(super) const fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Ends every process of the group, and returns when none is left: with SIGTERM first if `gracefully`,
    /// and with SIGKILL what has not ended within [`GRACE`].
    pub(super) async fn end(mut self, gracefully: bool) {
        if gracefully {
            self.signal(Signal::TERM);
            if timeout(GRACE, self.ended()).await.is_ok() {
                return;
            }
        }
        self.signal(Signal::KILL);
        // Not even SIGKILL ends a process that waits for a broken device.
        let _ = timeout(GRACE, self.ended()).await;
    }

    /// The shell often ends first: most shells do not pass signals on, and end at once.
    async fn ended(&mut self) {
        let _ = self.shell.wait().await;
        while self.id.is_some_and(is_running) {
            sleep(POLL).await;
        }
        self.id = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.id {
            // The processes may have exited already.
            let _ = kill_process_group(group, signal);
        }
    }

    fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.id = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// True if a process of the group runs. One that exited and was not waited for does not, but still
/// receives signals: in a container, process 1 may never wait for orphans.
fn is_running(group: Pid) -> bool {
    if test_kill_process_group(group) == Err(Errno::SRCH) {
        return false;
    }
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return true;
    };
    let mut stats = processes
        .flatten()
        .filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok())
        .peekable();
    // Without a process file system there is nothing to read.
    stats.peek().is_none() || stats.any(|stat| is_running_in(&stat, group))
}

/// True if this line of `/proc/PID/stat` is of a process that runs in the group.
fn is_running_in(stat: &str, group: Pid) -> bool {
    // The name, in parentheses, may contain anything.
    let Some((_, fields)) = stat.rsplit_once(") ") else {
        return false;
    };
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<i32>().ok());
    let threads = number(17).unwrap_or_default();
    // A process whose first thread has exited counts as a zombie while others still hold its sockets.
    let has_exited = matches!(fields.first(), Some(&("Z" | "X"))) && threads <= 1;
    number(2) == Some(group.as_raw_nonzero().get()) && !has_exited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zombies_do_not_count_unless_threads_of_them_run() {
        let group = Pid::from_raw(7).unwrap();
        // State, parent, group, … and the number of threads.
        let stat = |state: &str, group: u32, threads: u32| {
            let rest = "0 ".repeat(14);
            format!("12 (a) Z (b) {state} 1 {group} {rest}{threads} 0")
        };
        for (stat, expected) in [
            (stat("S", 7, 1), true),
            (stat("S", 8, 1), false),
            (stat("Z", 7, 1), false),
            (stat("Z", 7, 3), true),
            (stat("X", 7, 0), false),
            ("nonsense".to_owned(), false),
        ] {
            assert_eq!(is_running_in(&stat, group), expected, "{stat}");
        }
    }
}
