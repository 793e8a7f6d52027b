/** `gw` as tests start it. Importing it also declares that a suite does: `npm test -- --changed` goes by imports. */
import { program } from './program.ts';

export const GW = program('gw', 'gateway/src/main.ts');

/** What it is made of. Never called: importing it would run it. */
export const sources = () => import('../../gateway/src/main.ts');
