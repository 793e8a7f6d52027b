/** Shared parts of gw's command lines: options, tables, completion, their page of documentation. */

export { printable } from '../../text/printable.ts';
export { endOnBrokenPipe } from './broken-pipe.ts';
export { completionScript, SHELLS, type Shell } from './completion.ts';
export { adminAddress, listenAddress, seconds, share, wholeNumber, yesOrNo } from './options.ts';
export { renderCommands } from './render-commands.ts';
export { renderRoutes, routesOf } from './routes-table.ts';
export { readStandardInput } from './standard-input.ts';
export { table } from './table.ts';
export { dataFormat, oldSpelling } from './variables.ts';
