//! A clock that also counts while the machine is suspended.

use std::time::Duration;

/// The time since a fixed point in the past, such as the start of the machine.
///
/// On Linux the `Instant` of tokio and of the standard library stands still while the machine is
/// suspended, and other replicas' clocks do not.
#[cfg(unix)]
pub(super) fn boot_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::Boottime;
    // Elsewhere, as on macOS, the monotonic clock counts while the machine is suspended.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::Monotonic;

    // The conversion fails for negative times only.
    clock_gettime(CLOCK).try_into().unwrap_or_default()
}

/// As above. The `Instant` of Windows counts while the machine is suspended.
#[cfg(not(unix))]
pub(super) fn boot_time() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;

    static FIRST_USE: LazyLock<Instant> = LazyLock::new(Instant::now);
    FIRST_USE.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes() {
        let first = boot_time();
        while boot_time() == first {
            std::thread::yield_now();
        }
        assert!(boot_time() > first);
    }
}
