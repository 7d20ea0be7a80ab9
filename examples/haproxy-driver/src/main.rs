//! The program: flags, and the driver as a server.

use clap::Parser;
use haproxy_driver::HaproxyDriver;
use haproxy_driver::haproxy::Layout;
use lbcf_driver_sdk::server::ServerArgs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// An LBCF driver for HAProxy
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,

    /// Folder of HAProxy's files and sockets: haproxy.cfg, conf.d, master.sock, runtime.sock
    #[arg(long, env = "HAPROXY_DIR", value_name = "FOLDER")]
    dir: PathBuf,

    /// The program, to check files with and to start, at least version 2.6
    #[arg(long, env = "HAPROXY_PROGRAM", default_value = "haproxy")]
    haproxy: PathBuf,

    /// Never start HAProxy: systemd or another container runs
    /// haproxy -W -S DIR/master.sock,mode,600 -f DIR/haproxy.cfg -f DIR/conf.d
    #[arg(long, env = "HAPROXY_ATTACH")]
    attach: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut args = Args::parse();
    let driver = match HaproxyDriver::new(Layout::new(&args.dir, &args.haproxy)) {
        Ok(driver) => driver,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: --dir: {error}");
            return ExitCode::from(2);
        }
    };
    tokio::spawn(driver.clone().keep_up(!args.attach));
    let fixture = include_str!("../conformance.yaml");
    args.server.settings.conformance_fixture = Some(fixture.to_owned());
    args.server.serve(driver).await
}
