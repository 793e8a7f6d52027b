/**
 * The one input of every interface: command line, REST and Kubernetes build this, and only this, to compile
 * (docs/decisions.md#one-project).
 */

import type { Balance, Ejection } from '../../artifact/upstream-policy.ts';
import type { PluginManifest, ProjectPlugin } from '../../plugins/project-plugin.ts';
import type { McpSettings } from './mcp-upstream-schema.ts';

export type { PluginManifest, ProjectPlugin };

/** A file of the project: a spec, or the target of a `$ref`. Names are relative, with `/`, and never climb out. */
export interface ProjectFile {
  /** @example 'shop.yaml', 'schemas/book.yaml' */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The built-in dispatcher that answers from the document. */
export const MOCK = 'mock';
/** The built-in dispatcher that proxies to a server. */
export const HTTP_UPSTREAM = 'http-upstream';

export interface CompileFlags {
  /** Upstreams may be `http://` and `ws://`, as with `--allow-plaintext`. Default: false. */
  readonly allowPlaintext?: boolean;
  /**
   * Every operation answers as its document describes, by the plugin `mock`, whatever its `x-gw-dispatch`
   * names, as with `gw dev --mock`; one that names `mock` keeps its config. Default: false.
   */
  readonly mock?: boolean;
  /**
   * Operations that `mock` answers ask for the credentials that their security asks for, as with `gw dev --mock-auth`,
   * unless their config says `credentials`. Default: false.
   */
  readonly mockAuth?: boolean;
  /**
   * URL that every operation is proxied to, by the plugin `http-upstream`, in place of its `x-gw-dispatch`, as with
   * `gw dev --upstream`. Default: none.
   *
   * @example 'http://localhost:3000'
   */
  readonly upstream?: string;
  /**
   * Operations with an error are left out, and the others compiled: the result says which (`leftOut`). Errors of the
   * project stay errors. Default: false.
   */
  readonly leaveOut?: boolean;
  /**
   * Findings that matter in production are errors, as with `--production`
   * (docs/reference/gateway.md#production-builds). Default: false.
   */
  readonly production?: boolean;
  /**
   * Commit that the specs come from, for `/provenance`. Default: none.
   *
   * @example '3f8c1d2'
   */
  readonly provenanceCommit?: string;
  /**
   * Place of the build, for `/provenance`; left out by default.
   *
   * @example 'ci/github-actions'
   */
  readonly provenanceSource?: string;
  /**
   * PEM of a PKCS#8 Ed25519 private key: signs the artifact (docs/reference/gateway.md#signatures). Default: the
   * artifact is not signed.
   *
   * @example await readFile('signing.pem', 'utf8')
   */
  readonly signingKey?: string;
  /**
   * Seconds since the epoch for `compiled_at`: with equal ones, equal projects give equal bytes. Default: now.
   *
   * @example 1767225600
   */
  readonly sourceDateEpoch?: number;
}

/** A URL, or the policy of an upstream whose addresses are given when it is served. */
export type ProjectUpstream = { readonly url: string } | UpstreamSettings;

/** The policy of an upstream. Defaults: those of `DEFAULT_POLICY`. */
export interface UpstreamSettings {
  readonly url?: undefined;
  readonly balance?: Balance;
  readonly ejection?: Partial<Ejection>;
}

export interface Project {
  /**
   * Names, out of `files`, of the documents to compile.
   *
   * @example ['shop.yaml']
   */
  readonly specs: readonly string[];
  /** The documents, and the files that they `$ref`. */
  readonly files: readonly ProjectFile[];
  /**
   * Every plugin that the documents use, also the built-in ones.
   *
   * @example [loadBuiltinPlugin('http-upstream')]
   */
  readonly plugins: readonly ProjectPlugin[];
  /**
   * Named upstreams. A config property marked as an upstream may say `upstream://<name>` instead of a URL, if the upstream
   * has one. An upstream without a URL has a policy, and its addresses are given when it is served. Default: no upstreams.
   *
   * @example { books: { url: 'https://books.example.com' }, orders: { balance: 'round-robin' } }
   */
  readonly upstreams?: { readonly [name: string]: ProjectUpstream };
  /**
   * Upstream MCP servers, as `mcp` of gw.yaml (docs/mcp.md#upstreams). Default: none.
   *
   * @example { upstreams: { tickets: { url: 'https://tickets.example.com/mcp' } } }
   */
  readonly mcp?: McpSettings;
  /**
   * The file that declares plugins and upstreams, and its text, if there is one: places of diagnostics. Default: what
   * the project itself declares has no place.
   *
   * @example { name: 'gw.yaml', text: await readFile('gw.yaml', 'utf8') }
   */
  readonly manifest?: { readonly name: string; readonly text?: string };
  readonly flags: CompileFlags;
}
