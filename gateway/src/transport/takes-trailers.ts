/** Reports whether a client accepts trailer fields (RFC 9110, section 10.1.4). */
import type { Exchange } from '../exchange.ts';

export function takesTrailers({ rawHeaders }: Exchange): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if ((rawHeaders[i] as string).toLowerCase() !== 'te') continue;
    if (/(?:^|,)\s*trailers\s*(?:,|$)/i.test(rawHeaders[i + 1] as string)) return true;
  }
  return false;
}
