/** Writes paths.gen.ts: methods and paths of the operations without their schemas, which are many times as large. */
import { OPERATIONS } from '../modules/operations.ts';

export function renderPaths(): string {
  const rows = Object.entries(OPERATIONS).map(([id, { method, path }]) => `  '${id}': '${method} ${path}',\n`);
  return `/** Method and path of each operation. Written by \`npm run generate\` from their values. */
import type { OperationId } from './operation-types.ts';

export const OPERATION_PATHS = {
${rows.join('')}} as const satisfies Readonly<Record<OperationId, string>>;
`;
}
