/** Real API descriptions with a mock for every operation, so that they compile and are served. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export interface Document {
  readonly paths: Record<string, Record<string, Record<string, unknown>>>;
}

/** The first operation without parameters that a plain GET may call, and how many operations there are. */
export function withMocks(document: Document): { operations: number; path: string } {
  let operations = 0;
  let path = '';
  for (const [template, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      operation['x-gw-dispatch'] = { name: 'mock', config: { body: '{"from":"mock"}' } };
      operations++;
      if (method === 'get' && path === '' && !template.includes('{') && !item['parameters'] && !operation['parameters'])
        path = template;
    }
  }
  return { operations, path };
}
