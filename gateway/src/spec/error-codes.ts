/**
 * The table of compile and validate errors (docs/reference/gateway.md#diagnostics, docs/decisions.md#diagnostics).
 * docs/error-codes.md is generated from it.
 */

export type Severity = 'error' | 'warning';
type Category = 'spec validity' | 'extension' | 'config' | 'manifest' | 'headers' | 'security';

export interface ErrorCode {
  readonly category: Category;
  readonly severity: Severity;
  /** An error in production builds, whatever its severity (docs/decisions.md#production-builds). */
  readonly production?: true;
  readonly title: string;
  /** The next step; a diagnostic may carry a more exact one. */
  readonly hint: string;
  /** The fault has many forms, so each diagnostic has its own hint. */
  readonly hasOwnHints?: true;
}

export const ERROR_CODES = {
  E1001: {
    category: 'spec validity',
    severity: 'error',
    title: 'not a valid OpenAPI 3.x or AsyncAPI 3.x document',
    hint: 'Begin the document with "openapi: 3.1.0" or "asyncapi: 3.0.0"; OpenAPI 3.0, 3.1, 3.2 and AsyncAPI 3.x are read.',
  },
  E1002: {
    category: 'spec validity',
    severity: 'error',
    title: 'YAML or JSON parse error',
    hint: 'Correct the syntax at this place; the hint of the diagnostic names the usual cause.',
    hasOwnHints: true,
  },
  E1003: {
    category: 'spec validity',
    severity: 'error',
    title: 'unresolved $ref',
    hint: 'Refer to something that exists in this document or in a file of the project; nothing is fetched.',
    hasOwnHints: true,
  },
  E1004: {
    category: 'spec validity',
    severity: 'error',
    title: 'the document does not follow its specification',
    hint: 'Write the field as the hint of the diagnostic shows it.',
    hasOwnHints: true,
  },
  E1005: {
    category: 'spec validity',
    severity: 'error',
    title: 'compiling takes more time or memory than is allowed',
    hint: 'Look for aliases, patterns or schemas that multiply; split the document, or raise the limit.',
  },
  E1006: {
    category: 'spec validity',
    severity: 'warning',
    title: 'pattern cannot be matched in linear time',
    hint: 'Write the pattern without the construct that the message names: otherwise matching counts steps, and requests that need more than --max-pattern-steps are rejected.',
  },
  E1007: {
    category: 'spec validity',
    severity: 'warning',
    title: 'not as the specification has it, but read as it is meant',
    hint: 'Write it as the specification has it: other tools may ignore or refuse this.',
  },
  E1008: {
    category: 'spec validity',
    severity: 'warning',
    title: 'this part of the document is not enforced',
    hint: 'Do not rely on it for validation.',
  },
  E1009: {
    category: 'spec validity',
    severity: 'error',
    title: 'the compilation broke off',
    hint: 'Start it again; the log of gw-control says more under the id of the compilation.',
  },
  E1010: {
    category: 'extension',
    severity: 'error',
    title: 'routing conflict: same path and method twice',
    hint: 'Remove or rename one of the two; names of path parameters do not tell routes apart.',
  },
  E1011: {
    category: 'extension',
    severity: 'error',
    title: 'middleware entry without name',
    hint: 'Write each entry of x-gw-middlewares as {name: <plugin>, config: {…}}.',
  },
  E1012: {
    category: 'extension',
    severity: 'error',
    title: 'malformed gw extension',
    hint: 'Write x-gw-dispatch as {name: <plugin>, config: {…}} or false, and x-gw-middlewares as a list of {name: <plugin>, config: {…}}, with id or enabled.',
  },
  E1015: {
    category: 'extension',
    severity: 'warning',
    production: true,
    title: 'unknown or misplaced x-gw-* extension',
    hint: 'Write x-gw-dispatch and x-gw-middlewares at the root, on path items or on operations, x-gw-validate-response on operations, and x-gw-mcp at the root or on operations.',
  },
  E1016: {
    category: 'extension',
    severity: 'error',
    title: 'x-sunset or x-deprecated-at is not a date',
    hint: 'Write a date (2027-01-31), a date and time (RFC 3339), or an HTTP-date.',
  },
  E1017: {
    category: 'extension',
    severity: 'error',
    title: 'x-gw-mcp setting that does not hold',
    hint: 'Name arguments as `gw mcp tools` shows them, give hidden ones that are required a default, and each tool a name of its own.',
  },
  E1018: {
    category: 'extension',
    severity: 'warning',
    title: 'tool renamed, since others have its name',
    hint: 'Give the operations different operationIds, the document a prefix (x-gw-mcp.prefix), or the operation a name (x-gw-mcp.name).',
  },
  E1020: {
    category: 'extension',
    severity: 'warning',
    production: true,
    title: 'operation without x-gw-dispatch',
    hint: 'Add x-gw-dispatch to the operation, its path item or the root, or x-gw-dispatch: false if it is not to be served. gw dev --mock and gw dev --upstream serve a document as it is.',
  },
  E1021: {
    category: 'extension',
    severity: 'error',
    title: 'operation under the reserved path /__gw/',
    hint: 'Choose another path: /__gw/ belongs to the gateway.',
  },
  E1022: {
    category: 'extension',
    severity: 'error',
    title: 'malformed path template',
    hint: 'Use {name} for a segment and {name+} for the rest of the path, the latter declared in: path, required: true, allowReserved: true, with a string schema.',
  },
  E1023: {
    category: 'extension',
    severity: 'warning',
    title: 'path that no request can have',
    hint: 'Give the operation a path without "?", "#", "." and ".." segments: declare a query as parameters; a fragment is never sent, and dots are resolved before.',
  },
  E1030: {
    category: 'config',
    severity: 'error',
    title: "config refused by the plugin's schema",
    hint: 'Set the property as the hint of the diagnostic says; docs/plugins.md lists the config of each plugin.',
    hasOwnHints: true,
  },
  E1031: {
    category: 'extension',
    severity: 'error',
    title: 'plaintext upstream URL',
    hint: 'Use https:// (or wss://); for development allow plaintext with --allow-plaintext.',
  },
  E1032: {
    category: 'config',
    severity: 'error',
    title: 'bad expression or pattern in config',
    hint: 'Correct the expression at the place that the message names.',
    hasOwnHints: true,
  },
  E1033: {
    category: 'config',
    severity: 'error',
    title: 'unknown named upstream',
    hint: 'Declare the name under "upstreams" of the project.',
    hasOwnHints: true,
  },
  E1034: {
    category: 'extension',
    severity: 'error',
    title: 'dispatcher on an operation that it cannot serve',
    hint: 'Move x-gw-dispatch to an operation with a method that the dispatcher serves, or name another dispatcher.',
  },
  E1040: {
    category: 'manifest',
    severity: 'error',
    title: 'plugin used in a spec but not declared',
    hint: 'Add it to the plugins of the project: under "plugins" of gw.yaml (a built-in one as "<name>: {}"), of the GatewayProject, or in the control plane.',
    hasOwnHints: true,
  },
  E1041: {
    category: 'manifest',
    severity: 'error',
    title: 'middleware used as dispatcher, or dispatcher as middleware',
    hint: 'Name dispatchers in x-gw-dispatch and middlewares in x-gw-middlewares.',
  },
  E1042: {
    category: 'manifest',
    severity: 'error',
    title: 'plugin package is not usable',
    hint: 'Give a WebAssembly module with a valid plugin.toml and config-schema.json beside it.',
  },
  E1043: {
    category: 'manifest',
    severity: 'error',
    title: 'signing key is not usable',
    hint: 'Give a PKCS#8 Ed25519 private key in PEM: openssl genpkey -algorithm ed25519.',
  },
  E1044: {
    category: 'manifest',
    severity: 'error',
    title: 'MCP upstream that is not usable',
    hint: 'Compare "mcp.upstreams" of the project with docs/mcp.md.',
  },
  E1045: {
    category: 'security',
    severity: 'warning',
    production: true,
    title: 'MCP upstream whose credential serves every client',
    hint: 'Name an operation that decides who may call ("authorize"), or send the credentials of who calls ("forward_authorization").',
  },
  E1046: {
    category: 'manifest',
    severity: 'error',
    title: 'manifest that is not usable',
    hint: 'Correct gw.yaml as the hint of the diagnostic says.',
    hasOwnHints: true,
  },
  E1050: {
    category: 'manifest',
    severity: 'error',
    title: 'two files of one name, or a reserved or unusable name',
    hint: 'Rename the file: names of specs differ, and are not "openapi" or "asyncapi".',
  },
  E1056: {
    category: 'headers',
    severity: 'error',
    title: 'header in the reserved x-auth-* namespace',
    hint: 'Rename the header: x-auth-* is set by authentication middlewares and never taken from clients.',
  },
  E1057: {
    category: 'security',
    severity: 'error',
    title: 'authentication middleware without a security requirement',
    hint: 'Add "security" with a scheme of components.securitySchemes to the operation, so that its credential header is admitted.',
  },
  E1070: {
    category: 'security',
    severity: 'warning',
    production: true,
    title: 'secret in plain text',
    hint: 'Refer to it: env://<VARIABLE> or file://<absolute path>.',
  },
  E1071: {
    category: 'manifest',
    severity: 'warning',
    production: true,
    title: 'plugin without plugin.toml or config schema',
    hint: 'Add plugin.toml and config-schema.json beside the module: without them headers that its config names are not admitted.',
  },
  E1072: {
    category: 'security',
    severity: 'warning',
    production: true,
    title: 'security scheme and authentication plugin name different credential headers',
    hint: 'Let both name the same header: otherwise the credential never reaches the plugin.',
  },
  E1073: {
    category: 'security',
    severity: 'error',
    title: 'setting not allowed in production builds',
    hint: 'Remove the setting, or build without --production.',
  },
  E1074: {
    category: 'spec validity',
    severity: 'warning',
    title: 'pattern is expensive on long texts',
    hint: 'Add the maxLength that the message names, or write the pattern without large counts: longer texts are matched in a helper process, within --validation-deadline.',
  },
  E1075: {
    category: 'spec validity',
    severity: 'warning',
    title: 'schemas take long to prepare',
    hint: 'Refer to fewer schemas, or write a union of fewer branches: the first request waits for them, and all of such requests have one helper process.',
  },
  E1076: {
    category: 'spec validity',
    severity: 'warning',
    title: 'keyword of another version of OpenAPI',
    hint: 'Write type: [string, "null"] in OpenAPI 3.1 and later and in AsyncAPI, and nullable: true beside one type in OpenAPI 3.0.',
  },
  E1077: {
    category: 'spec validity',
    severity: 'warning',
    title: 'path parameter that is not in the path',
    hint: 'Write {name} in the path, or remove the parameter: it has no effect.',
  },
  E1078: {
    category: 'spec validity',
    severity: 'warning',
    title: 'field or keyword that is probably misspelt',
    hint: 'Use the name that the hint of the diagnostic proposes, or begin the name with x-.',
    hasOwnHints: true,
  },
  E1079: {
    category: 'spec validity',
    severity: 'warning',
    title: 'schema repeats itself',
    hint: 'Give each branch a required property with a const of its own, or add a discriminator, so that one branch applies to a value.',
  },
  E1080: {
    category: 'security',
    severity: 'warning',
    title: 'credentials that no middleware checks',
    hint: 'Add an authentication middleware to x-gw-middlewares: "security" by itself only admits the header of the credential.',
    hasOwnHints: true,
  },
  E1081: {
    category: 'config',
    severity: 'warning',
    title: 'instances of a plugin share what differs in settings',
    hint: 'Give each instance a name of its own, or both the same settings.',
    hasOwnHints: true,
  },
  E1082: {
    category: 'config',
    severity: 'error',
    title: 'file that the project does not have',
    hint: 'Correct the path, which begins at the folder of the document, or add the file to the project.',
    hasOwnHints: true,
  },
  E1083: {
    category: 'config',
    severity: 'error',
    title: 'firewall rule that cannot be used',
    hint: 'Correct the rule as the hint of the diagnostic says.',
    hasOwnHints: true,
  },
  E1084: {
    category: 'config',
    severity: 'warning',
    title: 'part of a config or a rule file that has no effect',
    hint: 'Remove it, or write what the hint of the diagnostic says.',
    hasOwnHints: true,
  },
} as const satisfies Readonly<Record<string, ErrorCode>>;

export type Code = keyof typeof ERROR_CODES;

/** Codes whose diagnostics have their own hints. */
export type CodeWithOwnHints = {
  [C in Code]: (typeof ERROR_CODES)[C] extends { readonly hasOwnHints: true } ? C : never;
}[Code];
