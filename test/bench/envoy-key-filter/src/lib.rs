use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType};

proxy_wasm::main! {{
    proxy_wasm::set_root_context(|_| Box::new(Root));
}}

struct Root;

impl Context for Root {}

impl RootContext for Root {
    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(KeyFilter))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

struct KeyFilter;

impl Context for KeyFilter {}

impl HttpContext for KeyFilter {
    /// Reads one header, compares it, and sets one.
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        match self.get_http_request_header("x-api-key") {
            Some(key) if key == "bench-key" => {
                self.set_http_request_header("x-auth-consumer", Some("bench"));
                Action::Continue
            }
            _ => {
                self.send_http_response(401, vec![], Some(b"no key"));
                Action::Pause
            }
        }
    }
}
