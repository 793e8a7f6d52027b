/** The plugin cannot be loaded; the message says why and names the import, export or section. */
export class PluginLoadError extends Error {}
