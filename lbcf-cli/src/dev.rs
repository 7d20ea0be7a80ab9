//! `lbcf dev`: a driver under development, with a cluster and the controller around it.
//!
//! The controller calls the driver through a proxy that shows each call. The driver is started again
//! when its program changes, and the manifests are applied again when the driver or they have changed.

mod args;
mod printer;
mod proxy;
mod session;
mod watch;

pub(crate) use args::DevArgs;

use printer::Printer;
use session::Session;
use std::error::Error;

/// Runs until Ctrl-C or SIGTERM, and leaves nothing running or on disk.
pub(crate) async fn run(args: DevArgs) -> Result<(), Box<dyn Error>> {
    let shutdown = lbcf_serving::signals::shutdown()?;
    let printer = Printer::new(args.output);
    let mut session = Session::default();
    let ended = tokio::select! {
        ended = session.run(&args, &printer) => ended,
        () = shutdown => Ok(()),
    };
    session.end().await;
    ended
}
