/** What Argo CD shows of an object by the script of docs/gitops.md, which it runs as here: `obj` is the object. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LuaFactory } from 'wasmoon';
import { parse } from 'yaml';

const DOC = join(import.meta.dirname, '..', 'docs', 'gitops.md');
const KEY = 'resource.customizations.health.gw.dev_GatewayProject';

export interface Health {
  readonly status: 'Healthy' | 'Progressing' | 'Degraded';
  readonly message: string;
}

export async function argoHealth(object: unknown): Promise<Health> {
  const engine = await new LuaFactory().createEngine({ enableProxy: false });
  try {
    engine.global.set('obj', object);
    return await engine.doString(script());
  } finally {
    engine.global.close();
  }
}

function script(): string {
  const blocks = readFileSync(DOC, 'utf8').matchAll(/```yaml\n(.*?)```/gs);
  const [found] = [...blocks].map(([, yaml = '']) => yaml).filter((yaml) => yaml.includes(KEY));
  if (!found) throw new Error(`docs/gitops.md has no ${KEY}`);
  return parse(found).data[KEY];
}
