/** The engine as a native program (`cargo build --release --bin gw-waf-native` in `gateway/features/waf/engine`). */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallOptions } from '../../gateway/features/waf/host/call-settings.ts';
import { readVerdict, type Verdict } from '../../gateway/features/waf/host/verdict.ts';
import { transactionFrame } from './frames.ts';
import type { OracleRequest } from './oracle.ts';

/** Bytes of all verdicts of a run. */
const MOST_OUTPUT = 1 << 30;

/** Runs requests through the engine; returns the verdicts in the order of the requests. Throws if it fails. */
export function askEngine(
  engine: string,
  program: Uint8Array,
  requests: readonly OracleRequest[],
  options?: CallOptions,
): Verdict[] {
  return askFrames(
    engine,
    program,
    requests.map((request) => transactionFrame(request, options)),
  );
}

/** The same for frames. */
export function askFrames(engine: string, program: Uint8Array, frames: readonly Uint8Array[]): Verdict[] {
  const folder = mkdtempSync(join(tmpdir(), 'gw-waf-'));
  try {
    const rules = join(folder, 'rules');
    writeFileSync(rules, program);
    const input = Buffer.concat(frames.flatMap(withLength));
    const result = spawnSync(engine, [rules], { input, maxBuffer: MOST_OUTPUT });
    process.stderr.write(result.stderr);
    if (result.status !== 0) throw new Error('the engine failed');
    return verdictsOf(result.stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function withLength(frame: Uint8Array): Uint8Array[] {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(frame.length);
  return [length, frame];
}

/** Each verdict has its length before it. */
function verdictsOf(output: Buffer): Verdict[] {
  const verdicts: Verdict[] = [];
  for (let at = 0; at < output.length; ) {
    const end = at + 4 + output.readUInt32LE(at);
    verdicts.push(readVerdict(output.subarray(at + 4, end)));
    at = end;
  }
  return verdicts;
}
