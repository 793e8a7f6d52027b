/** What each client, on each of its surfaces, gets of each endpoint; and the row of docs/ai-clients.md that says so. */
import { join } from 'node:path';
import { runPython } from '../../python/python.ts';
import { anthropic } from './anthropic.ts';
import { type ClientRig, PROTOCOLS, SHOP_KEY } from './gateway-of-clients.ts';
import {
  CALLS,
  CITY,
  type Endpoint,
  LINES,
  PICTURE,
  PICTURE_ANSWER,
  PICTURE_QUESTION,
  REFUSALS,
  SCHEMA,
  TEXT,
  TOOLS,
} from './official-client.ts';
import { openai } from './openai.ts';
import { vercel } from './vercel.ts';

/** By case: the code of the error with which the gateway has refused it; null: it passes. */
type Cell = Readonly<Record<string, string | null>>;

/** Client, surface, and its cells by endpoint. */
export interface Row {
  readonly client: string;
  readonly surface: string;
  readonly cells: ReadonlyMap<string, Cell>;
}

/** The fake of the provider whose client it is, without a gateway. */
export const DIRECT = 'the provider itself';

function fakeFor({ fakes }: ClientRig, client: string, surface: string): Endpoint {
  if (surface === 'realtime') return fakes.realtime;
  return client.includes('anthropic') ? fakes.messages : fakes.chat;
}

function endpointsFor(rig: ClientRig, client: string, surface: string): ReadonlyMap<string, Endpoint> {
  const keyed = (name: (typeof PROTOCOLS)[number]): Endpoint => ({
    url: rig.urlOf(name),
    apiKey: 'unused',
    headers: { 'X-API-Key': SHOP_KEY },
  });
  return new Map<string, Endpoint>([
    [DIRECT, fakeFor(rig, client, surface)],
    ...PROTOCOLS.map((name) => [name, keyed(name)] as const),
  ]);
}

export async function rowsOfNpm(rig: ClientRig): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name, surfaces, codeOf } of [openai, anthropic, ...vercel]) {
    for (const [surface, casesOf] of Object.entries(surfaces)) {
      const cells = new Map<string, Cell>();
      for (const [where, endpoint] of endpointsFor(rig, name, surface)) {
        const cell: Record<string, string | null> = {};
        for (const [each, run] of Object.entries(casesOf(endpoint))) {
          if (where === DIRECT && each === REFUSALS) continue;
          cell[each] = await run().then(
            () => null,
            (error: unknown) => {
              const code = codeOf(error);
              if (code === null) throw new Error(`${name}, ${surface}, ${where}, ${each}`, { cause: error });
              return code;
            },
          );
        }
        cells.set(where, cell);
      }
      rows.push({ client: name, surface, cells });
    }
  }
  return rows;
}

const OF_PYPI = {
  'openai (PyPI)': ['chat', 'responses', 'embeddings', 'models', 'realtime', 'files and batches'],
  'anthropic (PyPI)': ['messages', 'models'],
};

export async function rowsOfPyPI(rig: ClientRig): Promise<readonly Row[]> {
  const asked = {
    clients: Object.fromEntries(
      Object.entries(OF_PYPI).map(([client, surfaces]) => [
        client,
        Object.fromEntries(surfaces.map((surface) => [surface, askedAt(endpointsFor(rig, client, surface))])),
      ]),
    ),
    case: {
      ...{ text: TEXT, city: CITY, schema: SCHEMA, tools: TOOLS, calls: CALLS, lines: LINES },
      ...{ picture: PICTURE, pictureQuestion: PICTURE_QUESTION, pictureAnswer: PICTURE_ANSWER.source },
    },
  };
  const told = await runPython<Record<string, Record<string, Record<string, Cell>>>>(
    join(import.meta.dirname, 'clients.py'),
    asked,
  );
  return Object.entries(told).flatMap(([client, surfaces]) =>
    Object.entries(surfaces).map(([surface, cells]) => ({ client, surface, cells: new Map(Object.entries(cells)) })),
  );
}

function askedAt(endpoints: ReadonlyMap<string, Endpoint>) {
  return Object.fromEntries([...endpoints].map(([where, each]) => [where, { ...each, refuses: where !== DIRECT }]));
}

/** The row of docs/ai-clients.md. */
export function lineOf({ client, surface, cells }: Row): string {
  const packages = client.replaceAll(/[@\w/-]+/g, (word) => (PLAIN.includes(word) ? word : `\`${word}\``));
  const told = PROTOCOLS.map((name) => textOf(cells.get(name) ?? {}));
  return `| ${[packages, surface, ...told].join(' | ')} |`;
}

const PLAIN = ['with', 'PyPI'];

/** What is no request to a provider is refused by the gateway before, whatever the provider can. */
function textOf(cell: Cell): string {
  const cases = Object.entries(cell).filter(([name, code]) => name !== REFUSALS || code !== null);
  const refused = cases.filter(([, code]) => code !== null);
  if (refused.length === 0) return 'passes';
  const codes = new Set(refused.map(([, code]) => code));
  if (refused.length === cases.length && codes.size === 1) return `\`${[...codes].join()}\``;
  return `passes, but ${refused.map(([name, code]) => `${name}: \`${code}\``).join(', ')}`;
}
