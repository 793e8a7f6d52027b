/** docs/ai.md, typed as it is written. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { GW_OPERATOR } from '../programs/gw-operator.ts';
import { ROOT, walkPage } from './page-suite.ts';

walkPage('docs/ai.md', {
  programs: { 'gw-operator': [GW_OPERATOR] },
  tools: ['curl'],
  ports: [8080],
  instead: {
    // What `npm start` runs; the console has a page of its own.
    'npm start -- examples/ai --allow-commands':
      'gw-operator local examples/ai --allow-commands --listen 127.0.0.1:8080 --console off',
  },
  prepare(folder) {
    cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
    return {};
  },
});
