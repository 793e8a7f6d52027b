/** Most bytes of memory of an instance of the engine; loading rules takes most of it. */
export const ENGINE_MEMORY_BYTES = 64 << 20;
