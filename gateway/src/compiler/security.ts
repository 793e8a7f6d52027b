/** Security requirements of an operation: which schemes it names, and where their credentials travel (section 2.6). */
import type { Diagnostics } from '../spec/diagnostic.ts';
import { type Documents, type Located, member, placeOf } from '../spec/documents.ts';
import { get, isObject } from '../spec/json.ts';
import type { DeclaredOperation } from '../spec/operations.ts';

export interface Security {
  /** Some requirement names a scheme that exists. */
  readonly named: boolean;
  /** Lower-case headers that carry credentials. */
  readonly headers: readonly string[];
}

const TYPES = ['apiKey', 'http', 'oauth2', 'openIdConnect', 'mutualTLS'];

export function securityOf(
  { spec, security }: DeclaredOperation,
  documents: Documents,
  diagnostics: Diagnostics,
): Security {
  const root: Located = { document: spec.document, pointer: '', value: spec.document.value };
  const schemes = member(member(root, 'components'), 'securitySchemes');
  const headers = new Set<string>();
  let named = false;
  for (const requirement of security) {
    for (const name of isObject(requirement.value) ? Object.keys(requirement.value) : []) {
      const declared = member(schemes, name);
      if (declared.value === undefined) {
        diagnostics.add(
          'E1004',
          placeOf(member(requirement, name)),
          `security scheme "${name}" is not in components.securitySchemes`,
        );
        continue;
      }
      const scheme = documents.follow(declared);
      if (!scheme) continue;
      named = true;
      for (const header of headersOf(scheme, diagnostics)) headers.add(header);
    }
  }
  return { named, headers: [...headers] };
}

function headersOf(scheme: Located, diagnostics: Diagnostics): readonly string[] {
  const type = get(scheme.value, 'type');
  if (!TYPES.some((each) => each === type)) {
    diagnostics.add('E1004', placeOf(scheme), `a security scheme's "type" is one of ${TYPES.join(', ')}`);
    return [];
  }
  if (type === 'mutualTLS') return [];
  if (type !== 'apiKey') return ['authorization'];
  const [name, part] = [get(scheme.value, 'name'), get(scheme.value, 'in')];
  if (typeof name !== 'string' || name === '' || !['header', 'query', 'cookie'].some((each) => each === part)) {
    diagnostics.add('E1004', placeOf(scheme), 'an apiKey scheme needs "name", and "in": header, query or cookie');
    return [];
  }
  if (part === 'header' && name.toLowerCase().startsWith('x-auth-')) {
    diagnostics.add('E1056', placeOf(scheme), `the credential header "${name}" is in the reserved x-auth-* namespace`);
    return [];
  }
  return part === 'header' ? [name.toLowerCase()] : part === 'cookie' ? ['cookie'] : [];
}
