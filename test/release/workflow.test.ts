/** The workflow that publishes releases: what it may do, whose code it runs, and that it publishes as this repository tests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const file = join(import.meta.dirname, '..', '..', '.github', 'workflows', 'release.yml');
const text = readFileSync(file, 'utf8');

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly on: unknown;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, { readonly permissions: unknown; readonly steps: readonly Step[] }>>;
}

const workflow: Workflow = parse(text);
const jobs = Object.values(workflow.jobs);
const steps = jobs.flatMap((job) => job.steps);

describe('the release workflow', () => {
  it('runs for tags of versions only', () => {
    expect(workflow.on).toEqual({ push: { tags: ['v*.*.*'] } });
  });

  it('gives no job more than it needs, and an identity to the one that signs', () => {
    expect(workflow.permissions).toEqual({});
    expect(jobs.map(({ permissions }) => permissions)).toEqual([
      { contents: 'read', packages: 'write', 'id-token': 'write' },
      { contents: 'write' },
    ]);
  });

  it('runs actions of a commit, with its version beside it', () => {
    const lines = text.split('\n').filter((line) => /\buses:/.test(line));
    expect(lines).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('publishes by npm run release, signed, for both platforms', () => {
    const commands = steps.flatMap(({ run }) => (run?.includes('npm run release') ? [run] : []));
    expect(commands).toHaveLength(1);
    for (const flag of [
      '--image-platforms linux/amd64,linux/arm64',
      '--push-registry',
      '--push-npm https://registry.npmjs.org',
      '--npm-provenance',
      '--sign-keyless',
    ]) {
      expect(commands[0]).toContain(flag);
    }
  });

  it('puts nothing of the event into a shell', () => {
    for (const { run } of steps) expect(run ?? '').not.toContain('${{');
  });
});
