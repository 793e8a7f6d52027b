/** As much of structured fields (RFC 9651) as signatures need: dictionaries of inner lists and of byte sequences. */
import { decodeBase64, Text } from "@gw/plugin-sdk/assembly";

/** Members of one field that are looked at. */
export const MOST_MEMBERS: i32 = 8;
/** Components that one signature covers. */
export const MOST_COMPONENTS: i32 = 64;

@unmanaged
export class SignatureInput {
  /** Names of what it covers, in order. */
  components: StaticArray<Text> = new StaticArray<Text>(MOST_COMPONENTS);
  count: i32 = 0;
  keyid: Text | null = null;
  alg: Text | null = null;
  nonce: Text | null = null;
  /** Seconds since the epoch; -1 if the signature does not state it. */
  created: i64 = -1;
  expires: i64 = -1;

  constructor(
    public label: Text,
    /** The member as the client wrote it: that is what is signed. */
    public text: Text,
  ) {}
}

export class Reader {
  private at: i32 = 0;

  constructor(private field: Text) {}

  get ended(): bool {
    return this.at >= this.field.length;
  }

  private peek(): u8 {
    return this.at < this.field.length ? this.field.byteAt(this.at) : 0;
  }

  private take(byte: u8): bool {
    if (this.peek() != byte || this.ended) return false;
    this.at++;
    return true;
  }

  private skipBlanks(): void {
    while (this.peek() == 0x20 || this.peek() == 0x09) this.at++;
  }

  /** The key of a member or parameter; null if no key begins here. */
  key(): Text | null {
    const start = this.at;
    const first = this.peek();
    if (!(isLower(first) || first == 0x2a)) return null;
    while (isKeyByte(this.peek())) this.at++;
    return this.field.slice(start, this.at);
  }

  equals(): bool {
    return this.take(0x3d);
  }

  /** Past the comma behind a member; false where what follows is neither that nor the end. */
  next(): bool {
    this.skipBlanks();
    if (this.ended) return true;
    if (!this.take(0x2c)) return false;
    this.skipBlanks();
    return !this.ended;
  }

  /** A string, without its quotes; null if no string begins here, or it holds escapes, which nothing here needs. */
  string(): Text | null {
    if (!this.take(0x22)) return null;
    const start = this.at;
    while (!this.ended && this.peek() != 0x22) {
      if (this.peek() == 0x5c || this.peek() < 0x20 || this.peek() > 0x7e) return null;
      this.at++;
    }
    const value = this.field.slice(start, this.at);
    return this.take(0x22) ? value : null;
  }

  /** A whole number that is not negative, of at most 15 digits; -1 if no such number begins here. */
  integer(): i64 {
    let value: i64 = 0;
    const start = this.at;
    while (this.peek() >= 0x30 && this.peek() <= 0x39) value = value * 10 + (this.field.byteAt(this.at++) - 0x30);
    const digits = this.at - start;
    return digits == 0 || digits > 15 || this.peek() == 0x2e ? -1 : value;
  }

  /** `:base64:`, decoded; null if no valid byte sequence begins here. */
  bytes(): Text | null {
    if (!this.take(0x3a)) return null;
    const start = this.at;
    while (!this.ended && this.peek() != 0x3a) this.at++;
    const value = this.field.slice(start, this.at);
    return this.take(0x3a) ? decodeBase64(value) : null;
  }

  /** An inner list of strings without parameters, and its own parameters; null for anything else. */
  signatureInput(label: Text): SignatureInput | null {
    const start = this.at;
    const input = new SignatureInput(label, this.field);
    if (!this.take(0x28)) return null;
    for (;;) {
      while (this.take(0x20)) {}
      if (this.take(0x29)) break;
      const component = this.string();
      if (!component || input.count == MOST_COMPONENTS) return null;
      // Parameters of components would change what is signed; and none may come twice (RFC 9421, section 2).
      if (this.peek() != 0x20 && this.peek() != 0x29) return null;
      for (let i = 0; i < input.count; i++) if (input.components[i].equals(component)) return null;
      input.components[input.count++] = component;
    }
    while (this.take(0x3b)) if (!this.parameter(input)) return null;
    input.text = this.field.slice(start, this.at);
    return input;
  }

  private parameter(input: SignatureInput): bool {
    while (this.take(0x20)) {}
    const key = this.key();
    if (!key || !this.equals()) return false;
    if (key.equals(CREATED)) {
      if (input.created >= 0) return false;
      input.created = this.integer();
      return input.created >= 0;
    }
    if (key.equals(EXPIRES)) {
      if (input.expires >= 0) return false;
      input.expires = this.integer();
      return input.expires >= 0;
    }
    const value = this.string();
    if (!value) return false;
    if (key.equals(KEYID)) {
      if (input.keyid) return false;
      input.keyid = value;
    } else if (key.equals(ALG)) {
      if (input.alg) return false;
      input.alg = value;
    } else if (key.equals(NONCE)) {
      if (input.nonce) return false;
      input.nonce = value;
    }
    return true;
  }
}

const CREATED = Text.of("created");
const EXPIRES = Text.of("expires");
const KEYID = Text.of("keyid");
const ALG = Text.of("alg");
const NONCE = Text.of("nonce");

function isLower(byte: u8): bool {
  return byte >= 0x61 && byte <= 0x7a;
}

function isKeyByte(byte: u8): bool {
  return isLower(byte) || (byte >= 0x30 && byte <= 0x39) || byte == 0x5f || byte == 0x2d || byte == 0x2e || byte == 0x2a;
}

/** The byte sequence of a member of a dictionary of byte sequences; null if the field has no such member, or is not valid. */
export function bytesOf(field: Text, wanted: Text): Text | null {
  const reader = new Reader(field);
  let found: Text | null = null;
  for (let i = 0; i < MOST_MEMBERS && !reader.ended; i++) {
    const key = reader.key();
    if (!key || !reader.equals()) return null;
    const value = reader.bytes();
    if (!value || !reader.next()) return null;
    if (key.equals(wanted)) found = value;
  }
  return found;
}
