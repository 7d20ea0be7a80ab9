//! Ports that nothing else uses: the values of `{{number}}`, and where a driver listens that has to be
//! told. They are below the machine's ephemeral ports, which any outgoing connection may take, and
//! reserved against other runs on the machine by a lock file for each hundred of them.

use crate::sync::lock;
use lbcf_serving::client_stream::localhost;
use socket2::{Domain, Socket, Type};
use std::fs::{File, Metadata, TryLockError};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The numbers that are reserved together.
const CELL: u16 = 100;
/// The numbers of a check that follow from the seed alone; further ones also depend on the order in
/// which checks take them.
const OF_CHECK: usize = 8;
/// A run takes no more than this part of the range, so that as many find some.
const SHARES: usize = 4;
/// The number of ports that are tried before one is taken that is not free.
const TRIES: usize = 50;

/// The numbers of a run.
#[derive(Debug)]
pub struct Numbers {
    range: RangeInclusive<u16>,
    /// The first reserved cell, which the seed determines.
    start: u16,
    checks: usize,
    /// True if the driver listens on this machine, so that a port has to be free here.
    is_local: bool,
    /// Where the lock files are.
    folder: PathBuf,
    more: AtomicUsize,
    reserved: Mutex<Reserved>,
}

#[derive(Debug, Default)]
struct Reserved {
    /// The numbers of the reserved cells.
    numbers: Vec<u16>,
    /// The lock files, which hold the reservations.
    locks: Vec<(PathBuf, File)>,
    /// The number of reserved cells.
    cells: usize,
    /// The number of cells that were tried.
    tried: u16,
}

impl Numbers {
    /// For `checks` checks; without a range the default one of this machine.
    pub fn new(
        range: Option<RangeInclusive<u16>>,
        seed: u64,
        checks: usize,
        is_local: bool,
    ) -> Self {
        let range = range.unwrap_or_else(|| default_range(ephemeral_ports()));
        let start = u16::try_from(seed % u64::from(cells(&range))).unwrap_or_default();
        Self {
            range,
            start,
            checks,
            is_local,
            folder: std::env::temp_dir(),
            more: AtomicUsize::new(0),
            reserved: Mutex::default(),
        }
    }

    /// For servers on this machine that have to be told where to listen, reserved until this is dropped.
    pub fn of_this_machine() -> Self {
        Self::new(None, u64::from(std::process::id()), 1, true)
    }

    /// The `nth` number of a check: the same for the same seed, unless another run has reserved it, its
    /// port is in use, or the check takes more than a few.
    pub fn take(&self, check: usize, nth: usize) -> u16 {
        let mut number = if nth < OF_CHECK {
            self.at(check * OF_CHECK + nth)
        } else {
            self.another()
        };
        for _ in 0..TRIES {
            if !self.is_local || is_free(number) {
                break;
            }
            number = self.another();
        }
        number
    }

    fn another(&self) -> u16 {
        self.at(self.checks * OF_CHECK + self.more.fetch_add(1, Ordering::Relaxed))
    }

    /// The number at this position of the reserved ones, which start again at their end.
    fn at(&self, position: usize) -> u16 {
        let mut reserved = lock(&self.reserved);
        let most = (usize::from(cells(&self.range)) / SHARES).max(1);
        while reserved.numbers.len() <= position
            && reserved.cells < most
            && reserved.tried < cells(&self.range)
        {
            let nth = (self.start + reserved.tried) % cells(&self.range);
            reserved.tried += 1;
            // Another run may have it.
            if let Ok(lock) = self.reserve(first_cell(&self.range) + nth) {
                reserved.cells += 1;
                reserved.locks.extend(lock);
                reserved.numbers.extend(self.cell(nth));
            }
        }
        if reserved.numbers.is_empty() {
            // All are reserved by other runs: trying ports is what is left.
            reserved.numbers = self.range.clone().collect();
        }
        let count = reserved.numbers.len();
        reserved.numbers[position % count]
    }

    /// The numbers of the range in one of its cells.
    fn cell(&self, nth: u16) -> impl Iterator<Item = u16> {
        let cell = first_cell(&self.range) + nth;
        let range = self.range.clone();
        range.filter(move |number| number / CELL == cell)
    }

