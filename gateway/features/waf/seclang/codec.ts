/**
 * A compact form of values, written and read by the same description. Numbers are unsigned LEB128; a string is its
 * number in a table, which stands before the value; a list is its length and its members.
 */

/** The bytes are not what `encode` writes. */
export class CodecError extends Error {}

export interface Codec<T> {
  write(out: Output, value: T): void;
  /** Throws CodecError. */
  read(input: Input): T;
}

class ByteWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#length++] = value;
  }

  number(value: number): void {
    let rest = value;
    // Beyond 32 bits, bit operations would cut it.
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.byte((rest % 0x80) | 0x80);
    this.byte(rest);
  }

  bytes(value: Uint8Array): void {
    this.#grow(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  #grow(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#length + more));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }

  taken(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}

class Output {
  readonly body = new ByteWriter();
  readonly strings = new Map<string, number>();

  string(value: string): void {
    let index = this.strings.get(value);
    if (index === undefined) {
      index = this.strings.size;
      this.strings.set(value, index);
    }
    this.body.number(index);
  }
}

class Input {
  readonly #bytes: Uint8Array;
  #at: number;
  #strings: readonly string[] = [];

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  number(): number {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 49; factor *= 0x80) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new CodecError('the rules end too early');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80 && value <= Number.MAX_SAFE_INTEGER) return value;
    }
    throw new CodecError('a number of the rules is too large');
  }

  /** Length of something whose members take a byte each, or more. */
  length(): number {
    const length = this.number();
    if (length > this.#bytes.length - this.#at) throw new CodecError('the rules end too early');
    return length;
  }

  readStrings(): void {
    this.#strings = Array.from({ length: this.length() }, () => {
      const length = this.length();
      const start = this.#at;
      this.#at += length;
      return Buffer.from(this.#bytes.subarray(start, this.#at)).toString('latin1');
    });
  }

  string(): string {
    const value = this.#strings[this.number()];
    if (value === undefined) throw new CodecError('the rules name a string that they do not have');
    return value;
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw new CodecError('bytes follow the rules');
  }
}

export interface Format<T> {
  /** The first bytes. */
  readonly magic: string;
  /** Changes with the codec; other versions are refused. */
  readonly version: number;
  readonly codec: Codec<T>;
}

export function encode<T>({ magic, version, codec }: Format<T>, value: T): Uint8Array {
  const output = new Output();
  codec.write(output, value);
  const all = new ByteWriter();
  all.bytes(Buffer.from(magic, 'latin1'));
  all.number(version);
  all.number(output.strings.size);
  for (const text of output.strings.keys()) {
    all.number(text.length);
    all.bytes(Buffer.from(text, 'latin1'));
  }
  all.bytes(output.body.taken());
  return all.taken().slice();
}

/** Throws CodecError for bytes that `encode` did not write. */
export function decode<T>({ magic, version, codec }: Format<T>, bytes: Uint8Array): T {
  if (Buffer.from(bytes.subarray(0, magic.length)).toString('latin1') !== magic)
    throw new CodecError(`the bytes do not begin with ${magic}`);
  const input = new Input(bytes, magic.length);
  const found = input.number();
  if (found !== version) throw new CodecError(`the rules have format ${found}, and this version reads ${version}`);
  input.readStrings();
  const value = codec.read(input);
  input.end();
  return value;
}

export const number: Codec<number> = { write: (out, value) => out.body.number(value), read: (input) => input.number() };

/** A byte string: one character up to U+00FF for each byte. */
export const string: Codec<string> = { write: (out, value) => out.string(value), read: (input) => input.string() };

/** Any text, as UTF-8. */
export const unicode: Codec<string> = {
  write: (out, value) => out.string(Buffer.from(value, 'utf8').toString('latin1')),
  read: (input) => Buffer.from(input.string(), 'latin1').toString('utf8'),
};

export function oneOf<const Value>(values: readonly Value[]): Codec<Value> {
  return {
    write: (out, value) => out.body.number(values.indexOf(value)),
    read: (input) => {
      const index = input.number();
      if (index >= values.length) throw new CodecError('the rules have a value that this version does not know');
      return values[index]!;
    },
  };
}

export const boolean: Codec<boolean> = oneOf([false, true]);

export function list<T>(each: Codec<T>): Codec<readonly T[]> {
  return {
    write: (out, values) => {
      out.body.number(values.length);
      for (const value of values) each.write(out, value);
    },
    read: (input) => Array.from({ length: input.length() }, () => each.read(input)),
  };
}

export function pair<A, B>(first: Codec<A>, second: Codec<B>): Codec<readonly [A, B]> {
  return {
    write: (out, value) => {
      first.write(out, value[0]);
      second.write(out, value[1]);
    },
    read: (input) => [first.read(input), second.read(input)],
  };
}

/** 0 for null, else 1 and the value. */
export function nullable<T>(codec: Codec<T>): Codec<T | null> {
  return {
    write: (out, value) => {
      out.body.number(value === null ? 0 : 1);
      if (value !== null) codec.write(out, value);
    },
    read: (input) => (boolean.read(input) ? codec.read(input) : null),
  };
}

type Fields<T> = { readonly [Key in keyof T]-?: Codec<Exclude<T[Key], undefined>> };

/** Members in the order of `fields`. */
export function record<T extends object>(fields: Fields<T>): Codec<T> {
  const keys = Object.keys(fields) as (keyof T)[];
  return {
    write: (out, value) => {
      for (const key of keys) fields[key].write(out, value[key] as never);
    },
    read: (input) => Object.fromEntries(keys.map((key) => [key, fields[key].read(input)])) as T,
  };
}

/** Members that may be absent: a list of their numbers and values. */
export function partial<T extends object>(fields: Fields<T>): Codec<T> {
  const keys = Object.keys(fields) as (keyof T)[];
  return {
    write: (out, value) => {
      const present = keys.filter((key) => value[key] !== undefined);
      out.body.number(present.length);
      for (const key of present) {
        out.body.number(keys.indexOf(key));
        fields[key].write(out, value[key] as never);
      }
    },
    read: (input) => {
      const entries = list({ write: () => {}, read: (each: Input) => readMember(keys, fields, each) }).read(input);
      return Object.fromEntries(entries) as T;
    },
  };
}

function readMember<T extends object>(keys: readonly (keyof T)[], fields: Fields<T>, input: Input): [keyof T, unknown] {
  const key = oneOf(keys).read(input);
  return [key, fields[key].read(input)];
}

/** The number of the variant, and its members except `kind`. */
export function variants<T extends { readonly kind: string }>(
  kinds: {
    readonly [Kind in T['kind']]: Codec<Omit<Extract<T, { readonly kind: Kind }>, 'kind'>>;
  },
): Codec<T> {
  const names = Object.keys(kinds) as T['kind'][];
  return {
    write: (out, value) => {
      const kind: T['kind'] = value.kind;
      out.body.number(names.indexOf(kind));
      kinds[kind].write(out, value as never);
    },
    read: (input) => {
      const kind = oneOf(names).read(input);
      // The codec of each kind reads the other members of that variant.
      return { kind, ...kinds[kind].read(input) } as unknown as T;
    },
  };
}
