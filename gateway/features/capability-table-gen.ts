/** Writes capability-table.gen.ts, which describes the capabilities without importing them. */
import { CAPABILITIES_BY_NAME } from './capabilities.ts';

export function renderCapabilityTable(): string {
  const rows = [...CAPABILITIES_BY_NAME].map(([name, { functions, metrics }]) => {
    const described = Object.entries(metrics).map(([metric, info]) => ({
      name: metric,
      type: 'buckets' in info ? 'histogram' : 'type' in info ? info.type : 'counter',
      help: info.help,
    }));
    return `  ${name}: ${JSON.stringify({ functions: Object.keys(functions), metrics: described })},\n`;
  });
  return `/** Host functions and metrics of each capability. Written by \`npm run generate\` from the capabilities. */
import type { CapabilityImport } from '../src/capability/features.ts';

export const CAPABILITY_TABLE: Readonly<Record<string, Omit<CapabilityImport, 'load'>>> = {
${rows.join('')}};
`;
}
