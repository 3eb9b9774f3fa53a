import { expect, it } from 'vitest'
import {
  bootTag,
  encodeClaims,
  mintToken,
  readToken,
  sessionTag,
  type UploadClaims,
} from './upload-token.ts'

const key = Uint8Array.from({ length: 32 }, (_, at) => at)
const claims: UploadClaims = {
  capture_id: '00112233445566778899aabbccddeeff',
  generation: 1,
  attempt: 1,
  participant: 42,
  room_id: 7,
  expires_at_unix_ms: 1_700_000_060_000,
  max_compressed_bytes: 4_194_304,
  max_bytes: 67_108_864,
  session_tag: sessionTag('s-1'),
  boot_tag: bootTag(`bt1-${'0'.repeat(32)}`),
}
const hex =
  '00112233445566778899aabbccddeeff0000000100000001000000000000002a0000000000000007' +
  '0000018bcfe652600040000004000000c038a3dca09a27edd9c5635389f64f0fca0eaea685e283a5'
const token =
  'lu1.ABEiM0RVZneImaq7zN3u_wAAAAEAAAABAAAAAAAAACoAAAAAAAAABwAAAYvP5lJgAEAAAAQAAADAOKPcoJon7dn' +
  'FY1OJ9k8Pyg6upoXig6U.pzljZxpoQ8FX-BdAuyEX6c6KQyPkYdWbZQGYxHx-N8U'

it('[L-EX-1] [L-TOK-1] [L-TOK-2] the worked claims and token', () => {
  expect(encodeClaims(claims).toString('hex')).toBe(hex)
  expect(mintToken(key, claims)).toBe(token)
  expect(readToken(key, token)).toEqual(claims)
})

it('[L-TOK-3] no change of any letter, and no other form, is a token', () => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (let at = 0; at < token.length; at += 1) {
    for (const letter of [...letters.slice(0, 8), '.', '=', ' ', '\u00e9']) {
      if (letter === token[at]) continue
      const changed = token.slice(0, at) + letter + token.slice(at + 1)
      expect(readToken(key, changed), `letter ${at}`).toBeUndefined()
    }
    expect(readToken(key, token.slice(0, at)), `cut at ${at}`).toBeUndefined()
  }
  // The last letter of either part has bits that stand for nothing.
  for (const letter of letters) {
    const changed = `${token.slice(0, -1)}${letter}`
    expect(readToken(key, changed) === undefined, changed).toBe(changed !== token)
  }
  const others = ['', 'lu1', 'lu1..', `${token}A`, `${token}.`, ` ${token}`, `${token}\n`]
  for (const text of others) expect(readToken(key, text), text).toBeUndefined()
  expect(
    readToken(
      Uint8Array.from(key, (byte) => byte ^ 1),
      token,
    ),
  ).toBeUndefined()
})
