/** Types of the untyped libraries that decompress.ts uses. */
declare module 'lz4js' {
  const lz4: {
    /** Bytes that the content of a frame has at most. */
    decompressBound(frame: Uint8Array): number;
    decompress(frame: Uint8Array, maxBytes: number): Uint8Array;
    compress(content: Uint8Array): Uint8Array;
  };
  export default lz4;
}

declare module 'snappyjs' {
  const snappy: {
    /** Throws if the content has more bytes. */
    uncompress(block: Buffer, maxBytes: number): Buffer;
    compress(content: Buffer): Buffer;
  };
  export default snappy;
}
