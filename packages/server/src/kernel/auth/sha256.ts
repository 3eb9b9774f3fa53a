import { hash } from 'node:crypto'

/** The SHA-256 digest, 32 bytes. Node.js makes a Buffer of it at thrice the price of a string. */
export function sha256(data: string | Uint8Array): Buffer {
  // Node.js calls the encoding by its older name here; it is Latin-1.
  return Buffer.from(hash('sha256', data, 'binary'), 'latin1')
}
