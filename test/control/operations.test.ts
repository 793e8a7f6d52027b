/** What can be done over HTTP, by commands and by the library is the same: operations, commands and calls name each other. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describedCommand } from '../../control/src/cli/cli-doc.ts';
import { operationsOf } from '../../control/src/cli/session.ts';
import { type ControlPlane, openControlPlane } from '../../control/src/control-plane.ts';
import { createServer } from '../../control/src/http/server.ts';
import { restApi } from '../../control/src/modules/index.ts';
import { type UnopenedDatabase, unopenedDatabase } from './database.ts';

/** Answered by the server itself, without the library. */
const OF_THE_SERVER = new Set(['system.health']);

describe('operations', () => {
  let database: UnopenedDatabase;
  let control: ControlPlane;
  let served: readonly string[] = [];
  let paths: readonly string[] = [];

  beforeAll(async () => {
    database = await unopenedDatabase();
    control = await openControlPlane({ databaseUrl: database.url });
    const app = await createServer(control.context, restApi(control), {
      allowedOrigins: [],
      authenticate: () => Promise.reject(new Error('nobody calls')),
    });
    await app.ready();
    served = Object.values(app.swagger().paths ?? {}).flatMap((item) =>
      Object.values<unknown>(item ?? {}).flatMap(idOf),
    );
    paths = Object.entries(app.swagger().paths ?? {}).flatMap(([path, item]) =>
      Object.entries(item ?? {}).flatMap(([method, value]) =>
        idOf(value).length > 0 ? [`${method.toUpperCase()} ${path}`] : [],
      ),
    );
    await app.close();
  });
  afterAll(async () => {
    await control.close();
    await database.drop();
  });

  it('are in the OpenAPI document under names that are unique', () => {
    expect(served.length).toBeGreaterThan(40);
    expect(new Set(served).size).toBe(served.length);
  });

  it('have each a command, and commands call no others', () => {
    const called = commandsBelow(describedCommand()).flatMap((command) => operationsOf(command));
    expect([...new Set(called)].toSorted()).toEqual(served.toSorted());
  });

  it('are those of the table in docs/reference/control-plane.md', () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reference', 'control-plane.md'), 'utf8');
    const table = /<a id="operations"><\/a>(.*?)<a id=/s.exec(page)?.[1] ?? '';
    const listed = [...table.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) [^`]+)`/g)].map(
      ([, operation = '']) => operation,
    );
    // Both describe the others.
    const described = listed.filter((operation) => !['GET /openapi', 'GET /docs'].includes(operation));
    expect(described.toSorted()).toEqual(paths.toSorted());
  });

  it('have each a call of the library', () => {
    const missing = served.filter((id) => !OF_THE_SERVER.has(id) && typeof callOf(control, id) !== 'function');
    expect(missing).toEqual([]);
  });
});

/** Of an operation of the document; none of what else a path has. */
function idOf(value: unknown): string[] {
  const id = typeof value === 'object' && value !== null && 'operationId' in value ? value.operationId : undefined;
  return typeof id === 'string' ? [id] : [];
}

function commandsBelow(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap((each) => commandsBelow(each))];
}

function callOf(control: ControlPlane, id: string): unknown {
  return id.split('.').reduce<unknown>((object, name) => {
    return typeof object === 'object' && object !== null && name in object ? Reflect.get(object, name) : undefined;
  }, control);
}
