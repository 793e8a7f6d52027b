/** What tests of traces serve, and the context of a caller. */
import { randomBytes } from 'node:crypto';

export const PLUGINS = ['mock', 'http-upstream', 'apikey-auth', 'rate-limit', 'cors'];
export const KEY = 'planted-api-key';

export function document(upstream: string) {
  const responses = { 200: { description: 'OK' } };
  const proxy = (url = upstream) => ({ name: 'http-upstream', config: { url, timeout: 1 } });
  const body = {
    content: { 'application/json': { schema: { type: 'object', required: ['title'] } } },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'Traced', version: '1' },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
    paths: {
      '/guarded/{id}': {
        post: {
          responses,
          security: [{ key: [] }],
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
          requestBody: body,
          'x-gw-middlewares': [
            { name: 'cors', config: { allowed_origins: ['*'] } },
            { name: 'apikey-auth', config: { keys: [{ key: KEY, id: 'alpha', name: 'Alpha' }] } },
            { name: 'rate-limit', config: { quota: 100, window: 60 } },
          ],
          'x-gw-dispatch': proxy(),
        },
      },
      '/mock': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } } } },
      '/checked': {
        get: {
          responses: { 200: { description: 'OK', content: { 'application/json': { schema: { type: 'object' } } } } },
          'x-gw-validate-response': 'enforce',
          'x-gw-dispatch': { name: 'mock', config: { body: '[]' } },
        },
      },
      '/proxy': { get: { responses, 'x-gw-dispatch': proxy() } },
      ...Object.fromEntries(
        ['/silent', '/broken', '/flaky'].map((path) => [path, { get: { responses, 'x-gw-dispatch': proxy() } }]),
      ),
      '/dead': { get: { responses, 'x-gw-dispatch': proxy('http://127.0.0.1:1') } },
    },
  };
}

/** A caller's trace and span, and the header that names them. */
export const traceparent = (flags: string) => {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, header: `00-${traceId}-${spanId}-${flags}` };
};
