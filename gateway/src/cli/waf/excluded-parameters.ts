/** Parameters in exclusions of a config (docs/reference/plugins.md#waf), by the variables in which rules see them. */

/** Most characters that a config takes. */
const MOST_CHARACTERS = 400;
/** Path of a member of a JSON body: `json.items.0.note`. */
const JSON_PATH = /^json\./i;
const INDEX = /^\d+$/;
const WITHOUT_BODY = ['GET', 'DELETE', 'OPTIONS'];

/** Returns the parameters that an exclusion names for a variable, such as `query:q`; empty if exclusions cannot name it. */
export function parametersOf(variable: string, method: string): readonly string[] {
  const colon = variable.indexOf(':');
  const name = variable.slice(colon + 1);
  if (colon < 0 || name === '') return [];
  const parameters = named(variable.slice(0, colon), name, method);
  return parameters.some((each) => each.length > MOST_CHARACTERS) ? [] : parameters;
}

function named(collection: string, name: string, method: string): readonly string[] {
  switch (collection) {
    case 'ARGS_GET':
      return [`query:${name}`];
    case 'ARGS_POST':
      return [`body:${bodyPath(name)}`];
    case 'ARGS':
      return argument(name, method);
    case 'REQUEST_HEADERS':
      return [`header:${name.toLowerCase()}`];
    case 'REQUEST_COOKIES':
      return [`cookie:${name}`];
    default:
      return [];
  }
}

/** `ARGS` has the query and the body, and does not say which of them. */
function argument(name: string, method: string): readonly string[] {
  if (JSON_PATH.test(name)) return [`body:${bodyPath(name)}`];
  return WITHOUT_BODY.includes(method) ? [`query:${name}`] : [`query:${name}`, `body:${name}`];
}

/** Members of each item have one path: `items.*.note`. */
function bodyPath(name: string): string {
  if (!JSON_PATH.test(name)) return name;
  const parts = name.split('.').slice(1);
  return parts.map((part) => (INDEX.test(part) ? '*' : part)).join('.');
}
