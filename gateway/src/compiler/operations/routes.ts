/** Makes operations of routes.json from declared ones. */
import { marked } from '../../artifact/config-marks.ts';
import type { Operation, Parameter } from '../../artifact/format.ts';
import { type PathTemplate, parseTemplate, TemplateError } from '../../router/template.ts';
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { type Documents, type Located, member, placeOf } from '../../spec/documents.ts';
import { type DeclaredUse, dateOf } from '../../spec/extensions.ts';
import { flagOf } from '../../spec/flag.ts';
import { dispatchOf, type InheritedUse, middlewaresOf } from '../../spec/inheritance.ts';
import { get } from '../../spec/json.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';
import { nearestName } from '../../text/nearest-name.ts';
import { isClimbing } from '../../validation/limits.ts';
import { admittedHeaders, type BoundUse, headersOfUse } from '../plugins/admitted-headers.ts';
import type { Binder } from '../plugins/bind.ts';
import type { Instances } from '../plugins/distinct.ts';
import { checkFit } from '../plugins/operation-fit.ts';
import { usesAny } from '../plugins/plugins.ts';
import { MOCK } from '../project/project.ts';
import type { SchemaTable } from '../schemas/schema-table.ts';
import { channelInputsOf, streamedContentOf, webSocketContentOf } from './channel-inputs.ts';
import { requestBodyOf } from './content.ts';
import type { DocumentJudge } from './document-judge.ts';
import { parametersOf } from './parameters.ts';
import { responsesOf } from './responses.ts';
import { credentialsOf, type Security, securityOf } from './security.ts';

/** The one that makes answers of a description. */
const RESPONDS_BY_EXAMPLE = ['host_example_respond'];
/** Host functions that stream messages of brokers. */
const SUBSCRIBES = ['host_kafka_subscribe', 'host_nats_subscribe'];
/** The one that makes a WebSocket of a request. */
const UPGRADES = ['host_websocket_upgrade'];

export interface RouteDeps {
  readonly documents: Documents;
  readonly diagnostics: Diagnostics;
  readonly schemas: SchemaTable;
  readonly binder: Binder;
  readonly instances: Instances;
  /** Null unless operations with an error are left out. */
  readonly judge: DocumentJudge | null;
  /** The dispatcher of every operation (`CompileFlags.mock`, `CompileFlags.upstream`); null: the one that it names. */
  readonly instead: Pick<DeclaredUse, 'name' | 'config'> | null;
  /** `mock` asks for the credentials that the document asks for (`CompileFlags.mockAuth`). */
  readonly mockAuth: boolean;
}

/**
 * Returns null if the operation emits no route: it has no dispatch (docs/decisions.md#no-dispatch-no-route), is
 * excluded (docs/decisions.md#extensions-inherited), or is invalid.
 */
