import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cursorOf, positionOf, start } from './storage.cursor.ts'

const list = ['list', 'saves']
const invalid = expect.objectContaining({ name: 'Failure', code: 'invalid_request' })

/** A cursor that nobody was given: its checksum is right, and so anybody can make it. */
function forged(place: Uint8Array): string {
  const text = JSON.stringify([...list, Buffer.from(place).toString('latin1')])
  const seal = hash('sha256', text, 'buffer').subarray(0, 12)
  return Buffer.concat([seal, place]).toString('base64url')
}

/** With the bytes of an owner and a key, and the length that is claimed for the owner. */
function placed(owner: Uint8Array, key: Uint8Array, length = owner.length): string {
  const head = Buffer.alloc(2)
  head.writeUInt16BE(length)
  return forged(Buffer.concat([head, owner, key]))
}

const bytes = (text: string) => Buffer.from(text)

describe('[H-STO-2] a cursor', () => {
  it('goes on behind the row that it was given for', () => {
    expect(positionOf(list, undefined)).toEqual(start)
    const owners = ['', 'ana', '\ufeffana', 'ö'.repeat(512), 'x'.repeat(1024)]
    for (const user_id of owners) {
      for (const key of ['k', '\ufeffk', ' ', 'é'.repeat(64)]) {
        expect(positionOf(list, cursorOf(list, { user_id, key }))).toEqual({ user_id, key })
      }
    }
    expect(positionOf(list, placed(bytes('ana'), bytes('k')))).toEqual({ user_id: 'ana', key: 'k' })
  })

  it.each([
    ['an owner of U+0000', forged(Uint8Array.of(0, 1, 0, 0x6b))],
    ['a key with U+0000', placed(bytes('ana'), bytes('k\0'))],
    ['a key with a control character', placed(bytes(''), bytes('k\u0085'))],
    ['an owner that is no UTF-8', placed(Uint8Array.of(0xff), bytes('k'))],
    ['an owner with a surrogate', placed(Uint8Array.of(0xed, 0xa0, 0x80), bytes('k'))],
    ['a key that is no UTF-8', placed(bytes('ana'), Uint8Array.of(0x6b, 0xc3))],
    ['an owner that ends within a character', placed(bytes('ö'), bytes('k'), 1)],
    ['an owner that runs past the end', placed(bytes('ana'), bytes('k'), 5)],
    ['an owner up to the end', placed(bytes('ana'), bytes(''))],
    ['an owner that is too long', placed(bytes('x'.repeat(1025)), bytes('k'))],
    ['an owner that is blank', placed(bytes(' '), bytes('k'))],
    ['a key that is too long', placed(bytes('ana'), bytes(`${'é'.repeat(64)}k`))],
    ['no place', forged(Uint8Array.of())],
    ['no more than a length', forged(Uint8Array.of(0, 0))],
  ])('is refused when it was forged with %s', (_, cursor) => {
    expect(() => positionOf(list, cursor)).toThrow(invalid)
  })

  it('is refused or is one of the list, whatever was forged', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (place) => {
        const cursor = forged(place)
        try {
          expect(cursorOf(list, positionOf(list, cursor))).toBe(cursor)
        } catch (error) {
          expect(error).toEqual(invalid)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
