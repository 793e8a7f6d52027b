/** The AI policies that have profiles: a name of one that there is not is found when the artifact is made. */
import { expect, it } from 'vitest';
import { compileSpec } from '../../../../test/serve/gateway.ts';

/** A config of each, but for its default profile. */
const CONFIGS: Readonly<Record<string, object>> = {
  'ai-prompt-template': { profiles: { a: {} } },
  'ai-prompt-guard': { profiles: { a: {} } },
  'ai-token-limit': { profiles: { a: { quota: 1, window: 1 } } },
  'ai-cost-tracker': { prices: { '*/*': { prompt: 1, completion: 1 } }, profiles: { a: {} } },
  'ai-response-guard': { profiles: { a: {} } },
};

function compiled(name: string, config: object, default_profile: string): Promise<Uint8Array> {
  const operation = {
    responses: { default: { description: 'any' } },
    requestBody: { content: { 'application/json': { schema: {} } } },
    'x-gw-middlewares': [{ name, config: { ...config, default_profile } }],
    'x-gw-dispatch': { name: 'ai-proxy', config: { provider: 'provider_chat' } },
  };
  const paths = { '/v1/chat/completions': { post: operation } };
  return compileSpec({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths }, [name, 'ai-proxy']);
}

it.each(Object.entries(CONFIGS))('%s compiles with a default profile that there is only', async (name, config) => {
  await expect(compiled(name, config, 'a')).resolves.toBeInstanceOf(Uint8Array);
  for (const other of ['b', 'constructor']) {
    const compiling = compiled(name, config, other);
    await expect(compiling).rejects.toThrow('E1030');
    await expect(compiling).rejects.toThrow('/default_profile');
  }
});
