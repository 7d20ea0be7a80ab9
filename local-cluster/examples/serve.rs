//! Serves a local cluster until Ctrl-C: `cargo run -p local-cluster --example serve -- 127.0.0.1:8001`.
//!
//! Prints the kubeconfig to stdout: `... > /tmp/kubeconfig`, then `kubectl --kubeconfig /tmp/kubeconfig get nodes`.
//! With a directory behind the address, the cluster is kept there: `... -- 127.0.0.1:8001 ./cluster`.

use std::io::Write as _;

use local_cluster::{LocalCluster, LocalClusterOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next();
    let address = address.as_deref().unwrap_or("127.0.0.1:0").parse()?;
    let options = LocalClusterOptions {
        data_dir: arguments.next().map(Into::into),
        ..LocalClusterOptions::default()
    };
    let cluster = LocalCluster::start(options).await?;
    let server = cluster.serve(address).await?;
    let mut out = std::io::stdout();
    out.write_all(server.kubeconfig().as_bytes())?;
    out.flush()?;
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    cluster.shutdown().await;
    Ok(())
}
