import { describe, expect, it } from 'vitest'
import { type Line, partsOf } from './import-file.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** A text as a stream would have it that is cut anywhere. */
async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = bytesOf(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
}

async function partsIn(text: string, { size = 3, lines = 100, bytes = 1_000 } = {}) {
  const parts: (readonly Line[])[] = []
  for await (const part of partsOf(inPieces(text, size), { lines, bytes })) parts.push(part)
  return parts.map((part) => part.map(({ number, text }) => `${number} ${text}`))
}

describe('a file of lines', () => {
  it('keeps characters and lines whole, wherever it is cut', async () => {
    for (const size of [1, 2, 3, 5, 100]) {
      expect(await partsIn('é€\n😀\n\n \nlast', { size })).toEqual([['1 é€', '2 😀', '5 last']])
    }
  })

  it('comes in parts of so many lines and bytes', async () => {
    expect(await partsIn('a\nb\nc\nd\ne\n', { lines: 2 })).toEqual([
      ['1 a', '2 b'],
      ['3 c', '4 d'],
      ['5 e'],
    ])
    expect(await partsIn('aaa\nbbb\ncccccccccc\nd', { bytes: 8 })).toEqual([
      ['1 aaa', '2 bbb'],
      ['3 cccccccccc'],
      ['4 d'],
    ])
  })

  it('has no parts when it is empty, and throws for what is no text', async () => {
    expect(await partsIn('\n \n')).toEqual([])
    const broken = async function* () {
      yield new Uint8Array([0x61, 0xff])
    }
    await expect(partsOf(broken(), { lines: 1, bytes: 1 }).next()).rejects.toThrow()
  })
})