export function routeOf(declared: DeclaredOperation, file: string, deps: RouteDeps): Omit<Operation, 'index'> | null {
  const { documents, diagnostics, binder } = deps;
  const { at, path, method, operationId, spec } = declared;
  const template = templateOf(declared, diagnostics);
  const dispatch = dispatchedTo(declared, deps);
  if (dispatch === 'off') return null;
  if (dispatch === undefined && !isPartOfWebSocket(declared, deps)) {
    diagnostics.add('E1020', placeOf(at), `${method} ${path} has no x-gw-dispatch: it is not served`);
  }
  checkHeaders(declared, diagnostics);
  const security = securityOf(declared, documents, diagnostics);
  const middlewares = middlewaresOf(declared.layers, diagnostics).flatMap((declaredUse) => {
    const bound = binder.bind(declaredUse, 'middleware', spec.document.file);
    if (bound && template) checkFit(bound, declaredUse, { method, path, names: template.names }, diagnostics);
    return bound ? [{ ...bound, place: placeOf(declaredUse.at), declared: declaredUse }] : [];
  });
  deps.instances.check(middlewares);
  checkAuthentication(declared, middlewares, security, diagnostics);
  const deprecatedAt = dateOf(at, 'x-deprecated-at', diagnostics);
  const sunset = dateOf(at, 'x-sunset', diagnostics);
  // Schemas of unserved operations would only fill the table.
  if (dispatch === undefined) {
    if (deps.judge !== null && !isPartOfWebSocket(declared, deps)) {
      const parameters = deps.judge.operation(declared);
      if (template) checkParameters(declared, template, parameters, deps.judge.found);
    }
    return null;
  }
  const dispatcher = dispatch ? binder.bind(dispatch, 'dispatcher', spec.document.file) : null;
  if (dispatch && dispatcher && template)
    checkFit(dispatcher, dispatch, { method, path, names: template.names }, diagnostics);
  if (dispatcher && !carriesMessages(declared, dispatcher, deps)) return null;
  const { parameters: all, requestBody } = declared.channel
    ? channelInputsOf(declared, declared.channel, deps)
    : { parameters: parametersOf(declared, deps), requestBody: requestBodyOf(declared, deps) };
  // One that is not in the path would be missing from every request.
  const parameters = all.filter((each) => each.in !== 'path' || template?.names.includes(each.name) !== false);
  const exemplary = dispatcher !== null && answersByExample(dispatcher);
  const responses = responsesOf(declared, deps, exemplary);
  if (!exemplary && responses.validate_response === undefined) deps.judge?.responses(declared);
  const messages =
    declared.channel && isWebSocket(declared, dispatcher)
      ? webSocketContentOf(declared.channel, responses.validate_response !== undefined, deps)
      : undefined;
  const streamed = declared.channel && dropsOthers(dispatcher) ? streamedContentOf(declared.channel, deps) : undefined;
  if (!template || !dispatcher) return null;
  checkParameters(declared, template, parameters, diagnostics);
  return {
    path,
    method,
    ...(operationId === undefined ? {} : { operation_id: operationId }),
    dispatch: dispatcher.use,
    middlewares: middlewares.map(({ use }) => use),
    spec: file,
    api: slug(spec.title),
    parameters,
    ...(requestBody ? { request_body: requestBody } : {}),
    ...(messages ? { messages } : {}),
    ...(streamed ? { streamed_messages: streamed } : {}),
    ...responses,
    admitted_headers: admittedHeaders({
      parameters,
      credentials: security.headers,
      uses: [...middlewares, dispatcher],
    }),
    ...(flagOf(at, 'deprecated', diagnostics) ? { deprecated: true } : {}),
    ...(deprecatedAt === undefined ? {} : { deprecated_at: Math.floor(deprecatedAt.getTime() / 1000) }),
    ...(sunset === undefined ? {} : { sunset: sunset.toUTCString() }),
  };
}

/** For an operation that receives: reports whether its dispatcher streams messages; else adds a diagnostic. */
function carriesMessages({ at, channel, operationId }: DeclaredOperation, { plugin, use }: BoundUse, deps: RouteDeps) {
  if (channel?.action !== 'receive' || (deps.instead && use.name === MOCK)) return true;
  if (usesAny(plugin, [...SUBSCRIBES, ...UPGRADES])) return true;
  deps.diagnostics.add(
    'E1015',
    placeOf(member(at, 'x-gw-dispatch')),
    `operation "${operationId}" has action "receive", and "${use.name}" streams no messages: x-gw-dispatch has no effect on it`,
    'Use stream-subscribe, subject-subscribe or ws-upstream, or put x-gw-dispatch on an operation with action "send".',
  );
  return false;
}

/** Reports whether its answer is endless: messages of brokers, or a WebSocket. */
export function isEndless(
  { channel }: DeclaredOperation,
  { dispatch }: Pick<Operation, 'dispatch'>,
  binder: Binder,
): boolean {
  return channel?.action === 'receive' || binder.knowsUser(dispatch.name, [...SUBSCRIBES, ...UPGRADES]);
}

/** Reports whether a broker's messages reach clients only if they match their description. */
function dropsOthers(dispatcher: BoundUse | null): boolean {
  return (
    dispatcher !== null && usesAny(dispatcher.plugin, SUBSCRIBES) && get(dispatcher.use.config, 'validate') === 'drop'
  );
}

