/** Names of ModSecurity that the engine refuses or ignores, each with the reason that a writer of rules reads. */

const NOT_KEPT = 'collections that outlive a request are not kept; the plugin rate-limit counts requests';
const NO_FILES = 'uploaded files are not written to disk';
const NO_USER = 'conditions of gw know the consumer of a request; SecLang rules do not';

export const REFUSED_VARIABLES: Readonly<Record<string, string>> = {
  ARGS_PATH: 'parameters of the path are inspected as REQUEST_FILENAME',
  AUTH_TYPE: NO_USER,
  ENV: 'rules have no access to variables of the process',
  FILES_TMP_CONTENT: NO_FILES,
  FILES_TMPNAMES: NO_FILES,
  FULL_REQUEST: 'the request is not kept as one text; inspect REQUEST_LINE, REQUEST_HEADERS and REQUEST_BODY',
  GEO: 'there is no database of places',
  GLOBAL: NOT_KEPT,
  IP: NOT_KEPT,
  JSON: 'members of JSON bodies are inspected as ARGS',
  PATH_INFO: 'a gateway has no scripts behind paths; inspect REQUEST_FILENAME',
  REMOTE_HOST: 'names of clients are not looked up; inspect REMOTE_ADDR',
  REMOTE_USER: NO_USER,
  RESOURCE: NOT_KEPT,
  SESSION: NOT_KEPT,
  SESSIONID: NOT_KEPT,
  USER: NOT_KEPT,
  USERID: NO_USER,
};

const NO_DATASETS = 'data sets are not read; write the phrases to a file and use @pmFromFile or @ipMatchFromFile';
const NO_NUMBERS_OF_PEOPLE = 'the engine does not check numbers of cards and people; use @rx';

export const REFUSED_OPERATORS: Readonly<Record<string, string>> = {
  fuzzyHash: 'the engine does not compare fuzzy hashes',
  geoLookup: 'there is no database of places',
  gsbLookup: 'rules do not ask other servers',
  inspectFile: 'rules do not start programs',
  ipMatchFromDataset: NO_DATASETS,
  pmFromDataset: NO_DATASETS,
  rbl: 'rules do not ask other servers',
  restpath: 'the document of the API declares paths and their parameters',
  rsub: 'rules do not change bodies',
  rxGlobal: 'the engine has one kind of pattern; use @rx',
  validateDTD: 'the document of the API declares and validates bodies',
  validateHash: 'the gateway does not sign links',
  validateNid: NO_NUMBERS_OF_PEOPLE,
  validateSchema: 'the document of the API declares and validates bodies',
  verifyCC: NO_NUMBERS_OF_PEOPLE,
  verifyCPF: NO_NUMBERS_OF_PEOPLE,
  verifySSN: NO_NUMBERS_OF_PEOPLE,
  verifySVNR: NO_NUMBERS_OF_PEOPLE,
};

const PARITY = 'the engine does not compute parity bits';

export const REFUSED_TRANSFORMATIONS: Readonly<Record<string, string>> = {
  parityEven7bit: PARITY,
  parityOdd7bit: PARITY,
  parityZero7bit: PARITY,
};

/** Accepted without effect: the reason stands in the warning. */
export const IGNORED_ACTIONS: Readonly<Record<string, string>> = {
  accuracy: 'the audit log does not carry it',
  maturity: 'the audit log does not carry it',
};

const NO_BODY_CHANGES = 'rules do not change bodies; the plugins request-transformer and response-transformer do';
const NO_VALUES = 'values of variables do not reach logs anyway';

export const REFUSED_ACTIONS: Readonly<Record<string, string>> = {
  append: NO_BODY_CHANGES,
  deprecatevar: NOT_KEPT,
  exec: 'rules do not start programs',
  expirevar: NOT_KEPT,
  pause: 'a rule cannot hold a request; the plugin rate-limit slows clients',
  prepend: NO_BODY_CHANGES,
  proxy: 'operations name their upstream; rules do not choose another',
  sanitiseArg: NO_VALUES,
  sanitiseMatched: NO_VALUES,
  sanitiseMatchedBytes: NO_VALUES,
  sanitiseRequestHeader: NO_VALUES,
  sanitiseResponseHeader: NO_VALUES,
  setenv: 'rules have no access to variables of the process',
  setrsc: NOT_KEPT,
  setsid: NOT_KEPT,
  setuid: NOT_KEPT,
  xmlns: 'only the expressions /* and //@* select in XML, which need no namespaces',
};

