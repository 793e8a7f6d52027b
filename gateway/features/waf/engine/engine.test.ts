/** The committed module is the one that its sources make. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const FOLDER = import.meta.dirname;

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Of the names and contents of all files that the build reads. */
function digestOfSources(): string {
  const files = globSync(['src/*.rs', 'Cargo.*', 'rust-toolchain.toml', 'build.sh'], { cwd: FOLDER }).sort();
  return digestOf(
    Buffer.from(files.map((file) => `${digestOf(readFileSync(join(FOLDER, file)))}  ${file}\n`).join('')),
  );
}

describe('the module of the engine', () => {
  it('is built from the sources beside it (build.sh writes both digests)', () => {
    const [module, sources] = readFileSync(join(FOLDER, 'engine.sha256'), 'utf8').trim().split('\n');
    expect(module).toBe(`${digestOf(readFileSync(join(FOLDER, 'engine.wasm')))}  engine.wasm`);
    expect(sources).toBe(`${digestOfSources()}  sources`);
  });
});