/** Reports whether requests to it become WebSockets of its channel, on which messages go both ways. */
function isWebSocket({ channel }: DeclaredOperation, dispatcher: BoundUse | null): boolean {
  return channel?.action === 'receive' && dispatcher !== null && usesAny(dispatcher.plugin, UPGRADES);
}

/** Reports whether its messages come over the WebSocket of another operation. */
function isPartOfWebSocket({ channel }: DeclaredOperation, { binder }: RouteDeps): boolean {
  if (channel?.action !== 'send') return false;
  return channel.others.some(({ dispatcher }) => binder.knowsUser(dispatcher, UPGRADES));
}

function dispatchedTo(declared: DeclaredOperation, deps: RouteDeps): InheritedUse | 'off' | null | undefined {
  const found = declaredDispatch(declared, deps);
  if (!deps.mockAuth || !found || found === 'off' || found.name !== MOCK) return found;
  const credentials = credentialsOf(declared, deps.documents);
  return credentials.length === 0 ? found : { ...found, config: { credentials, ...found.config } };
}

function declaredDispatch(declared: DeclaredOperation, deps: RouteDeps): InheritedUse | 'off' | null | undefined {
  const { at, layers } = declared;
  const found = dispatchOf(layers, deps.diagnostics);
  if (found === 'off' || found === null) return found;
  // One that names `mock` keeps its config under --mock.
  if (deps.instead && !(found?.name === MOCK && deps.instead.name === MOCK)) {
    return { ...deps.instead, at, isInherited: false };
  }
  return found?.isInherited && !fitsAction(declared, found, deps) ? undefined : found;
}

/**
 * Reports whether the inherited dispatcher fits the action of an AsyncAPI operation: those that receive are streams,
 * the others are not.
 */
function fitsAction({ channel }: DeclaredOperation, { name }: InheritedUse, { binder }: RouteDeps): boolean {
  return !channel || binder.knowsUser(name, [...SUBSCRIBES, ...UPGRADES]) === (channel.action === 'receive');
}

/** Reports whether the dispatcher answers from the description (docs/reference/plugins.md#examples). */
function answersByExample({ plugin, use }: BoundUse): boolean {
  if (!usesAny(plugin, RESPONDS_BY_EXAMPLE)) return false;
  return plugin.marks.replacesExamples.every((pointer) => marked(use.config, pointer).length === 0);
}

/** The metric label `api` (docs/decisions.md#labels-closed). */
export function slug(title: string): string {
  return (
    title
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 64) || 'api'
  );
}

/** Returns null, with a diagnostic, if the path cannot be served. */
function templateOf({ path, pathAt }: DeclaredOperation, diagnostics: Diagnostics): PathTemplate | null {
  if (path === '/__gw' || path.startsWith('/__gw/')) {
    diagnostics.add('E1021', pathAt, `${path} is under /__gw/`);
    return null;
  }
  try {
    const template = parseTemplate(path);
    const never = neverSent(path);
    if (never !== null) diagnostics.add('E1023', pathAt, `no request has the path ${path}: ${never}`);
    return template;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    diagnostics.add('E1022', pathAt, `path ${path}: ${error.message}`);
    return null;
  }
}

/** Returns why no request has a path that fits the template; null if one may. */
function neverSent(path: string): string | null {
  const literal = path.replaceAll(/\{[^}]*\}/g, '*');
  if (literal.includes('?')) return 'what follows "?" is the query';
  if (literal.includes('#')) return 'what follows "#" is a fragment, which clients do not send';
  return isClimbing(literal) ? 'requests with "." or ".." segments are refused' : null;
}

