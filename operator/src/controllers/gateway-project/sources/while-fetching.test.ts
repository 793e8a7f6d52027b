import { describe, expect, it } from 'vitest';
import type { Refusal } from '../../../api/refusal.ts';
import { type GatewayProject, gatewayProjects } from '../../../api/resources.ts';
import { statusWhileFetching, verdictIn } from './while-fetching.ts';

const fetching: Refusal = { reason: 'Fetching', message: 'ApiSpec "a": it is being fetched' };
const broken: Refusal = { reason: 'SpecNotAccepted', message: 'ApiSpec "b": gone' };

function project(accepted: string, generation = 3): GatewayProject {
  const condition = { type: 'Accepted', status: accepted, reason: 'Accepted', message: 'm', lastTransitionTime: '' };
  return gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', generation },
    spec: { specs: { selector: {} } },
    status: { observedGeneration: 3, conditions: [condition] },
  });
}

describe('a project whose sources are fetched again', () => {
  it.each([
    ['goes on saying what it said', project('True'), [fetching], true],
    ['says what else is wrong', project('True'), [fetching, broken], false],
    ['says so when its spec is another', project('True', 4), [fetching], false],
    ['says so when it was not accepted before', project('False'), [fetching], false],
    ['says nothing of the past when nothing is fetched', project('True'), [], false],
  ])('%s', (_, of, problems, holds) => {
    const status = statusWhileFetching(of, problems);
    expect(status !== undefined).toBe(holds);
    expect(verdictIn(status, 'Accepted')?.reason).toBe(holds ? 'Accepted' : undefined);
  });
});
