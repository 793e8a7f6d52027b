/** docs/control-plane.md, typed as it is written. */
import { GW } from '../programs/gw.ts';
import { GW_CONTROL } from '../programs/gw-control.ts';
import { LISTENING, walkPage } from './page-suite.ts';

walkPage('docs/control-plane.md', {
  programs: { gw: [GW], 'gw-control': [GW_CONTROL] },
  tools: ['curl', 'openssl'],
  ports: [8080, 8081, 9090, 9091],
  prepare: (_, port) => LISTENING(port),
});
