/** README.md, typed as it is written. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { GW } from '../programs/gw.ts';
import { GW_CONTROL } from '../programs/gw-control.ts';
import { GW_OPERATOR } from '../programs/gw-operator.ts';
import { LISTENING, ROOT, walkPage } from './page-suite.ts';

walkPage('README.md', {
  programs: { gw: [GW], 'gw-control': [GW_CONTROL], 'gw-operator': [GW_OPERATOR] },
  tools: ['curl', 'openssl'],
  ports: [8080, 8081, 9090, 9091],
  instead: {
    // Which the page says that it is.
    'npm start':
      'gw-operator local examples/bookstore --allow-commands --dev --listen 127.0.0.1:8080 --console 127.0.0.1:9090',
  },
  prepare(folder, port) {
    cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
    return { ...LISTENING(port), GW_CONTROL_SERVER: `http://127.0.0.1:${port(9090)}` };
  },
});

it.each(['README.md', 'docs/control-plane.md'])(
  '%s connects gateways that start again without the control plane',
  (page) => {
    expect(readFileSync(join(ROOT, page), 'utf8')).toMatch(/^\$ .*gw serve --control-plane [^$]*--cache-dir /m);
  },
);
