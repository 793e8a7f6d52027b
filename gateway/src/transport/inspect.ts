/** What Node's parser lets through and RFC 9110 and 9112 forbid; and whether a body follows. */

export interface Inspection {
  readonly hasBody: boolean;
  /** Why the request is malformed, or null. */
  readonly fault: string | null;
}

export function inspect(raw: readonly string[], minorVersion: number): Inspection {
  let hosts = 0;
  let hasBody = false;
  let fault: string | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    switch (name.length) {
      case 4:
        if (name.toLowerCase() === 'host') hosts++;
        break;
      case 14:
        if (name.toLowerCase() === 'content-length' && raw[i + 1] !== '0') hasBody = true;
        break;
      case 17:
        if (name.toLowerCase() === 'transfer-encoding') {
          hasBody = true;
          if ((raw[i + 1] as string).trim().toLowerCase() !== 'chunked') fault = 'Transfer-Encoding must be "chunked".';
          if (minorVersion === 0) fault = 'Transfer-Encoding is not part of HTTP/1.0.';
        }
        break;
    }
  }
  if (hosts > 1) fault = 'There is more than one Host header.';
  if (hosts === 0 && minorVersion > 0) fault = 'The Host header is missing.';
  return { hasBody, fault };
}
