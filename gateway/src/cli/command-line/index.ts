/** Shared parts of gw's command lines: options, tables, completion, their page of documentation. */

export { printable } from '../../text/printable.ts';
export { completionScript, SHELLS, type Shell } from './completion.ts';
export { adminAddress, listenAddress, seconds, share, wholeNumber, yesOrNo } from './options.ts';
export { renderCommands } from './render-commands.ts';
export { renderRoutes, routesOf } from './routes-table.ts';
export { endOnBrokenPipe, readStandardInput } from './standard-streams.ts';
export { table } from './table.ts';
export { dataFormat, oldSpelling } from './variables.ts';
