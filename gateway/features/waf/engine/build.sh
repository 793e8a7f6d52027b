#!/bin/sh
# Builds engine.wasm, the module that gw ships. The same sources make the same bytes on any machine: paths of the machine
# are left out, and rust-toolchain.toml names the compiler.
set -eu
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-target}
cargo_home=${CARGO_HOME:-$HOME/.cargo}
# These replace the flags of .cargo/config.toml.
flags="-C link-arg=--initial-memory=20971520 -C link-arg=-zstack-size=131072 -C link-arg=--stack-first"
flags="$flags -C target-feature=+bulk-memory -C strip=symbols"
# Of prefixes that fit, the last one counts.
flags="$flags --remap-path-prefix=$cargo_home=cargo --remap-path-prefix=$PWD=engine"
cargo fetch --locked --target wasm32-wasip1
for registry in "$cargo_home"/registry/src/*; do
  flags="$flags --remap-path-prefix=$registry=crates"
done
RUSTFLAGS=$flags cargo build --release --locked --target wasm32-wasip1 --lib --target-dir "$target"
cp "$target/wasm32-wasip1/release/gw_waf_engine.wasm" "${1:-engine.wasm}"
[ $# -eq 0 ] || exit 0
# What engine.test.ts compares with the sources, on machines without Rust.
LC_ALL=C
export LC_ALL
{
  sha256sum engine.wasm
  echo "$(sha256sum Cargo.lock Cargo.toml build.sh rust-toolchain.toml src/*.rs | sha256sum | cut -d' ' -f1)  sources"
} >engine.sha256
