import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Thrown when the engine's file is not the one that the patches are made for. */
export class EngineUnfit extends Error {
  override readonly name = 'EngineUnfit'
}

/** The file of release 0.9.0; the patches below hold for these bytes and no others. */
const fileSha256 = '2556729e978817456d84e76f88671dc8bb4a919a97d12582882b7da4c38abffa'

type Patch = { before: readonly number[]; after: readonly number[] }

/**
 * The two faults of that release. A TLS handshake that fails ends in a trap of the whole engine,
 * and its memory may grow to 64 MiB only, which some 290 connections fill.
 */
const patches: readonly Patch[] = [
  {
    // The call that panics becomes a branch that leaves the function.
    before: [0x10, 0xc9, 0x09, 0x1a, 0x00, 0x0b, 0x42, 0x00],
    after: [0x0c, 0x02, 0x01, 0x01, 0x01, 0x0b, 0x42, 0x00],
  },
  {
    // The memory section: at least 21 pages, and 16,383 instead of 1,024 at most.
    before: [0x01, 0x01, 0x15, 0x80, 0x08],
    after: [0x01, 0x01, 0x15, 0xff, 0x7f],
  },
]

/**
 * Reads the engine as it was published.
 *
 * @throws EngineUnfit when it is another release
 */
export async function readEngineFile(): Promise<Uint8Array<ArrayBuffer>> {
  const folder = dirname(fileURLToPath(import.meta.resolve('@currentspace/http3/wasm')))
  const bytes = await readFile(join(folder, 'http3_client.wasm'))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (sha256 !== fileSha256) throw new EngineUnfit(`the QUIC engine is another file: ${sha256}`)
  return bytes
}

/** The bytes of the published engine without its faults. */
export function mendEngine(published: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(published)
  for (const { before, after } of patches) {
    const place = bytes.indexOf(Buffer.from(before))
    const isOnly = place !== -1 && bytes.indexOf(Buffer.from(before), place + 1) === -1
    if (!isOnly) throw new EngineUnfit('the QUIC engine has no place for a patch')
    bytes.set(after, place)
  }
  return bytes
}
