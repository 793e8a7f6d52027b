//! An engine for rules in the form of ModSecurity, made for the OWASP Core Rule Set: all values of a request are searched
//! once for the literals of all patterns, and a pattern runs, in linear time, only where it can match.

#[cfg(target_family = "wasm")]
mod arena;
mod best_fit;
pub mod body;
mod clock;
mod digest;
mod effects;
mod entities;
pub mod frame;
pub mod injection;
mod matching;
pub mod meter;
pub mod pattern;
pub mod program;
pub mod proofs;
pub mod rules;
pub mod scanner;
mod targets;
pub mod transaction;
pub mod transform;
mod values;
mod vocabulary;
#[cfg(target_family = "wasm")]
mod wasm;

#[cfg(target_family = "wasm")]
use arena::scratch;

/// The one of the module's allocator; elsewhere memory is not scarce.
#[cfg(not(target_family = "wasm"))]
fn scratch<T>(build: impl FnOnce() -> T) -> T {
    build()
}
