/**
 * Random bytes of connections, cut at random places, to `gw serve` and to nginx before the same kind of upstream. A
 * request that both pass on reaches both upstreams with the same method, target and body, and between it and the next
 * one both see the same end (docs/http.md lists where gw refuses what nginx takes).
 */
import { quietGateway } from '../bench/quiet-gateway.ts';
import { SeededRandom } from '../http1/random.ts';
import { randomConnection } from '../http1/random-messages.ts';
import { cutAt } from '../http1/reading.ts';
import { compileSpec, type Gateway, startGateway } from '../serve/gateway.ts';
import { type Nginx, startNginx } from './nginx.ts';
import { type PassedOn, Recorder } from './recorder.ts';
import { type PieceAnswer, sendPieces } from './send-pieces.ts';

/** Milliseconds that both servers wait for bytes. */
const PATIENCE_MS = 500;
/** Connections at a time, to each server. */
const AT_ONCE = 48;
/** A difference that does not come again was the machine's: a server has waited long enough while it stood still. */
const TRIES = 3;
const AFTER = 'GET /after HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Where both accept, and differ all the same. */
interface KnownDifference {
  /** Case of this suite that shows it, and by which docs/http.md has it. */
  readonly shownBy: string;
  readonly what: RegExp;
  readonly holds: (bytes: string) => boolean;
}

const GW_ENDS = /^gw has ended/;
const NGINX_ENDS = /^nginx has ended/;

/** A field Connection has a name that is longer than this one, and holds it. */
function namesNearly(bytes: string, name: string): boolean {
  const fields = [...bytes.matchAll(/^connection:(.*)/gim)].flatMap(([, value = '']) => value.split(','));
  return fields.some((each) => each.trim().toLowerCase() !== name && each.toLowerCase().includes(name));
}

/** All of them concern whether the connection goes on behind a request whose end is beyond doubt. */
export const KNOWN: readonly KnownDifference[] = [
  {
    shownBy: 'Connection: closed',
    what: NGINX_ENDS,
    holds: (bytes) => namesNearly(bytes, 'close'),
  },
  {
    shownBy: 'Proxy-Connection: close',
    what: GW_ENDS,
    holds: (bytes) => /^proxy-connection:.*close/im.test(bytes),
  },
  {
    shownBy: 'HTTP/1.0 with Connection: keep-alivex',
    what: GW_ENDS,
    holds: (bytes) => /\/1\.0\r\n/.test(bytes) && namesNearly(bytes, 'keep-alive'),
  },
  {
    shownBy: 'HTTP/1.0 with Proxy-Connection: keep-alive',
    what: NGINX_ENDS,
    holds: (bytes) => /\/1\.0\r\n/.test(bytes) && /^proxy-connection:.*keep-alive/im.test(bytes),
  },
  {
    shownBy: 'Connection: close, and keep-alive in another field',
    what: GW_ENDS,
    holds: (bytes) => /^connection:.*close[\s\S]*^connection:/im.test(bytes),
  },
];

/** Where nginx refuses what gw passes on; nothing is in doubt there. */
export const LAXER: readonly Omit<KnownDifference, 'what'>[] = [
  { shownBy: 'Expect twice', holds: (bytes) => /^expect:[\s\S]*^expect:/im.test(bytes) },
  { shownBy: 'Host: empty', holds: (bytes) => /^host:[ \t]*$/im.test(bytes) },
  {
    shownBy: 'request line: another protocol: the parser takes it for HTTP/1.0',
    holds: (bytes) => / (RTSP|ICE)\//.test(bytes),
  },
];

/** One answer, with the request that reached the upstream. */
type Outcome = { readonly passed: PassedOn } | Exclude<PieceAnswer, { kind: 'passed' }>;

interface Seen {
  readonly outcomes: readonly Outcome[];
  /** Requests that reached the upstream, and have no answer. */
  readonly unanswered: number;
  readonly isEnded: boolean;
}

interface Difference {
  readonly seed: number;
  readonly bytes: string;
  readonly places: readonly number[];
  readonly what: string;
}

