/** Files of JSON lines, read part by part. */

/** A line that is not empty, by its number in the file. */
export type Line = { number: number; text: string }

/** What one request takes: so many lines, and bytes of them. */
export type PartMax = { lines: number; bytes: number }

/** Lines in parts that fit into one request; a line that is too long is a part of its own. */
export async function* partsOf(
  chunks: AsyncIterable<Uint8Array>,
  max: PartMax,
): AsyncGenerator<readonly Line[]> {
  let part: Line[] = []
  let bytes = 0
  for await (const line of linesOf(chunks)) {
    const size = new TextEncoder().encode(line.text).length + 1
    if (part.length > 0 && (part.length >= max.lines || bytes + size > max.bytes)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(line)
    bytes += size
  }
  if (part.length > 0) yield part
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  let number = 0
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) {
      number += 1
      if (text.trim() !== '') yield { number, text }
    }
  }
  rest += decoder.decode()
  if (rest.trim() !== '') yield { number: number + 1, text: rest }
}

/** The chunks of a stream; leaving the loop lets go of it. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}
