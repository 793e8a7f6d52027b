/** docs/plugin-guide.md, typed as it is written. */
import { GW } from '../programs/gw.ts';
import { walkPage } from './page-suite.ts';

walkPage('docs/plugin-guide.md', { programs: { gw: [GW] }, tools: [], ports: [] });