export interface FuzzReport {
  readonly cases: number;
  /** Requests that both passed on alike. */
  readonly alike: number;
  /** Connections in which gw refused what nginx passed on, and the other way round. */
  readonly stricter: number;
  readonly laxer: number;
  /** The latter, where `LAXER` has no reason for it. */
  readonly unexplained: readonly string[];
  readonly known: number;
  /** Cases that differed, and did not when they ran again. */
  readonly passing: number;
  readonly differences: readonly Difference[];
}

/** One gw and one nginx, each before an upstream of its own. */
export class SideBySide {
  readonly gateway: Gateway;
  readonly #ports: { readonly gateway: number; readonly nginx: number };
  readonly #recorders: { readonly gateway: Recorder; readonly nginx: Recorder };
  readonly #nginx: Nginx;
  #clients = 0;

  private constructor(gateway: Gateway, nginx: Nginx, recorders: { gateway: Recorder; nginx: Recorder }) {
    this.gateway = gateway;
    this.#nginx = nginx;
    this.#recorders = recorders;
    this.#ports = { gateway: Number(new URL(gateway.url).port), nginx: nginx.port };
  }

  static async start(): Promise<SideBySide> {
    const recorders = { gateway: await Recorder.start(), nginx: await Recorder.start() };
    const location = 'proxy_set_header X-Forwarded-For $remote_addr;';
    const nginx = await startNginx(recorders.nginx.url, { patienceMs: PATIENCE_MS, location, lingering: 'on' });
    const seconds = String(PATIENCE_MS / 1000);
    const args = ['--headers-timeout', seconds, '--body-timeout', seconds, '--keepalive-timeout', seconds];
    const artifact = await proxying(recorders.gateway.url);
    const gateway = await quietGateway(startGateway(artifact, { args, isCrowded: true }));
    return new SideBySide(gateway, nginx, recorders);
  }

