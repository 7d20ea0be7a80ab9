//! The server as its callers meet it: through TLS, trusting nothing but a CA bundle.

mod api_server;
mod files;
mod fixture;
mod replicas;
mod whole;
