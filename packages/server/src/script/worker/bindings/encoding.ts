import { invalidArgument } from '../errors.ts'

/** Small encoders that message bodies need. */
export function createEncodingBindings() {
  return { pack_u64: packU64 }
}

const high = 0x1_0000_0000

function packU64(n: unknown): Uint8Array {
  const bytes = new Uint8Array(8)
  const view = new DataView(bytes.buffer)
  if (typeof n === 'bigint' && n >= 0n && n < 2n ** 64n) {
    view.setBigUint64(0, n)
    return bytes
  }
  if (typeof n === 'number' && Number.isSafeInteger(n) && n >= 0) {
    view.setUint32(0, Math.floor(n / high))
    view.setUint32(4, n % high)
    return bytes
  }
  throw invalidArgument('pack_u64: n must be an integer from 0 to 2^64 - 1')
}
