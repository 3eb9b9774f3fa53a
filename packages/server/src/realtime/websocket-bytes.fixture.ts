export function upgradeRequest(headers: Record<string, string | undefined> = {}): string {
  const all: Record<string, string | undefined> = {
    Host: 'localhost',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  }
  const lines = Object.entries(all).filter(([, value]) => value !== undefined)
  const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `GET /v1/realtime?x=1 HTTP/1.1\r\n${text}\r\n`
}

/** A client's WebSocket frame; the mask is zero, so that the payload stays readable. */
export function clientFrame(
  payload: Uint8Array,
  { opcode = 2, final = true, masked = true } = {},
): Buffer {
  const length = payload.length
  const size =
    length < 126
      ? [length]
      : length < 65536
        ? [126, length >> 8, length & 255]
        : [127, ...long(length)]
  const [first = 0, ...rest] = size
  const head = [(final ? 0x80 : 0) | opcode, (masked ? 0x80 : 0) | first, ...rest]
  return Buffer.concat([Buffer.from([...head, ...(masked ? [0, 0, 0, 0] : [])]), payload])
}

function long(length: number): number[] {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(length))
  return [...bytes]
}
