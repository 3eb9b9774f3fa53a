import { hash } from '@node-rs/argon2'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isWeaker, parsePhc } from './phc.ts'

const salt = 'c29tZXNhbHRzb21lc2FsdA'
const digest = 'A'.repeat(43)
const good = `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${digest}`
const params = { memory_kib: 19_456, iterations: 2, parallelism: 1 }

describe('a PHC string', () => {
  it('[H-PLY-7] is read into its parts', () => {
    const phc = parsePhc(good)
    expect(phc).toMatchObject({ version: 19, ...params })
    expect(phc?.salt.toString()).toBe('somesaltsomesalt')
    expect(phc?.hash).toEqual(Buffer.alloc(32))
  })

  it('[H-PLY-7] as the hashing library writes it can be read', async () => {
    const text = await hash('a password', { memoryCost: 8192, timeCost: 3, parallelism: 2 })
    const read = parsePhc(text)
    expect(read).toMatchObject({ memory_kib: 8192, iterations: 3, parallelism: 2 })
    expect([read?.salt.length, read?.hash.length]).toEqual([16, 32])
  })

  it.each([
    '',
    'password',
    '$argon2id$',
    good.slice(1),
    `${good} `,
    `${good}\n`,
    `${good}=`,
    `${good}$`,
    good.replace('argon2id', 'argon2i'),
    good.replace('argon2id', 'argon2d'),
    good.replace('argon2id', 'ARGON2ID'),
    good.replace('v=19', 'v=16'),
    good.replace('$v=19', ''),
    good.replace('m=19456,t=2', 't=2,m=19456'),
    good.replace('t=2', 't=0'),
    good.replace('t=2', 't=02'),
    good.replace('t=2', 't=-2'),
    good.replace('t=2', 't=1001'),
    good.replace('p=1', 'p=256'),
    good.replace('p=1', 'p=1,keyid=AA'),
    good.replace('m=19456', 'm=7'),
    good.replace('m=19456', 'm=4194305'),
    good.replace('m=19456', 'm=99999999999'),
    good.replace(salt, 'c2FsdA'),
    good.replace(salt, ''),
    good.replace(salt, `${salt.slice(0, -1)}R`),
    good.replace(salt, `-${salt.slice(1)}`),
    good.replace(digest, 'A'.repeat(20)),
    good.replace(digest, 'A'.repeat(172)),
    good.replace(digest, 'A'.repeat(41)),
  ])('[O-SEC-6] is not %j', (text) => expect(parsePhc(text)).toBeUndefined())

  it.each([
    ['8 KiB for a lane', good.replace('m=19456', 'm=8')],
    ['8 KiB for each lane', good.replace('m=19456,t=2,p=1', 'm=16,t=2,p=2')],
    ['4 GiB', good.replace('m=19456', 'm=4194304')],
    ['1,000 passes', good.replace('t=2', 't=1000')],
    ['255 lanes', good.replace('p=1', 'p=255')],
    ['a salt of 8 bytes', good.replace(salt, unpadded(8))],
    ['a salt of 64 bytes', good.replace(salt, unpadded(64))],
    ['a hash of 16 bytes', good.replace(digest, unpadded(16))],
    ['a hash of 128 bytes', good.replace(digest, unpadded(128))],
  ])('[O-SEC-6] may have %s', (_what, text) => expect(parsePhc(text)).toBeDefined())

  it.each([
    ['less than 8 KiB for each lane', good.replace('m=19456,t=2,p=1', 'm=15,t=2,p=2')],
    ['more lanes than its memory serves', good.replace('m=19456,t=2,p=1', 'm=2039,t=2,p=255')],
    ['a salt of 7 bytes', good.replace(salt, unpadded(7))],
    ['a salt of 65 bytes', good.replace(salt, unpadded(65))],
    ['a hash of 15 bytes', good.replace(digest, unpadded(15))],
    ['a hash of 129 bytes', good.replace(digest, unpadded(129))],
  ])('[O-SEC-6] has not %s', (_what, text) => expect(parsePhc(text)).toBeUndefined())

  it('[O-SEC-6] is either read or refused, whatever the text', () => {
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.string({ maxLength: 3 }), (at, noise) => {
        const text = good.slice(0, at) + noise + good.slice(at + 1)
        const phc = parsePhc(text)
        if (!phc) return
        const { memory_kib: m, iterations: t, parallelism: p } = phc
        const parts = [phc.salt, phc.hash].map((it) => it.toString('base64').replace(/=+$/, ''))
        expect(`$argon2id$v=19$m=${m},t=${t},p=${p}$${parts.join('$')}`).toBe(text)
      }),
    )
  })
})

describe('a weaker verifier', () => {
  it.each([
    ['the same cost', {}, false],
    ['more memory', { memory_kib: 20_000 }, false],
    ['less memory', { memory_kib: 19_455 }, true],
    ['more passes', { iterations: 3 }, false],
    ['fewer passes', { iterations: 1 }, true],
    ['less memory and more passes', { memory_kib: 8_192, iterations: 9 }, true],
    ['more lanes', { parallelism: 2 }, false],
    ['a short salt', { salt: Buffer.alloc(15) }, true],
    ['a short hash', { hash: Buffer.alloc(31) }, true],
  ])('[H-PLY-7] with %s: %j is %s', (_case, change, weaker) => {
    const phc = parsePhc(good)
    expect(phc && isWeaker({ ...phc, ...change }, params)).toBe(weaker)
  })
})

function unpadded(bytes: number): string {
  return Buffer.alloc(bytes, 1).toString('base64').replaceAll('=', '')
}
