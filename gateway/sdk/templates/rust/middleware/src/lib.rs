mod gw;

use gw::{config, request, response};
use std::cell::RefCell;

thread_local! {
    /// What `init` has read of the config: it is there in every call.
    static GREETING: RefCell<String> = RefCell::new(String::new());
}

/// Runs once for each config.
#[no_mangle]
pub extern "C" fn init() -> i32 {
    let greeting = config::get("/greeting").unwrap_or_default();
    GREETING.with(|place| place.replace(greeting));
    gw::READY
}

/// Runs for each request, before the dispatcher.
#[no_mangle]
pub extern "C" fn on_request() -> i32 {
    let name = match request::header("x-name") {
        Some(name) if !name.is_empty() => name,
        _ => {
            gw::info("say your name");
            response::problem(403, "forbidden", "Forbidden", "say your name in the header x-name");
            return gw::ANSWERED;
        }
    };
    // Staged for whatever the answer will be.
    GREETING.with(|greeting| response::set_header("x-greeting", &[&greeting.borrow(), " ", &name].concat()));
    gw::CONTINUE
}
