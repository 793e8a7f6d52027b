/** Requests that the engine inspects before its state is kept. */
import { callFrame } from './call-settings.ts';
import { PHASES, requestFrame } from './request-frame.ts';

const HEADERS = [
  ['Host', 'api.example.com'],
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  ['Accept', 'application/json, text/plain;q=0.9, */*;q=0.8'],
  ['Accept-Language', 'en-GB,en;q=0.5'],
  ['Cookie', 'session=0123456789abcdef; theme=dark'],
] as const;
const JSON_BODY = JSON.stringify({
  id: 'b2c7c5f0-6f7a-4d7b-9d8e-3f1c2a4b5d6e',
  name: "Ada's notes: a first look, part 2",
  tags: ['books', 'history of computing'],
  price: { amount: 12.5, currency: 'EUR' },
  published: '2026-11-28T12:00:00Z',
});

/** Nothing is excluded, and nothing refused. */
const NO_SETTINGS = callFrame({ blocks: false });

/** Harmless ones, and one that many rules look at. */
export function warmFrames(): readonly Uint8Array[] {
  return [
    frameOf('GET', '/books?page=2&sort=title&q=history%20of%20computing', [], null),
    frameOf('POST', '/books', [['Content-Type', 'application/json']], JSON_BODY),
    frameOf('POST', '/login', [['Content-Type', 'application/x-www-form-urlencoded']], 'user=ada&note=see+you+at+5'),
    frameOf('GET', "/books?q=1'%20or%20'1'='1&path=../../etc/passwd&x=<script>alert(1)</script>", [], null),
  ];
}

type Header = readonly [name: string, value: string];

function frameOf(method: string, target: string, more: readonly Header[], body: string | null): Uint8Array {
  const length: readonly Header[] = body === null ? [] : [['Content-Length', String(body.length)]];
  const rawHeaders = [...HEADERS, ...more, ...length].flat();
  const head = { clientIp: '192.0.2.1', method, target, rawHeaders, requestId: '' };
  const phases = PHASES.requestHead | PHASES.requestBody;
  return requestFrame(NO_SETTINGS, phases, head, body === null ? null : { bytes: Buffer.from(body), isWhole: true });
}
