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

type Patch = { before: readonly number[]; after: readonly number[]; places: number }

/**
 * The four faults of that release. A TLS handshake that fails ends in a trap of the whole engine;
 * its memory may grow to 64 MiB only, which some 290 connections fill; it sends 20 times what the
 * peer's window allows, which peers end the connection for; and each server begins with 32 MiB of
 * buffers, of which it uses one or two.
 */
const patches: readonly Patch[] = [
  {
    // The call that panics becomes a branch that leaves the function.
    before: [0x10, 0xc9, 0x09, 0x1a, 0x00, 0x0b, 0x42, 0x00],
    after: [0x0c, 0x02, 0x01, 0x01, 0x01, 0x0b, 0x42, 0x00],
    places: 1,
  },
  {
    // The memory section: at least 21 pages, and 16,383 instead of 1,024 at most.
    before: [0x01, 0x01, 0x15, 0x80, 0x08],
    after: [0x01, 0x01, 0x15, 0xff, 0x7f],
    places: 1,
  },
  {
    // The factor of what may be sent becomes 1, as a constant of 64 bits: 20.0 was asked for.
    before: [0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x9a, 0xc0, 0x00],
    after: [0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xf8, 0xbf, 0x00],
    places: 4,
  },
  {
    // A pool of buffers of 64 KiB begins with one of them instead of 256, and makes more as needed.
    before: [0x41, 0x80, 0x02, 0x21, 0x03, 0x23, 0x00, 0x41, 0x10, 0x6b],
    after: [0x41, 0x81, 0x00, 0x21, 0x03, 0x23, 0x00, 0x41, 0x10, 0x6b],
    places: 1,
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
  for (const { before, after, places } of patches) {
    const found = placesOf(Buffer.from(before), bytes)
    if (found.length !== places) throw new EngineUnfit('the QUIC engine has no place for a patch')
    for (const place of found) bytes.set(after, place)
  }
  return bytes
}

function placesOf(part: Uint8Array, bytes: Buffer): number[] {
  const places: number[] = []
  for (let at = bytes.indexOf(part); at !== -1; at = bytes.indexOf(part, at + 1)) places.push(at)
  return places
}
