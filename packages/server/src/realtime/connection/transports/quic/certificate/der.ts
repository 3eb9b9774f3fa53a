/** The few forms of DER, the encoding of certificates, that a certificate of our own needs. */

export function tagged(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content])
}

export function sequence(...contents: Uint8Array[]): Buffer {
  return tagged(0x30, ...contents)
}

export function set(...contents: Uint8Array[]): Buffer {
  return tagged(0x31, ...contents)
}

/** Bytes of a number, most significant first; the first bit is its sign. */
export function integer(bytes: Uint8Array): Buffer {
  return tagged(0x02, bytes)
}

export function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

export function utf8(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text))
}

export function bits(bytes: Uint8Array): Buffer {
  return tagged(0x03, Buffer.from([0]), bytes)
}

/** UTC with a year of two digits, as certificates have it until 2049. */
export function time(unixMs: number): Buffer {
  const digits = new Date(unixMs).toISOString().replace(/[-:T]|\.\d+/g, '')
  return tagged(0x17, Buffer.from(digits.slice(2)))
}

export function ipAddress(bytes: readonly number[]): Buffer {
  return Buffer.from(bytes)
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length]
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
}
