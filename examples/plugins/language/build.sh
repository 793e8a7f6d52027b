#!/bin/sh
# Needs Rust and its target: rustup target add wasm32-unknown-unknown
set -eu
cd "$(dirname "$0")"
cargo build --release --locked
cp target/wasm32-unknown-unknown/release/language.wasm language.wasm
