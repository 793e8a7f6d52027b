/**
 * The YAML writer, loaded with `import()`. A module of our own, since the bundler gives a CommonJS package, imported
 * that way, no named exports.
 */
export { stringify } from 'yaml';
