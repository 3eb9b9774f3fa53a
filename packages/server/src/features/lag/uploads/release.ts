/**
 * Gives the memory of bytes back, which nothing may read any more. Left to the collector, every few
 * dozen MiB of them cost a mark of the whole heap, on threads that take turns with the event loop.
 */
export function release({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Whether bytes have a buffer of their own, which nothing else is a part of. */
export function isWhole({ buffer, byteLength }: Uint8Array): boolean {
  return buffer.byteLength === byteLength
}
