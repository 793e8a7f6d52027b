/**
 * Imports of toolchains that expect a browser, Node.js or an operating system around a module, and their replacements
 * for plugins.
 */
import { ABI_MODULE } from './host/host-functions.ts';
import { CLOCK, CONFIG, LOG, NOTHING_TO_AWAIT, RANDOM } from './sdk-advice.ts';

interface Hint {
  /** `module.name` of the imports that it is for. */
  readonly imports: RegExp;
  readonly says: string;
}

/**
 * Toolchains by their imports, with the target to build for instead. Their runtimes import more than a plugin's own
 * code needs.
 */
const TARGETS: readonly Hint[] = [
  {
    imports: /^wasi_/,
    says: 'There is no WASI: build for a target without a system (Rust: wasm32-unknown-unknown; Go: TinyGo for wasm-unknown).',
  },
  {
    imports: /^gojs\./,
    says: 'These are of Go in browsers: build with TinyGo for wasm-unknown.',
  },
  {
    imports: /^__wbindgen_/,
    says: 'These are of wasm-bindgen, for Rust in browsers: leave out the crates, or their features, that bring it.',
  },
];

/** Needs behind such imports, in any language. */
const NEEDS: readonly Hint[] = [
  {
    imports:
      /^env\.(console\.|trace$)|^wasi_\w+\.fd_write$|^gojs\.runtime\.wasmWrite$|\.__wbg_(debug|error|info|log|warn)_/,
    says: LOG,
  },
  {
    imports:
      /^env\.(Date|performance)\.|^wasi_\w+\.clock_|^gojs\.runtime\.(nanotime1|walltime)$|\.__wbg_(getTime|new0?|now)_/,
    says: CLOCK,
  },
  {
    imports: /^env\.(seed$|Math\.random$|crypto\.)|\.__wbg_(getRandomValues|random)_/,
    says: RANDOM,
  },
  {
    imports: /^asyncify\.|^wasi_\w+\.(poll|sock)_|\.__wbg_(fetch|queueMicrotask|resolve|setTimeout|then)_/,
    says: NOTHING_TO_AWAIT,
  },
  {
    imports: /^env\.process\./,
    says: CONFIG,
  },
  {
    imports: /^env\.abort$/,
    says: 'Compile with --use abort=, as gw plugin build does: what throws then traps.',
  },
];

const MOST_NAMED = 4;

/** Returns advice on imports, by `module.name`, that the gateway does not offer. */
export function describeForeignImports(names: readonly string[]): string {
  const isTelling = (name: string) => NEEDS.some(({ imports }) => imports.test(name));
  const sorted = [...names.filter(isTelling), ...names.filter((name) => !isTelling(name))];
  const rest = names.length - MOST_NAMED;
  const named = sorted.slice(0, MOST_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  const hints = [...TARGETS, ...NEEDS].filter(({ imports }) => names.some((name) => imports.test(name)));
  return [`imports ${named}: plugins import from ${ABI_MODULE} only.`, ...hints.map(({ says }) => says)].join(' ');
}
