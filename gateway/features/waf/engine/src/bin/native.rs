//! Runs the engine natively over frames of standard input, for tests and measurements: `gw-waf-native PROGRAM`, a file
//! with an encoded program. Each frame is a request. With `--bench N` it runs each request N times and prints
//! microseconds and units.

use gw_waf_engine::{frame, program};
use std::io::{Read, Write};
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let rounds: Option<u32> = arguments.iter().position(|text| text == "--bench").and_then(|at| arguments.get(at + 1)?.parse().ok());
    let program = std::fs::read(arguments.get(1).expect("a file with a program")).expect("a file that can be read");
    let started = Instant::now();
    let rules = program::read(&program).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    let nfas: usize = rules.patterns.iter().map(|pattern| pattern.memory().0).sum();
    let without = rules.patterns.iter().filter(|pattern| pattern.literals.is_none()).count();
    eprintln!(
        "{} rules, {} patterns ({} whole, {without} without literals), {} groups, loaded in {:?}; NFAs {} KB; scanner (bytes, literals) {:?}",
        rules.rules.len(),
        rules.patterns.len(),
        rules.patterns.iter().filter(|pattern| pattern.is_whole()).count(),
        rules.groups,
        started.elapsed(),
        nfas / 1024,
        rules.scanner.as_ref().map(|scanner| scanner.facts()),
    );
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).expect("standard input");
    let mut frames = frame::Reader(&bytes);
    let mut out = std::io::stdout().lock();
    while let Some(request) = frames.text() {
        let mut verdict = Vec::new();
        frame::inspect(&rules, request, &mut verdict).expect("a whole request");
        match rounds {
            None => {
                out.write_all(&(verdict.len() as u32).to_le_bytes()).expect("standard output");
                out.write_all(&verdict).expect("standard output");
            }
            Some(rounds) => {
                frame::inspect(&rules, request, &mut verdict);
                let before = cpu_micros();
                for _ in 0..rounds {
                    verdict.clear();
                    frame::inspect(&rules, request, &mut verdict);
                }
                let micros = (cpu_micros() - before) as f64 / f64::from(rounds);
                println!("{micros:.1} us of CPU, {} units", frame::units(&verdict).unwrap_or(0));
            }
        }
    }
    let caches: usize = rules.patterns.iter().map(|pattern| pattern.memory().1).sum();
    eprintln!("caches {} KB", caches / 1024);
}

/// CPU time of the process, from the kernel's count in ticks of 10 ms.
fn cpu_micros() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a Linux system");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields[index].parse::<u64>().unwrap_or(0);
    (ticks(11) + ticks(12)) * 10_000
}
