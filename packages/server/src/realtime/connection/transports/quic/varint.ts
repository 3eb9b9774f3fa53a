/** The integers of QUIC and HTTP/3: the first two bits say whether 1, 2, 4 or 8 bytes follow. */

export type Varint = { value: number; end: number }

/** The integer at a place; undefined when it is not whole yet. */
export function readVarint(bytes: Uint8Array, at = 0): Varint | undefined {
  const first = bytes[at]
  if (first === undefined) return undefined
  const end = at + (1 << (first >> 6))
  if (end > bytes.length) return undefined
  let value = first & 0x3f
  // Beyond 2^53 they are rounded, and no such number means anything here.
  for (let next = at + 1; next < end; next += 1) value = value * 256 + (bytes[next] ?? 0)
  return { value, end }
}

/** The shortest form of an integer below 2^32. */
export function varint(value: number): number[] {
  if (value < 0x40) return [value]
  if (value < 0x4000) return [0x40 | (value >> 8), value & 0xff]
  const bytes = [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff)
  if (value < 0x4000_0000) return [0x80 | (bytes[0] ?? 0), ...bytes.slice(1)]
  return [0xc0, 0, 0, 0, ...bytes]
}
