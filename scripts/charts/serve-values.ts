/** `serve` in the values of the gateway's chart, from the table of `gw serve` options. */
import { stringify } from 'yaml';
import { serveFields } from '../../operator/src/api/serve-fields.ts';
import { between } from '../between.ts';

const FIRST = '  # Made by `npm run generate` from the table of options, down to the next line like this.';
const LAST = '  # As far as here.';

export function withServeValues(values: string): string {
  return between(values, FIRST, LAST, `\n${Object.entries(serveFields).map(linesOf).join('')}\n`);
}

function linesOf([name, field]: [string, (typeof serveFields)[keyof typeof serveFields]]): string {
  const { description, default: standard, items, 'x-kubernetes-list-type': _, ...schema } = field;
  const annotation =
    items === undefined ? stringify(schema, { collectionStyle: 'flow', lineWidth: 0 }).trim() : 'strings';
  const value = items === undefined ? JSON.stringify(standard ?? null) : '[]';
  return `  # ${description}\n  # @schema ${annotation}\n  ${name}: ${value}\n`;
}
