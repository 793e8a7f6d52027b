mod gw;

use gw::{config, request, response};
use std::cell::Cell;

thread_local! {
    /// What `init` has read of the config: it is there in every call.
    static STATUS: Cell<i32> = Cell::new(200);
}

/// Runs once for each config.
#[no_mangle]
pub extern "C" fn init() -> i32 {
    STATUS.with(|status| status.set(config::number("/status").unwrap_or(200.0) as i32));
    gw::READY
}

/// Runs for each request that the middlewares let pass.
#[no_mangle]
pub extern "C" fn dispatch() -> i32 {
    let (method, path, body) = (request::method(), request::path(), request::body());
    let body = String::from_utf8_lossy(&body).into_owned();
    let answer = ["{\"method\":\"", &json(&method), "\",\"path\":\"", &json(&path), "\",\"body\":\"", &json(&body), "\"}"];
    response::set_header("content-type", "application/json");
    response::send(STATUS.with(Cell::get), answer.concat().as_bytes());
    gw::ANSWERED
}

/// Text as it stands between the quotes of a JSON string.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\u{0}'..='\u{1f}' => {
                let digit = |value: u32| char::from_digit(value, 16).unwrap_or('0');
                out.push_str("\\u00");
                out.extend([digit(letter as u32 >> 4), digit(letter as u32 & 15)]);
            }
            _ => out.push(letter),
        }
    }
    out
}
