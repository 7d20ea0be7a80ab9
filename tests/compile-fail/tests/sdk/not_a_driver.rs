//! Something that is no driver, given to what takes one, as the server does.
//! Named: NotADriver, lbcf_driver_sdk::Driver.

use lbcf_driver_sdk::Driver;

struct NotADriver;

fn serve(_driver: impl Driver) {}

fn main() {
    serve(NotADriver);
}
