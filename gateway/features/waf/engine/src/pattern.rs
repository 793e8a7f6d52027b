//! Patterns of `@rx`, in the syntax that the compiler writes (`seclang/patterns.ts`), with the literals that a text must
//! have for a match.

use crate::meter::Meter;
use crate::scratch;
use regex_automata::{
    Anchored, Input, MatchKind,
    dfa::{Automaton, StartKind, dense},
    hybrid::dfa::{Cache, DFA},
    nfa::thompson::{self, NFA, WhichCaptures, pikevm::PikeVM},
    util::captures::Captures,
};
use std::cell::RefCell;

use regex_syntax::{
    ParserBuilder,
    hir::{Class, Hir, HirKind},
};

/// Bytes that the states of one pattern may take before they are dropped and built anew.
const CACHE_BYTES: usize = 256 << 10;
/// Most literals of a set that is looked for.
const MOST_LITERALS: usize = 1500;
/// Most literals that are kept while parts of a pattern are joined.
const MOST_JOINED: usize = 128;
/// Longest literal: more bytes of one hardly narrow what it is found in.
const LONGEST: usize = 8;

/// Bytes of the table of a pattern that is worked out as a whole. Searching one writes to no memory.
const TABLE_BYTES: usize = 96 << 10;
/// Most states of a pattern's program of which a table is tried: of the Core Rule Set's, no larger one has a small table.
const TABLE_STATES: usize = 420;
/// A pattern with a literal of so many bytes runs so seldom that its states are worked out when they are needed.
const SELDOM: usize = 4;

/// How a pattern is searched for.
enum Search {
    Whole(Box<dense::DFA<Vec<u32>>>),
    Lazy(Box<DFA>, RefCell<Option<Cache>>),
}

pub struct Pattern {
    search: Search,
    captures: Option<PikeVM>,
    /// In lower case; each text that matches has one of them, in any case.
    pub literals: Option<Vec<Vec<u8>>>,
}

impl Pattern {
    /// `often`: it runs for many values, whatever its literals are.
    pub fn new(source: &str, captures: bool, often: bool) -> Result<Pattern, String> {
        let hir = ParserBuilder::new()
            .unicode(false)
            .utf8(false)
            .multi_line(true)
            .dot_matches_new_line(true)
            .nest_limit(200)
            .build()
            .parse(source)
            .map_err(|error| error.to_string())?;
        let nfa = compile(&hir, if captures { WhichCaptures::All } else { WhichCaptures::Implicit })?;
        let literals = literals_of(&hir);
        let often = often || literals.as_ref().is_none_or(|set| shortest(set) < SELDOM);
        let whole = if often && nfa.states().len() <= TABLE_STATES { scratch(|| table(&nfa)) } else { None };
        let search = match whole {
            Some(table) => Search::Whole(Box::new(table)),
            None => Search::Lazy(Box::new(lazy(&nfa)?), RefCell::new(None)),
        };
        let captures = match captures {
            true => Some(PikeVM::new_from_nfa(nfa).map_err(|error| error.to_string())?),
            false => None,
        };
        Ok(Pattern { search, captures, literals })
    }

    /// False, too, if the meter has no units left for it.
    pub fn is_match(&self, text: &[u8], meter: &Meter) -> bool {
        match &self.search {
            Search::Whole(table) => {
                let input = Input::new(text).anchored(Anchored::No).earliest(true);
                // Only a configuration that gives up fails, and this one does not.
                meter.charge(text.len()) && matches!(table.try_search_fwd(&input), Ok(Some(_)))
            }
            Search::Lazy(dfa, cache) => {
                let mut cache = cache.borrow_mut();
                let cache = cache.get_or_insert_with(|| dfa.create_cache());
                search_lazily(dfa, cache, text, meter).unwrap_or(false)
            }
        }
    }

    /// Ranges of the first match and its groups; none if the meter has no units left for it.
    pub fn captures(&self, text: &[u8], meter: &Meter) -> Vec<Option<(usize, usize)>> {
        let Some(vm) = &self.captures else { return Vec::new() };
        // Each byte may concern each state; in patterns of the Core Rule Set it is a part of them.
        let states = vm.get_nfa().states().len();
        if !meter.charge((CAPTURE + text.len()) * (1 + states / 16)) || !meter.allows(CAPTURE_BYTES * states) {
            return Vec::new();
        }
        let mut cache = vm.create_cache();
        let mut slots = Captures::all(vm.get_nfa().group_info().clone());
        vm.captures(&mut cache, text, &mut slots);
        slots.iter().map(|span| span.map(|span| (span.start, span.end))).collect()
    }

