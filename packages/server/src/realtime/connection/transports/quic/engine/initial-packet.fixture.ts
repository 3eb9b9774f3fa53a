import { createDecipheriv } from 'node:crypto'
import {
  headerMask,
  type Initial,
  initialKeys,
  nonceOf,
  type Side,
  tagBytes,
} from './initial-packet.ts'

/** The frames of an Initial; undefined when its keys do not fit. `id` is the client's first one. */
export function openInitial(
  { packet, numberAt }: Initial,
  { id, from }: { id: Uint8Array; from: Side },
): Uint8Array | undefined {
  const keys = initialKeys(id, from)
  const open = Buffer.from(packet)
  const mask = headerMask(keys, open.subarray(numberAt + 4, numberAt + 4 + tagBytes))
  open[0] = (open[0] ?? 0) ^ ((mask[0] ?? 0) & 0x0f)
  const numberBytes = ((open[0] ?? 0) & 3) + 1
  let number = 0
  for (let at = 0; at < numberBytes; at += 1) {
    const byte = (open[numberAt + at] ?? 0) ^ (mask[at + 1] ?? 0)
    open[numberAt + at] = byte
    number = number * 256 + byte
  }
  const payloadAt = numberAt + numberBytes
  if (open.length < payloadAt + tagBytes) return undefined
  const cipher = createDecipheriv('aes-128-gcm', keys.key, nonceOf(keys, number))
  cipher.setAAD(open.subarray(0, payloadAt))
  cipher.setAuthTag(open.subarray(-tagBytes))
  try {
    return Buffer.concat([cipher.update(open.subarray(payloadAt, -tagBytes)), cipher.final()])
  } catch {
    // Somebody else's packet, or nobody's.
    return undefined
  }
}