export const REFUSED_CONTROLS: Readonly<Record<string, string>> = {
  auditLogParts: 'the audit log has one form',
  debugLogLevel: 'gw trace explains a request; there is no debug log of rules',
  hashEngine: 'the gateway does not sign links',
  hashEnforcement: 'the gateway does not sign links',
  parseXmlIntoArgs: 'XML is inspected as XML:/* and XML://@*',
};

const AUDIT_LOG = 'the audit log is written as JSON lines to the log of the gateway';
const NO_DISK = 'bodies are held in memory, within the limits of the gateway';
const STEPS = 'the engine bounds the steps of every pattern';

/** Directives that are accepted without effect. */
export const IGNORED_DIRECTIVES: Readonly<Record<string, string>> = {
  SecArgumentSeparator: 'parameters are separated by &',
  SecAuditLog: AUDIT_LOG,
  SecAuditLog2: AUDIT_LOG,
  SecAuditLogDirMode: AUDIT_LOG,
  SecAuditLogFileMode: AUDIT_LOG,
  SecAuditLogFormat: AUDIT_LOG,
  SecAuditLogParts: 'the audit log has one form',
  SecAuditLogStorageDir: AUDIT_LOG,
  SecAuditLogType: AUDIT_LOG,
  SecCollectionTimeout: NOT_KEPT,
  SecCookieFormat: 'cookies are read as browsers write them',
  SecDataDir: NO_DISK,
  SecDebugLog: 'gw trace explains a request; there is no debug log of rules',
  SecDebugLogLevel: 'gw trace explains a request; there is no debug log of rules',
  SecPcreMatchLimit: STEPS,
  SecPcreMatchLimitRecursion: STEPS,
  SecRequestBodyInMemoryLimit: NO_DISK,
  SecRxPreFilter: 'the engine looks for literals before it runs a pattern, always',
  SecSensorId: 'logs carry the name of the gateway',
  SecServerSignature: 'the plugin response-transformer sets headers',
  SecStatusEngine: 'the gateway does not report to others',
  SecTmpDir: NO_DISK,
  SecTmpSaveUploadedFiles: NO_FILES,
  SecUnicodeMapFile: 't:urlDecodeUni maps full-width forms without a file',
  SecUploadDir: NO_FILES,
  SecUploadFileLimit: NO_FILES,
  SecUploadFileMode: NO_FILES,
  SecUploadKeepFiles: NO_FILES,
  SecWebAppId: 'logs carry the name of the project',
};

const NO_SIGNING = 'the gateway does not sign links';
const NO_OTHER_SERVERS = 'rules do not ask other servers';
const CONNECTIONS = 'options of the gateway limit connections, and the plugin rate-limit requests';

export const REFUSED_DIRECTIVES: Readonly<Record<string, string>> = {
  Include: 'files do not include others; list the file in `rules`',
  IncludeOptional: 'files do not include others; list the file in `rules`',
  SecCacheTransformations: 'the engine decides what it keeps',
  SecChrootDir: 'the gateway does not change its root directory',
  SecConnEngine: CONNECTIONS,
  SecConnReadStateLimit: CONNECTIONS,
  SecConnWriteStateLimit: CONNECTIONS,
  SecContentInjection: NO_BODY_CHANGES,
  SecDataset: NO_DATASETS,
  SecDisableBackendCompression: 'response bodies are decoded before rules see them',
  SecGeoLookupDb: 'there is no database of places',
  SecGsbLookupDb: NO_OTHER_SERVERS,
  SecGuardianLog: 'rules do not start programs',
  SecHashEngine: NO_SIGNING,
  SecHashKey: NO_SIGNING,
  SecHashMethodPm: NO_SIGNING,
  SecHashMethodRx: NO_SIGNING,
  SecHashParam: NO_SIGNING,
  SecHttpBlKey: NO_OTHER_SERVERS,
  SecIgnoreRuleCompilationErrors: 'a rule that cannot be read must not go unseen',
  SecInterceptOnError: 'the engine has no errors at run time',
  SecReadStateLimit: CONNECTIONS,
  SecRemoteRules: 'rules are part of the project, so that its hash covers them',
  SecRemoteRulesFailAction: 'rules are part of the project, so that its hash covers them',
  SecRuleInheritance: 'a project has one list of rules',
  SecRulePerfTime: 'metrics show the time that rules take',
  SecRuleScript: 'rules do not start programs',
  SecStreamInBodyInspection: 'bodies are inspected when they are complete',
  SecStreamOutBodyInspection: 'bodies are inspected when they are complete',
  SecWriteStateLimit: CONNECTIONS,
};
