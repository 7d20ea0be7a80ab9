//! What defects know of a run of the driver: the cloud, and what the driver remembers.

use crate::Defect;
use crate::memory::Memory;
use crate::overlay::ObservationOverlay;
use mock_driver::Cloud;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// One run of a driver with defects. Its memory ends with it.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) cloud: Cloud,
    pub(crate) defects: Vec<Defect>,
    pub(crate) memory: Memory,
    pub(crate) crash: CancellationToken,
    pub(crate) overlay: ObservationOverlay,
    pub(crate) started: Instant,
}

impl Driver {
    pub(crate) fn new(
        cloud: Cloud,
        defects: Vec<Defect>,
        overlay: ObservationOverlay,
        crash: CancellationToken,
    ) -> Self {
        Self {
            cloud,
            defects,
            memory: Memory::default(),
            crash,
            overlay,
            started: Instant::now(),
        }
    }

    pub(crate) fn has(&self, defect: Defect) -> bool {
        self.defects.contains(&defect)
    }
}
