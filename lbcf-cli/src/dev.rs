//! `lbcf dev`: a driver under development, with a cluster and the controller around it.
//!
//! The controller calls the driver through a proxy that shows each call. The driver is started again
//! when its sources or its program change, and the manifests are applied again when the driver or they have changed.

mod applier;
mod args;
mod printer;
mod proxy;
mod session;
mod sources;
mod watch;

pub(crate) use args::DevArgs;

use lbcf_serving::signals::Signals;
use lbcf_serving::streams::is_closed;
use printer::Printer;
use session::Session;
use std::error::Error;

/// Runs until a signal or until standard output is closed, and leaves nothing running, on disk or in the driver's cloud.
pub(crate) async fn run(args: DevArgs) -> Result<(), Box<dyn Error>> {
    let mut signals = Signals::listen()?;
    let printer = Printer::new(args.output, args.driver_url.as_deref());
    let mut session = Session::default();
    let ended = tokio::select! {
        ended = session.run(&args, &printer) => ended,
        _ = signals.next() => Ok(()),
    };
    tokio::select! {
        () = session.clean_up(&printer) => {}
        _ = signals.next() => {}
    }
    let left = session.left().await;
    session.end().await;
    match ended {
        Err(error) if !error.downcast_ref().is_some_and(is_closed) => Err(error),
        _ if left.is_empty() => Ok(()),
        _ => Err(format!("left in the driver's cloud, of: {}", left.join(", ")).into()),
    }
}
