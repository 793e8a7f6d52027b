/** The command line of gateway pods. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { gatewayProjects } from '../api/resources.ts';
import { serveArguments } from './workload.ts';

function argumentsOf(serve: object): readonly string[] {
  const { spec } = gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1', generation: 1 },
    spec: { specs: { selector: {} }, serve },
  });
  return serveArguments(spec);
}

it('has the times of a project, and leaves out those that it does not set', () => {
  const line = argumentsOf({ keepaliveTimeout: 5, headersTimeout: 6, bodyTimeout: 0, sendTimeout: 8 }).join(' ');
  expect(line).toContain('--keepalive-timeout 5 --headers-timeout 6 --body-timeout 0 --send-timeout 8');
  expect(argumentsOf({}).join(' ')).not.toMatch(/--(keepalive|headers|body|send)-timeout/);
});

it('has no option that gw serve does not know', () => {
  const known = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'cli.md'), 'utf8');
  const options = argumentsOf({ keepaliveTimeout: 5, headersTimeout: 6, bodyTimeout: 7, sendTimeout: 8 });
  for (const option of options.filter((each) => each.startsWith('--'))) expect(known).toContain(`\`${option} `);
});
