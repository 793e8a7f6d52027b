/** docs/waf.md, typed as it is written, with the example that it shows. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { GW } from '../programs/gw.ts';
import { LISTENING, ROOT, walkPage } from './page-suite.ts';

walkPage('docs/waf.md', {
  programs: { gw: [GW] },
  tools: ['curl', 'sed'],
  ports: [8080, 8081],
  prepare(folder, port) {
    cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
    return { ...LISTENING(port), GW_ADMIN: `http://127.0.0.1:${port(8081)}` };
  },
});