    /// Bytes of its table, or of what is there instead, and of its cache.
    pub fn memory(&self) -> (usize, usize) {
        match &self.search {
            Search::Whole(table) => (table.memory_usage(), 0),
            Search::Lazy(dfa, cache) => {
                (dfa.get_nfa().memory_usage(), cache.borrow().as_ref().map_or(0, |cache| cache.memory_usage()))
            }
        }
    }

    pub fn is_whole(&self) -> bool {
        matches!(self.search, Search::Whole(_))
    }
}

/// Bytes between two looks at what a search has built.
const CHUNK: usize = 32;
/// Units for each byte of a state that is built.
const BUILT: usize = 2;

/// None if the meter has no units left.
fn search_lazily(dfa: &DFA, cache: &mut Cache, text: &[u8], meter: &Meter) -> Option<bool> {
    let mut state = dfa.start_state_forward(cache, &Input::new(text)).ok()?;
    for chunk in text.chunks(CHUNK) {
        let before = cache.memory_usage();
        for &byte in chunk {
            state = dfa.next_state(cache, state, byte).ok()?;
            if state.is_tagged() && (state.is_match() || state.is_dead()) {
                return Some(state.is_match());
            }
        }
        let after = cache.memory_usage();
        // States that were dropped were full.
        let built = after.checked_sub(before).unwrap_or(CACHE_BYTES);
        if !meter.charge(chunk.len() + BUILT * built) {
            return None;
        }
    }
    Some(dfa.next_eoi_state(cache, state).ok()?.is_match())
}

fn lazy(nfa: &NFA) -> Result<DFA, String> {
    let config = DFA::config()
        .match_kind(MatchKind::LeftmostFirst)
        .cache_capacity(CACHE_BYTES)
        .skip_cache_capacity_check(true)
        .byte_classes(true);
    DFA::builder().configure(config).build_from_nfa(nfa.clone()).map_err(|error| error.to_string())
}

/// Units of a search for groups, in bytes of text, and bytes of memory for each state of one.
const CAPTURE: usize = 64;
const CAPTURE_BYTES: usize = 64;

/// Returns the whole automaton if it is small.
fn table(nfa: &NFA) -> Option<dense::DFA<Vec<u32>>> {
    let config = dense::Config::new()
        .start_kind(StartKind::Unanchored)
        .match_kind(MatchKind::LeftmostFirst)
        .dfa_size_limit(Some(TABLE_BYTES))
        .determinize_size_limit(Some(TABLE_BYTES));
    dense::Builder::new().configure(config).build_from_nfa(nfa).ok()
}

fn compile(hir: &Hir, captures: WhichCaptures) -> Result<NFA, String> {
    let config = thompson::Config::new().utf8(false).which_captures(captures).nfa_size_limit(Some(8 << 20)).shrink(false);
    thompson::Compiler::new().configure(config).build_from_hir(hir).map_err(|error| error.to_string())
}

type Set = Vec<Vec<u8>>;

/// Literals of a part of a pattern.
struct Facts {
    /// All texts that it matches, in lower case, where there are few.
    exact: Option<Set>,
    /// Each text that it matches has one of them.
    needed: Option<Set>,
}

