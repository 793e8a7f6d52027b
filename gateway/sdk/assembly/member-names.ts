/** The names of members of open objects, innermost last: finds those that an object has twice. */
import { unescaped } from "./json-string";
import { Text } from "./text";

/** Bytes of an entry: pointer and length. */
const ENTRY: i32 = 8;
/** Names that are compared in pairs; more are sorted. */
const FEW: i32 = 8;

@unmanaged
export class MemberNames {
  private entries: usize = heap.alloc(64 * ENTRY);
  private room: i32 = 64;
  private used: i32 = 0;
  /** For each open object, how many entries stand before its own. */
  private bases: usize = heap.alloc(64 * 4);
  private baseRoom: i32 = 64;
  private open: i32 = 0;

  /** An object begins. */
  begin(): void {
    if (this.open == this.baseRoom) {
      this.bases = larger(this.bases, this.baseRoom * 4);
      this.baseRoom *= 2;
    }
    store<i32>(this.bases + this.open * 4, this.used);
    this.open++;
  }

  /** A name of the innermost object, with its quotes. */
  add(json: Text): void {
    if (this.used == this.room) {
      this.entries = larger(this.entries, this.room * ENTRY);
      this.room *= 2;
    }
    const name = json.indexOf(0x5c) < 0 ? new Text(json.ptr + 1, json.length - 2) : unescaped(json, true);
    store<u32>(this.entries + this.used * ENTRY, <u32>name.ptr);
    store<i32>(this.entries + this.used * ENTRY, name.length, 4);
    this.used++;
  }

  /** The innermost object ends. Returns true if it has a name twice. */
  end(): bool {
    const from = load<i32>(this.bases + --this.open * 4);
    const count = this.used - from;
    const first = this.entries + from * ENTRY;
    this.used = from;
    return count <= FEW ? repeatsInPairs(first, count) : repeatsSorted(first, count);
  }
}

function larger(old: usize, bytes: i32): usize {
  const ptr = heap.alloc(bytes * 2);
  memory.copy(ptr, old, bytes);
  return ptr;
}

function repeatsInPairs(first: usize, count: i32): bool {
  for (let i = 1; i < count; i++) {
    for (let j = 0; j < i; j++) if (compare(first + i * ENTRY, first + j * ENTRY) == 0) return true;
  }
  return false;
}

function repeatsSorted(first: usize, count: i32): bool {
  sort(first, count);
  for (let i = 1; i < count; i++) if (compare(first + i * ENTRY, first + (i - 1) * ENTRY) == 0) return true;
  return false;
}

/** Compares by length, then by bytes. */
function compare(one: usize, other: usize): i32 {
  const length = load<i32>(one, 4);
  const difference = length - load<i32>(other, 4);
  return difference != 0 ? difference : memory.compare(load<u32>(one), load<u32>(other), length);
}

/** Heapsort: no order of names makes it slow. */
function sort(first: usize, count: i32): void {
  for (let root = (count >> 1) - 1; root >= 0; root--) sink(first, root, count);
  for (let end = count - 1; end > 0; end--) {
    swap(first, first + end * ENTRY);
    sink(first, 0, end);
  }
}

function sink(first: usize, from: i32, count: i32): void {
  let root = from;
  for (;;) {
    let child = 2 * root + 1;
    if (child >= count) return;
    if (child + 1 < count && compare(first + child * ENTRY, first + (child + 1) * ENTRY) < 0) child++;
    if (compare(first + root * ENTRY, first + child * ENTRY) >= 0) return;
    swap(first + root * ENTRY, first + child * ENTRY);
    root = child;
  }
}

function swap(one: usize, other: usize): void {
  const entry = load<u64>(one);
  store<u64>(one, load<u64>(other));
  store<u64>(other, entry);
}
