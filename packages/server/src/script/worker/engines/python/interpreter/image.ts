import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootText } from './boot.ts'

/**
 * The memory of an interpreter that has booted and has run nothing of a game, as a file: a worker
 * that begins with it starts in a fraction of the time. Before the memory stand a word, what it was
 * made of, and a checksum.
 */
const word = 'guildhall python 1\n'
const hexLength = 64
const headerBytes = word.length + 2 * hexLength

/** What a memory is made of: the package of the engine, and the Python of this engine. */
export function imageSource(packageDir: string): string {
  const hash = createHash('sha256').update(bootText)
  return hash.update(readFileSync(join(packageDir, 'package.json'))).digest('hex')
}

export function encodeImage(source: string, memory: Uint8Array): Buffer {
  const checksum = createHash('sha256').update(memory).digest('hex')
  return Buffer.concat([Buffer.from(`${word}${source}${checksum}`, 'latin1'), memory])
}

/** Whether a file is a whole image of this source. Reads it in pieces, as others are served. */
export async function isImage(file: string, source: string): Promise<boolean> {
  const hash = createHash('sha256')
  let header = Buffer.alloc(0)
  try {
    for await (const piece of createReadStream(file, { highWaterMark: pieceBytes })) {
      const wanted = headerBytes - header.length
      const bytes = Buffer.from(piece)
      if (wanted > 0) header = Buffer.concat([header, bytes.subarray(0, wanted)])
      hash.update(bytes.subarray(wanted))
    }
  } catch {
    return false
  }
  return header.toString('latin1') === `${word}${source}${hash.digest('hex')}`
}

/** The memory in a file that the node has looked at; undefined without one. */
export function readImage(file: string): Uint8Array | undefined {
  return file === '' ? undefined : readFileSync(file).subarray(headerBytes)
}

const pieceBytes = 1_048_576