fn literals_of(hir: &Hir) -> Option<Set> {
    let Facts { exact, needed } = facts_of(hir);
    let mut set = better(needed, exact.filter(|set| usable(set)))?;
    set.sort();
    set.dedup();
    // A literal that contains another one adds nothing.
    let shorter = set.clone();
    set.retain(|text| !shorter.iter().any(|other| other.len() < text.len() && contains(text, other)));
    Some(set)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn usable(set: &Set) -> bool {
    !set.is_empty() && set.len() <= MOST_LITERALS && set.iter().all(|text| !text.is_empty())
}

fn shortest(set: &Set) -> usize {
    set.iter().map(Vec::len).min().unwrap_or(0)
}

/// Prefers longer literals, then fewer.
fn better(a: Option<Set>, b: Option<Set>) -> Option<Set> {
    match (a, b) {
        (Some(a), Some(b)) => {
            let rank = |set: &Set| (shortest(set).min(4), -(set.len() as isize));
            Some(if rank(&a) >= rank(&b) { a } else { b })
        }
        (a, b) => a.or(b),
    }
}

fn facts_of(hir: &Hir) -> Facts {
    let empty = || Facts { exact: Some(vec![Vec::new()]), needed: None };
    let unknown = || Facts { exact: None, needed: None };
    match hir.kind() {
        HirKind::Empty => empty(),
        HirKind::Look(_) => empty(),
        HirKind::Literal(literal) => {
            let text = literal.0.to_ascii_lowercase();
            Facts { exact: Some(vec![text]), needed: None }
        }
        HirKind::Class(class) => Facts { exact: class_texts(class), needed: None },
        HirKind::Capture(capture) => facts_of(&capture.sub),
        HirKind::Repetition(repetition) => {
            let Facts { exact, needed } = facts_of(&repetition.sub);
            match (repetition.min, repetition.max) {
                (0, Some(1)) => Facts {
                    exact: exact.map(|mut set| {
                        set.push(Vec::new());
                        set
                    }),
                    needed: None,
                },
                (0, _) => unknown(),
                (1, Some(1)) => Facts { exact, needed },
                _ => Facts { exact: None, needed: better(needed, exact.filter(usable)) },
            }
        }
        HirKind::Concat(parts) => concat(parts),
        HirKind::Alternation(parts) => alternation(parts),
    }
}

fn class_texts(class: &Class) -> Option<Set> {
    const MOST_BYTES: usize = 10;
    let mut set = Set::new();
    match class {
        Class::Bytes(class) => {
            for range in class.ranges() {
                for byte in range.start()..=range.end() {
                    let text = vec![byte.to_ascii_lowercase()];
                    if !set.contains(&text) {
                        set.push(text);
                    }
                    if set.len() > MOST_BYTES {
                        return None;
                    }
                }
            }
        }
        Class::Unicode(_) => return None,
    }
    (!set.is_empty()).then_some(set)
}

fn concat(parts: &[Hir]) -> Facts {
    let mut needed: Option<Set> = None;
    // Texts of the parts since the last one that could not be joined.
    let mut run: Set = vec![Vec::new()];
    let mut whole = true;
    for part in parts {
        let facts = facts_of(part);
        needed = better(needed, facts.needed);
        match facts.exact {
            Some(set) if run.len() * set.len() <= MOST_JOINED && shortest(&run) < LONGEST => {
                run = run.iter().flat_map(|head| set.iter().map(move |tail| [head.as_slice(), tail].concat())).collect();
            }
            Some(set) => {
                needed = better(needed, Some(run).filter(usable));
                whole = false;
                run = set;
            }
            None => {
                needed = better(needed, Some(run).filter(usable));
                whole = false;
                run = vec![Vec::new()];
            }
        }
    }
    if whole {
        return Facts { exact: Some(run), needed };
    }
    Facts { exact: None, needed: better(needed, Some(run).filter(usable)) }
}

fn alternation(parts: &[Hir]) -> Facts {
    let facts: Vec<Facts> = parts.iter().map(facts_of).collect();
    let exact = facts.iter().try_fold(Set::new(), |mut all, part| {
        all.extend(part.exact.clone()?);
        (all.len() <= MOST_LITERALS).then_some(all)
    });
    if exact.as_ref().is_some_and(|set| set.len() <= MOST_JOINED) {
        return Facts { exact, needed: None };
    }
    let needed = facts.into_iter().try_fold(Set::new(), |mut all, part| {
        all.extend(better(part.needed, part.exact.filter(usable))?);
        (all.len() <= MOST_LITERALS).then_some(all)
    });
    Facts { exact: None, needed: needed.filter(usable) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(source: &str) -> Vec<String> {
        let found = Pattern::new(source, false, false).unwrap().literals.unwrap_or_default();
        found.into_iter().map(|text| String::from_utf8(text).unwrap()).collect()
    }

    #[test]
    fn finds_literals_that_each_match_has() {
        assert_eq!(literals("(?i)union.*?select"), ["union"]);
        assert_eq!(literals("(?:foo|bar)\\s*\\("), ["bar", "foo"]);
        assert_eq!(literals("^[a-z]+$"), Vec::<String>::new());
    }

    #[test]
    fn finds_matches_beside_line_ends() {
        let pattern = Pattern::new("(?i)^union$", false, false).unwrap();
        let meter = Meter::new(1 << 20);
        assert!(pattern.is_match(b"a\nUNION\nb", &meter));
        assert!(!pattern.is_match(b"a union", &meter));
    }

    #[test]
    fn stops_where_the_meter_has_no_units_left() {
        let lazy = Pattern::new("select.*from", false, false).unwrap();
        assert!(!lazy.is_whole());
        let meter = Meter::new(100);
        assert!(!lazy.is_match(&[b'a'; 1000], &meter));
        assert!(meter.is_spent());
    }
}
