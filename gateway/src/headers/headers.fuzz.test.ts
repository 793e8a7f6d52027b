/** Header admission and what is read out of headers, on headers that clients make up. */
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { inTime } from '../../../test/time-limit.ts';
import { Admission, BASELINE } from './admission.ts';
import { ClientAddress, parseAddress } from './client-ip.ts';

const known = [
  ...BASELINE.map((name) => name.replace('*', 'x')),
  'x-api-key',
  'x-auth-consumer',
  'authorization',
  'cookie',
];
const name = fc
  .oneof(fc.constantFrom(...known), fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/))
  .chain((text) =>
    fc.array(fc.boolean(), { minLength: text.length, maxLength: text.length }).map((upper) => {
      return [...text].map((each, i) => (upper[i] ? each.toUpperCase() : each)).join('');
    }),
  );
const value = fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom('close', 'x-api-key, Accept', 'HOST,range,te'));
const raw = fc.array(fc.tuple(name, value), { maxLength: 12 }).map((pairs) => pairs.flat());

/** By the letter of docs/reference/gateway.md#header-admission. */
function admitted(header: string, declared: readonly string[]): boolean {
  const lower = header.toLowerCase();
  const fits = [...BASELINE, ...declared].some((rule) =>
    rule.endsWith('*') ? lower.startsWith(rule.slice(0, -1)) : lower === rule,
  );
  return fits && !lower.startsWith('x-auth-');
}

/** What `Connection` names, but for what frames and routes the message (RFC 9110, section 7.6.1). */
function endingHere(headers: readonly string[]): ReadonlySet<string> {
  const stays =
    /^(connection|keep-alive|close|te|upgrade|transfer-encoding|content-length|host|expect|forwarded|x-real-ip|x-forwarded-(for|proto|host))$/;
  const options = headers.flatMap((text, i) =>
    headers[i - 1]?.toLowerCase() === 'connection' && i % 2 === 1 ? text.split(',') : [],
  );
  return new Set(options.map((each) => each.trim().toLowerCase()).filter((each) => !stays.test(each)));
}

it('admits by any spelling what the reference admits, in order, each name once, and nothing else', () => {
  const declared = fc.subarray(['x-api-key', 'authorization', 'cookie', 'grpc-*', 'x-auth-consumer', 'x-*', '*']);
  fc.assert(
    fc.property(raw, declared, (headers, names) => {
      const admission = new Admission(names);
      const wanted = new Map<string, string>();
      let ended = 0;
      const dropped: string[] = [];
      for (let i = 0; i < headers.length; i += 2) {
        const [header = '', text = ''] = headers.slice(i, i + 2);
        const ends = endingHere(headers).has(header.toLowerCase());
        const lower = header.toLowerCase();
        if (!admitted(header, names)) dropped.push(lower);
        else if (ends) ended++;
        else {
          const before = wanted.get(lower);
          wanted.set(lower, before === undefined ? text : `${before}${lower === 'cookie' ? ';' : ','} ${text}`);
        }
      }
      const got = inTime(() => admission.admit(headers));
      expect(got.headers).toEqual([...wanted].flat());
      expect(got.dropped).toBe(dropped.length + ended);
      expect(admission.dropped(headers)).toEqual(dropped);
    }),
    propertyRuns(6000),
  );
});

const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4().map((each) => `::ffff:${each}`),
  fc.constantFrom(
    '10.0.0.1',
    '10.1.2.3',
    '127.1',
    '0x7f.1',
    '010.0.0.1',
    '1.2.3.4:80',
    '[::1]',
    'unknown',
    '_hidden',
    '',
    'fe80::1%eth0',
  ),
);

it('takes the client from any chain: an address of it or the connection, and none behind one that is not trusted', () => {
  const clients = new ClientAddress(['10.0.0.0/8']);
  fc.assert(
    fc.property(
      fc.constantFrom('10.0.0.1', '8.8.8.8', '::1'),
      fc.array(address, { maxLength: 6 }),
      fc.constantFrom(',', ', ', ' ,'),
      (peer, chain, comma) => {
        const client = inTime(() => clients.of(peer, ['x-forwarded-for', chain.join(comma)]));
        if (peer !== '10.0.0.1') {
          expect(client).toBe(peer);
          return;
        }
        // Brackets and a port beside an address say nothing of it.
        const bare = (hop: string) =>
          /^\[([0-9a-f:.]+)\](:\d{1,5})?$/i.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop;
        const normal = chain.map((each) => parseAddress(bare(each.trim()))?.toString());
        // From the right: trusted proxies, then the first that is none, or that is no address.
        let wanted: string = peer;
        for (const hop of normal.reverse()) {
          if (hop === undefined) break;
          wanted = hop;
          if (!hop.startsWith('10.')) break;
        }
        expect(client).toBe(wanted);
        expect(ipaddr.isValid(client)).toBe(true);
      },
    ),
    propertyRuns(4000),
  );
});