    /// Reserves a cell against other runs on this machine; `None` where there can be no lock file.
    ///
    /// # Errors
    /// When another run holds it.
    fn reserve(&self, cell: u16) -> Result<Option<(PathBuf, File)>, ()> {
        let name = format!("lbcf-conformance-numbers-{cell}.lock");
        let path = self.folder.join(name);
        for _ in 0..TRIES {
            let Some(file) = lock_file(&path) else {
                return Ok(None);
            };
            match lock_at(&path, &file) {
                Ok(true) => return Ok(Some((path, file))),
                Ok(false) => {}
                Err(TryLockError::WouldBlock) => return Err(()),
                Err(TryLockError::Error(_)) => return Ok(None),
            }
        }
        Err(())
    }
}

const fn first_cell(range: &RangeInclusive<u16>) -> u16 {
    *range.start() / CELL
}

const fn cells(range: &RangeInclusive<u16>) -> u16 {
    *range.end() / CELL - first_cell(range) + 1
}

impl Drop for Reserved {
    fn drop(&mut self) {
        for (path, lock) in &self.locks {
            // While it is locked: another run may lock what is at the path as soon as it is not.
            let _ = std::fs::remove_file(path);
            // A child process inherits the open files until it executes its program; without an explicit
            // unlock the reservations would last that long.
            let _ = lock.unlock();
        }
    }
}

/// Opened for reading where it exists: it may belong to another user.
fn lock_file(path: &Path) -> Option<File> {
    let existing = || File::open(path).ok();
    let created = || File::create_new(path).ok();
    existing().or_else(created).or_else(existing)
}

/// Locks a file that was opened at this path; false if the run that held it has removed it since.
fn lock_at(path: &Path, file: &File) -> Result<bool, TryLockError> {
    file.try_lock()?;
    let id = |metadata: Metadata| (metadata.dev(), metadata.ino());
    let there = std::fs::metadata(path).map(id).ok();
    Ok(there.is_some() && there == file.metadata().map(id).ok())
}

/// True if nothing listens on this port of the loopback address.
pub(crate) fn is_free(port: u16) -> bool {
    let is_free_at = |domain, address: SocketAddr| {
        let stream = probe(domain, address, Type::STREAM);
        stream.and(probe(domain, address, Type::DGRAM)).is_ok()
    };
    let [v4, v6] = localhost(port);
    // Without IPv6 on the machine no process can listen on that address.
    let has_v6 = probe(Domain::IPV6, localhost(0)[1], Type::STREAM).is_ok();
    is_free_at(Domain::IPV4, v4) && (!has_v6 || is_free_at(Domain::IPV6, v6))
}

/// A socket that is bound and does not listen. A child process inherits it until it executes its
/// program; it must keep neither the next probe nor the driver from the port.
fn probe(domain: Domain, address: SocketAddr, kind: Type) -> std::io::Result<Socket> {
    let socket = Socket::new(domain, kind, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

/// The ports that the system gives to outgoing connections and to listeners on port 0.
fn ephemeral_ports() -> RangeInclusive<u16> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let range = parse_range(&text.unwrap_or_default());
    // What IANA reserves for it, as other systems do.
    range.unwrap_or(49_152..=65_535)
}

fn parse_range(text: &str) -> Option<RangeInclusive<u16>> {
    let mut words = text.split_ascii_whitespace();
    let range = words.next()?.parse().ok()?..=words.next()?.parse().ok()?;
    (!range.is_empty()).then_some(range)
}

/// 20000 to 29999, below the node ports of Kubernetes, if these ports are not ephemeral; else others
/// that need no privileges.
fn default_range(ephemeral: RangeInclusive<u16>) -> RangeInclusive<u16> {
    const ENOUGH: u16 = 2_000;
    let (first, last) = ephemeral.into_inner();
    if first >= 20_000 + ENOUGH {
        20_000..=first.min(30_000) - 1
    } else if first >= 10_000 + ENOUGH {
        10_000..=first - 1
    } else if last <= u16::MAX - ENOUGH {
        last + 1..=u16::MAX
    } else {
        // All are ephemeral.
        20_000..=29_999
    }
}

#[cfg(test)]
mod tests;