  async stop(): Promise<void> {
    await Promise.all([this.gateway.stop(), this.#nginx.stop()]);
    await Promise.all([this.#recorders.gateway.close(), this.#recorders.nginx.close()]);
  }

  see(which: 'gateway' | 'nginx', pieces: readonly Buffer[]): Promise<Seen> {
    return this.#see(this.#ports[which], this.#recorders[which], pieces);
  }

  async #see(port: number, recorder: Recorder, pieces: readonly Buffer[]): Promise<Seen> {
    const from = this.#newAddress();
    const { answers, isEnded } = await sendPieces({ port, from, pieces });
    const requests = recorder.take(from);
    const outcomes = answers.map((each): Outcome => {
      if (each.kind !== 'passed') return each;
      const passed = requests[each.number];
      if (passed === undefined)
        throw new Error(`the answer to ${from} has the number ${each.number} of another request`);
      return { passed };
    });
    const answered = answers.filter(({ kind }) => kind === 'passed').length;
    return { outcomes, unanswered: requests.length - answered, isEnded };
  }

  /** Every connection has an address of its own: what reaches the upstream is known by it, whatever its bytes are. */
  #newAddress(): string {
    const number = this.#clients++ % (250 << 16);
    return `127.${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
  }
}

/** Every path and method goes on to the upstream. */
function proxying(upstream: string): Promise<Uint8Array> {
  const operation = {
    responses: { 200: { description: 'OK' } },
    'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } },
  };
  const methods = Object.fromEntries(
    ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'].map((method) => [method, operation]),
  );
  const path = { name: 'path', in: 'path', required: true, allowReserved: true, schema: { type: 'string' } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Proxy', version: '1' },
    paths: { '/': methods, '/{path+}': { parameters: [path], ...methods } },
  };
  return compileSpec(document, ['http-upstream']);
}

interface Comparison {
  readonly alike: number;
  /** Null: none in what both passed on. */
  readonly difference: string | null;
  /** Which of them refused what the other passed on; null: neither. */
  readonly refusedBy: 'gw' | 'nginx' | null;
  /** Status of that refusal. */
  readonly status: number;
}

const RAW_STATUS = 0;

/** Compares request by request, until one of them ends the connection with a refusal. */
function compare(ours: Seen, theirs: Seen): Comparison {
  let alike = 0;
  let refusedBy: Comparison['refusedBy'] = null;
  let status = RAW_STATUS;
  const result = (difference: string | null): Comparison => ({ alike, difference, refusedBy, status });
  if (!ours.isEnded) return result('gw does not end the connection');
  if (ours.unanswered > 0) return result(`${ours.unanswered} requests reached the upstream of gw without an answer`);
  for (let i = 0; ; i++) {
    const [our, their] = [ours.outcomes[i], theirs.outcomes[i]];
    const [isOurLast, isTheirLast] = [i + 1 >= ours.outcomes.length, i + 1 >= theirs.outcomes.length];
    if (our === undefined && their === undefined) return result(null);
    if (our === undefined)
      return result(`gw has ended the connection without a word, and nginx answers ${shown(their)}`);
    if (their === undefined) {
      if (!('passed' in our)) return result(null);
      return result(`nginx has ended the connection without a word, and gw passes on ${shown(our)}`);
    }
    if ('passed' in our && 'passed' in their) {
      if (shown(our) !== shown(their)) return result(`gw passes on ${shown(our)}, and nginx ${shown(their)}`);
      alike++;
    } else if ('passed' in their) {
      refusedBy ??= 'gw';
      if (isOurLast) return result(null);
    } else if ('passed' in our) {
      refusedBy ??= 'nginx';
      status = their.kind === 'refused' ? their.status : RAW_STATUS;
      if (isTheirLast) return result(null);
    } else if (isOurLast || isTheirLast) return result(null);
  }
}

function isKnown(difference: string | null, bytes: string): boolean {
  return difference !== null && KNOWN.some(({ what, holds }) => what.test(difference) && holds(bytes));
}

function shown(outcome: Outcome | undefined): string {
  if (outcome === undefined) return 'nothing';
  if (!('passed' in outcome)) return outcome.kind === 'refused' ? String(outcome.status) : JSON.stringify(outcome.text);
  const { method, target, body } = outcome.passed;
  return `${method} ${target} ${JSON.stringify(body)}`;
}

/** Runs so many cases of a seed. */
export async function fuzz(sides: SideBySide, cases: number, seed: number): Promise<FuzzReport> {
  const differences: Difference[] = [];
  const unexplained: string[] = [];
  let [next, alike, stricter, laxer, known, passing] = [0, 0, 0, 0, 0, 0];

  const compared = async (pieces: readonly Buffer[]): Promise<Comparison> => {
    const [ours, theirs] = await Promise.all([sides.see('gateway', pieces), sides.see('nginx', pieces)]);
    return compare(ours, theirs);
  };

  const runOne = async (caseSeed: number): Promise<void> => {
    const random = new SeededRandom(caseSeed);
    const message = randomConnection(random, 'request', random.once(8) ? null : 'Host: a');
    const bytes = message + AFTER;
    const places = Array.from({ length: random.below(6) }, () => random.below(bytes.length + 1));
    const pieces = cutAt(Buffer.from(bytes, 'latin1'), places);
    let comparison = await compared(pieces);
    const differed = comparison.difference !== null;
    if (isKnown(comparison.difference, message)) return void known++;
    for (let i = 1; comparison.difference !== null && i < TRIES; i++) comparison = await compared(pieces);
    const { difference, refusedBy, status } = comparison;
    if (difference !== null) differences.push({ seed: caseSeed, bytes, places, what: difference });
    else if (differed) passing++;
    alike += comparison.alike;
    if (refusedBy === 'gw') stricter++;
    if (refusedBy !== 'nginx') return;
    laxer++;
    if (!LAXER.some(({ holds }) => holds(message))) unexplained.push(`${status}: ${JSON.stringify(bytes)}`);
  };

  const work = async () => {
    while (next < cases) await runOne(seed + next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { cases, alike, stricter, laxer, unexplained, known, passing, differences };
}
