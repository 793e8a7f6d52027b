/** What each client, on each of its surfaces, gets of each endpoint; and the row of docs/ai-clients.md that says so. */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
export type Cell = Readonly<Record<string, string | null>>;

/** Client, surface, and its cells by endpoint. */
export interface Row {
  readonly client: string;
  readonly surface: string;
  readonly cells: ReadonlyMap<string, Cell>;
}

/** The fake of the provider whose client it is, without a gateway. */
export const DIRECT = 'the provider itself';

function endpointsFor(rig: ClientRig, client: string): ReadonlyMap<string, Endpoint> {
  const keyed = (name: (typeof PROTOCOLS)[number]): Endpoint => ({
    url: rig.urlOf(name),
    apiKey: 'unused',
    headers: { 'X-API-Key': SHOP_KEY },
  });
  return new Map<string, Endpoint>([
    [DIRECT, client.includes('anthropic') ? rig.fakes.messages : rig.fakes.chat],
    ...PROTOCOLS.map((name) => [name, keyed(name)] as const),
  ]);
}

export async function rowsOfNpm(rig: ClientRig): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name, surfaces, codeOf } of [openai, anthropic, ...vercel]) {
    for (const [surface, casesOf] of Object.entries(surfaces)) {
      const cells = new Map<string, Cell>();
      for (const [where, endpoint] of endpointsFor(rig, name)) {
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

const VERSIONS =
  "from importlib.metadata import version as v; print(f\"anthropic=={v('anthropic')} openai=={v('openai')}\")";

/** A Python that has the clients of requirements.txt; null: there is none. */
export const PYTHON: string | null = (() => {
  const python = process.env['GW_AI_CLIENTS_PYTHON'] ?? 'python3';
  const wanted = readFileSync(join(import.meta.dirname, 'requirements.txt'), 'utf8').split('\n');
  try {
    const has = execFileSync(python, ['-c', VERSIONS], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return has
      .trim()
      .split(' ')
      .every((each) => wanted.includes(each))
      ? python
      : null;
  } catch {
    return null;
  }
})();

const OF_PYPI = ['openai (PyPI)', 'anthropic (PyPI)'];

export async function rowsOfPyPI(rig: ClientRig, python: string): Promise<readonly Row[]> {
  const asked = {
    clients: Object.fromEntries(
      OF_PYPI.map((client) => [
        client,
        Object.fromEntries(
          [...endpointsFor(rig, client)].map(([where, each]) => [where, { ...each, refuses: where !== DIRECT }]),
        ),
      ]),
    ),
    case: {
      ...{ text: TEXT, city: CITY, schema: SCHEMA, tools: TOOLS, calls: CALLS, lines: LINES },
      ...{ picture: PICTURE, pictureQuestion: PICTURE_QUESTION, pictureAnswer: PICTURE_ANSWER.source },
    },
  };
  const told: Record<string, Record<string, Record<string, Cell>>> = JSON.parse(await script(python, asked));
  return Object.entries(told).flatMap(([client, surfaces]) =>
    Object.entries(surfaces).map(([surface, cells]) => ({ client, surface, cells: new Map(Object.entries(cells)) })),
  );
}

function script(python: string, asked: object): Promise<string> {
  const child = spawn(python, [join(import.meta.dirname, 'clients.py')], { stdio: ['pipe', 'pipe', 'pipe'] });
  let [out, said] = ['', ''];
  child.stdout.on('data', (piece) => {
    out += piece;
  });
  child.stderr.on('data', (piece) => {
    said += piece;
  });
  child.stdin.end(JSON.stringify(asked));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(out) : reject(new Error(said))));
  });
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
