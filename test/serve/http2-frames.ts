/** Frames of HTTP/2 that no client sends. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const [DATA, HEADERS, RST_STREAM, SETTINGS] = [0, 1, 3, 4];
export const ACK = 1;
export const [END_STREAM, END_HEADERS] = [1, 4];
export const WHOLE = END_STREAM | END_HEADERS;

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field without indexing, its name and value as they are (RFC 7541, section 6.2.2). */
export function literal(name: string, value: string): Buffer {
  const text = (each: string) => Buffer.concat([Buffer.from([each.length]), Buffer.from(each, 'latin1')]);
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}