/** Every parameter of the template is declared, and a greedy one as docs/reference/gateway.md#extensions says. */
function checkParameters(
  { path, pathAt, at, parameters: declared, channel }: DeclaredOperation,
  template: PathTemplate,
  parameters: readonly Parameter[],
  diagnostics: Diagnostics,
): void {
  const byName = new Map(parameters.flatMap((each) => (each.in === 'path' ? [[each.name, each] as const] : [])));
  const ofPath = declared.flatMap((each): [unknown, Located][] =>
    get(each.value, 'in') === 'path' ? [[get(each.value, 'name'), each]] : [],
  );
  for (const [name, each] of [...ofPath, ...(channel?.parameters ?? [])]) {
    if (typeof name !== 'string' || template.names.includes(name)) continue;
    diagnostics.add('E1077', placeOf(each), `path parameter "${name}" is not in ${path}, and has no effect`);
  }
  for (const name of template.names) {
    if (byName.has(name)) continue;
    const others = ofPath.flatMap(([other]) =>
      typeof other === 'string' && !template.names.includes(other) ? other : [],
    );
    const near = nearestName(name, others);
    diagnostics.add(
      'E1004',
      placeOf(at),
      `path parameter "${name}" of ${path} is not declared`,
      near !== null
        ? `Did you mean "${near}"? Give the parameter and the path the same name.`
        : channel
          ? `Add ${name}: {} to "parameters" of the channel.`
          : `Add { name: ${name}, in: path, required: true, schema: { type: string } } to "parameters" of the operation or of its path.`,
    );
  }
  const last = template.segments.at(-1);
  if (last?.kind !== 'greedy') return;
  if (channel) diagnostics.add('E1022', pathAt, `parameter "${last.name}+": parameters of a channel are not greedy`);
  const parameter = byName.get(last.name);
  const types = parameter?.types ?? [];
  const declaration = declared.find(({ value }) => get(value, 'in') === 'path' && get(value, 'name') === last.name);
  if (!parameter || !declaration) return;
  const isString = types.length === 1 && types[0] === 'string';
  if (parameter.allow_reserved && get(declaration.value, 'required') === true && isString) return;
  diagnostics.add(
    'E1022',
    placeOf(declaration),
    `greedy parameter "${last.name}" needs required: true, allowReserved: true and a string schema`,
  );
}

/** `x-auth-*` is never declared (docs/reference/gateway.md#header-admission). */
function checkHeaders({ parameters }: DeclaredOperation, diagnostics: Diagnostics): void {
  for (const parameter of parameters) {
    const name = get(parameter.value, 'name');
    if (
      get(parameter.value, 'in') === 'header' &&
      typeof name === 'string' &&
      name.toLowerCase().startsWith('x-auth-')
    ) {
      diagnostics.add(
        'E1056',
        placeOf(member(parameter, 'name')),
        `header "${name}" is in the reserved x-auth-* namespace`,
      );
    }
  }
}

interface DeclaredBoundUse extends BoundUse {
  readonly declared: InheritedUse;
}

/** Returns the hint for a public operation, which must be explicit: silent loss of authentication would be a hole. */
function leaveOutHint({ name, at }: InheritedUse): string {
  const id = get(at.value, 'id') ?? name;
  return `Add "security" with a scheme to the operation, or, if it is public, x-gw-middlewares: [{ id: ${String(id)}, enabled: false }]: the middleware comes from ${at.pointer}.`;
}

/** Credentials need a security requirement (docs/reference/gateway.md#header-admission); E1072. */
function checkAuthentication(
  { at, method, path }: DeclaredOperation,
  middlewares: readonly DeclaredBoundUse[],
  security: Security,
  diagnostics: Diagnostics,
): void {
  for (const bound of middlewares) {
    if (!bound.plugin.manifest.authenticates) continue;
    const { name } = bound.use;
    if (!security.named) {
      diagnostics.add(
        'E1057',
        placeOf(at),
        `${method} ${path} runs "${name}" without a security requirement that names a scheme`,
        ...(bound.declared.isInherited ? [leaveOutHint(bound.declared)] : []),
      );
      continue;
    }
    const read = headersOfUse(bound);
    if (read.length === 0 || security.headers.length === 0 || read.some((header) => security.headers.includes(header)))
      continue;
    diagnostics.add(
      'E1072',
      placeOf(at),
      `"${name}" reads ${read.join(', ')}; the security scheme names ${security.headers.join(', ')}`,
    );
  }
}
