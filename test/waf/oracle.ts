/** Coraza v3 with the Core Rule Set as a program beside the tests (`oracle/`), and where the rule set is. */
import { execFileSync, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestParts } from './corpus.ts';
import type { UpstreamAnswer } from './upstream.ts';

const FOLDER = join(import.meta.dirname, 'oracle');
/** Bytes of all verdicts of a run. */
const MOST_OUTPUT = 1 << 30;

export interface OracleRequest extends RequestParts {
  readonly id: string;
  readonly response: UpstreamAnswer | null;
}

export interface Verdict {
  readonly id: string;
  /** Rules whose matches were logged, in order. */
  readonly rules: readonly number[];
  /** All rules that matched. */
  readonly all: readonly number[];
  /** Status of the denial. */
  readonly status?: number;
  /** Rule of the denial. */
  readonly by?: number;
  /** Anomaly scores by the names of TX. */
  readonly scores: Readonly<Record<string, string>>;
  readonly log?: readonly string[];
  readonly matches?: readonly {
    readonly rule: number;
    readonly name: string;
    readonly key?: string;
    readonly value: string;
  }[];
  readonly error?: string;
}

/** Builds the program; returns its path. */
export function buildOracle(): string {
  const path = join(tmpdir(), 'gw-waf-oracle');
  execFileSync('go', ['build', '-o', path, '.'], { cwd: FOLDER, stdio: ['ignore', 'inherit', 'inherit'] });
  return path;
}

/** Runs requests through the program, with its options; returns the verdicts in the order of the requests. */
export function askOracle(program: string, options: readonly string[], requests: readonly OracleRequest[]): Verdict[] {
  const input = requests.map((request) => JSON.stringify(encoded(request))).join('\n');
  const result = spawnSync(program, options, { input, encoding: 'utf8', maxBuffer: MOST_OUTPUT });
  if (result.status !== 0) throw new Error(`the oracle failed: ${result.stderr}`);
  return result.stdout
    .trim()
    .split('\n')
    .map((line): Verdict => JSON.parse(line));
}

function encoded({ body, response, ...request }: OracleRequest): unknown {
  return {
    ...request,
    body: body.toString('base64'),
    ...(response && { response: { ...response, body: response.body.toString('base64') } }),
  };
}
