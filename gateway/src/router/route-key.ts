/** Identifies a route, regardless of the names of its parameters (E1010). */
import { parseTemplate, type Segment } from './template.ts';

/** Equal for two routes that answer the same requests. Throws TemplateError. */
export function routeKey(method: string, path: string): string {
  return `${method} ${parseTemplate(path).segments.map(shapeOf).join('/')}`;
}

function shapeOf(segment: Segment): string {
  switch (segment.kind) {
    case 'static':
      return encodeURIComponent(segment.text);
    case 'param':
      return '{}';
    case 'greedy':
      return '{+}';
    default:
      return segment.pattern.literals.map(encodeURIComponent).join('{}');
  }
}
