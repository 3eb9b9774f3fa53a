import { type BodyCodec, WireError } from '@guildhall/contract'

/**
 * What a client's body says, or undefined when it is malformed. Where a decoder threw is noted for
 * nobody: that costs ten times the rest, and a client may send a thousand such bodies a second.
 */
export function decoded<Value>(
  codec: Pick<BodyCodec<Value>, 'decode'>,
  body: Uint8Array,
): Value | undefined {
  const frames = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return codec.decode(body)
  } catch (error) {
    if (error instanceof WireError) return undefined
  } finally {
    Error.stackTraceLimit = frames
  }
  // A bug is thrown once more, with where it is.
  return codec.decode(body)
}
