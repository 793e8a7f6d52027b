/** The fields of a head, or of trailers, that decide where a message ends. */

/** llhttp reads both. */
const CONNECTION = /^(proxy-)?connection$/i;

/** Removes white space behind values, which llhttp leaves. */
export function trim(fields: string[]): void {
  for (let i = 1; i < fields.length; i += 2) {
    const value = fields[i] as string;
    let end = value.length;
    while (end > 0 && (value.charCodeAt(end - 1) === 32 || value.charCodeAt(end - 1) === 9)) end--;
    if (end < value.length) fields[i] = value.slice(0, end);
  }
}

interface Persistence {
  /** What llhttp says. */
  readonly keepAlive: boolean;
  readonly minor: number;
  readonly headers: readonly string[];
}

/**
 * Reports whether the connection goes on behind a message: `close` ends it, whatever else is asked for (RFC 9112, section
 * 9.3). llhttp, as node:http has it, goes by keep-alive alone in HTTP/1.0.
 */
export function goesOn({ keepAlive, minor, headers }: Persistence): boolean {
  return keepAlive && (minor > 0 || !asksToClose(headers));
}

function asksToClose(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (!CONNECTION.test(headers[i] as string)) continue;
    const options = (headers[i + 1] as string).split(',');
    if (options.some((option) => option.trim().toLowerCase() === 'close')) return true;
  }
  return false;
}

interface Framing {
  /** Undefined if the head has no Content-Length; llhttp has seen to it that it is one number. */
  readonly length: number | undefined;
  /** Transfer-Encoding, with white space behind it; undefined if the head has none. */
  readonly coding: string | undefined;
  /** Here llhttp does not take a tab for white space, and overlooks what stands before it, such as close. */
  readonly hasTabInConnection: boolean;
}

export function framingOf(headers: readonly string[]): Framing {
  let length: number | undefined;
  let coding: string | undefined;
  let hasTabInConnection = false;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (name.length === 14 && name.toLowerCase() === 'content-length') length = Number(headers[i + 1]);
    else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      coding = coding === undefined ? headers[i + 1] : `${coding}, ${headers[i + 1]}`;
    } else if ((name.length === 10 || name.length === 16) && CONNECTION.test(name)) {
      hasTabInConnection ||= (headers[i + 1] as string).includes('\t');
    }
  }
  return { length, coding, hasTabInConnection };
}
