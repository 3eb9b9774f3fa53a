import type { Socket } from 'node:net'

/** A profile is some megabytes. */
const charsMax = 268_435_456

/** The first line of a connection as JSON; undefined if it ends before, or is no JSON. */
export async function readJsonLine(socket: Socket): Promise<unknown> {
  const parts: string[] = []
  let chars = 0
  socket.setEncoding('utf8')
  try {
    for await (const part of socket.iterator({ destroyOnReturn: false })) {
      const text = String(part)
      parts.push(text)
      chars += text.length
      if (text.includes('\n') || chars > charsMax) break
    }
    return JSON.parse(parts.join(''))
  } catch {
    return undefined
  }
}
