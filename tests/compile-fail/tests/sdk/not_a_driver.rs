//! Something that is no driver, given to what takes one, as the server does.
//! Named: NotADriver, lbcf_driver_sdk::Driver, RawDriver.

use lbcf_driver_sdk::RawDriver;

struct NotADriver;

fn serve(_driver: impl RawDriver) {}

fn main() {
    serve(NotADriver);
}
