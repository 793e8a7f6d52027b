/** Whether what the server answers is what the operation says: of every answer that a test gets of a `ControlServer`. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Operation } from '../../control/src/api/operation.ts';
import { NAMED_SCHEMAS } from '../../control/src/modules/index.ts';
import { OPERATIONS } from '../../control/src/modules/operations.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false, schemas: [...NAMED_SCHEMAS] });

const routes = Object.entries<Operation>(OPERATIONS).map(([id, operation]) => ({
  id,
  operation,
  path: new RegExp(`^${operation.path.replaceAll(/\{[^}]*\}/g, '[^/]+')}$`),
}));

/** Throws where a success has a status or a body that its operation does not name. */
export async function checkAnswer(method: string, path: string, response: Response): Promise<void> {
  // 304 and problems are not of the operation.
  if (!response.ok) return;
  const [pathname = ''] = path.split('?');
  const route = routes.find(({ operation, path: pattern }) => operation.method === method && pattern.test(pathname));
  if (!route) return;
  const { id, operation } = route;
  const answer = operation.answers[response.status];
  if (!answer) throw new Error(`${id} answers ${response.status}, which its operation does not name`);
  if ('types' in answer) {
    const type = response.headers.get('content-type')?.split(';')[0] ?? '';
    const { types } = answer;
    if (types.length === 0 ? type === '' : types.includes(type)) return;
    throw new Error(`${id} answers "${type}" instead of ${types.join(' or ') || 'no content'}`);
  }
  const json: unknown = await response.clone().json();
  if (ajv.validate(answer, json)) return;
  throw new Error(`${id} answers something else than its schema: ${ajv.errorsText()}: ${JSON.stringify(json)}`);
}
