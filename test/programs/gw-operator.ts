/** `gw-operator` as tests start it. Importing it also declares that a suite does: `npm test -- --changed` goes by imports. */
import { program } from './program.ts';

export const GW_OPERATOR = program('gw-operator', 'operator/src/main.ts');

/** What it is made of. Never called: importing it would run it. */
export const sources = () => import('../../operator/src/main.ts');
