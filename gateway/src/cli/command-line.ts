/** Shared parts of gw's command lines: options, tables, completion, their page of documentation. */

export { printable } from '../printable.ts';
export { endOnBrokenPipe } from './broken-pipe.ts';
export { completionScript, SHELLS, type Shell } from './completion.ts';
export { adminAddress, list, listenAddress, seconds, share, wholeNumber, yesOrNo } from './options.ts';
export { structured } from './output-format.ts';
export { renderCommands } from './render-commands.ts';
export { type Route, renderRoutes, routesOf } from './routes-table.ts';
export { readStandardInput } from './standard-input.ts';
export { table } from './table.ts';
export { dataFormat, formatOption, oldSpelling } from './variables.ts';
