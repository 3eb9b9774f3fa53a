import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { api } from '../index.ts'
import * as fields from './fields.ts'

const takes = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success

/** U+0000 to U+001F and U+007F to U+009F. */
const controls = Array.from({ length: 0xa0 }, (_, code) => code).filter(
  (code) => code < 0x20 || code >= 0x7f,
)
/** Characters of one to four bytes. */
const characters = ['x', 'é', '€', '😀']

/** A text of exactly `bytes` bytes, of one character as far as it goes. */
function textOf(bytes: number, character: string): string {
  const size = Buffer.byteLength(character)
  return character.repeat(Math.floor(bytes / size)) + 'x'.repeat(bytes % size)
}

describe('utf8Bytes', () => {
  it('[H-GEN-18] counts what UTF-8 needs, unpaired surrogates included', () => {
    const unit = fc.oneof(
      fc.constantFrom(
        '\u007f',
        '\u0080',
        '\u07ff',
        '\u0800',
        '\uffff',
        '\ud800',
        '\udbff',
        '\udc00',
        '\udfff',
        '😀',
      ),
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    )
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        expect(fields.utf8Bytes(text)).toBe(Buffer.byteLength(text))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('characters', () => {
  it('[H-GEN-18] controls are these 65 and no other', () => {
    expect(controls).toHaveLength(65)
    for (let code = 0; code < 0x3000; code += 1) {
      const found = fields.hasControlCharacter(`a${String.fromCharCode(code)}b`)
      expect([code, found]).toEqual([code, controls.includes(code)])
    }
  })

  it('[H-GEN-18] blank is nothing but white space', () => {
    for (const text of ['', ' ', '\t\n', '\u00a0', '\u2003\u3000'])
      expect(fields.isBlank(text)).toBe(true)
    for (const text of ['a', ' a ', '\u200b', '\u0000', '.', '\ufeff', ' \ufeff ', '\ud800'])
      expect(fields.isBlank(text)).toBe(false)
  })

  it('[H-GEN-18] white space is what Unicode says, for blank texts and for trimming alike', () => {
    const spaces = Array.from({ length: 0x11_0000 }, (_, code) =>
      String.fromCodePoint(code),
    ).filter((character) => fields.isBlank(character))
    expect(spaces.join('')).toBe(
      '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009' +
        '\u200a\u2028\u2029\u202f\u205f\u3000',
    )
    const unit = fc.constantFrom(...spaces, 'a', 'é', '\ufeff', '\u200b', '😀', '\ud800')
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const kept = Array.from(text)
        while (spaces.includes(kept[0] ?? 'end')) kept.shift()
        while (spaces.includes(kept.at(-1) ?? 'end')) kept.pop()
        expect(fields.trimmed(text)).toBe(kept.join(''))
        expect(fields.isBlank(text)).toBe(kept.length === 0)
      }),
    )
  })
})

describe.each([
  ['label', fields.label, 128],
  ['label', fields.label, 255],
  ['key', fields.key, 128],
  ['reference', fields.reference, 1024],
  ['presentReference', fields.presentReference, 1024],
] as const)('%s', (name, make, bytesMax) => {
  const schema = make(bytesMax)

  it.each(characters)(
    `[H-GEN-19] [H-GEN-20] [H-GEN-21] may have ${bytesMax} bytes of %s and not one more`,
    (character) => {
      const longest = textOf(bytesMax, character)
      expect([Buffer.byteLength(longest), takes(schema, longest)]).toEqual([bytesMax, true])
      expect(takes(schema, `${longest}x`)).toBe(false)
      expect(takes(schema, textOf(bytesMax - 1, 'x') + character)).toBe(character === 'x')
      expect(takes(schema, 'x')).toBe(true)
    },
  )

  it('[H-GEN-19] [H-GEN-20] [H-GEN-21] takes control characters only where they are harmless', () => {
    for (const code of controls) {
      const text = `a${String.fromCharCode(code)}b`
      expect([code, takes(schema, text)]).toEqual([code, name.endsWith('eference') && code !== 0])
    }
    expect(takes(schema, 'a\u00a0b')).toBe(true)
  })

  it('[H-GEN-19] [H-GEN-20] [H-GEN-21] treats nothing and white space as its rule says', () => {
    expect(takes(schema, '')).toBe(name === 'reference')
    expect(takes(schema, '  ')).toBe(name === 'reference' || name === 'key')
  })

  it('[S-API-1] takes no unpaired surrogates, which have no bytes of UTF-8', () => {
    for (const text of ['\ud800', 'a\udc00', '\udc00\ud800', '\ud83dx'])
      expect([text, takes(schema, text)]).toEqual([text, false])
    expect(takes(schema, '\ud83d\ude00')).toBe(true)
  })

  it('[H-GEN-15] takes texts only, and keeps them as sent', () => {
    for (const value of [1, true, null, undefined, ['a'], { a: 1 }])
      expect(takes(schema, value)).toBe(false)
    expect(schema.parse(' Ä b ')).toBe(' Ä b ')
  })
})

describe('limit', () => {
  const schema = fields.limit({ default: 50, cap: 200 })

  it.each([
    [undefined, 50],
    ['1', 1],
    ['0', 1],
    ['000', 1],
    ['200', 200],
    ['201', 200],
    ['007', 7],
    ['9'.repeat(400), 200],
  ])('[H-GEN-26] makes %s of %s', (sent, value) => {
    expect(schema.parse(sent)).toBe(value)
  })

  it.each([
    '',
    ' ',
    '-1',
    '+1',
    '1.0',
    '1e1',
    '0x1',
    ' 1',
    '1 ',
    '1\n',
    '１',
    'x',
    'NaN',
    5,
    null,
    ['1'],
  ])('[H-GEN-26] refuses %j', (sent) => {
    expect(takes(schema, sent)).toBe(false)
  })
})

describe('numbers', () => {
  it.each([
    ['count', fields.count],
    ['unixMs', fields.unixMs],
  ] as const)('[H-GEN-15] %s is an integer of 0 to 2^53 - 1', (_name, schema) => {
    for (const value of [0, 1, Number.MAX_SAFE_INTEGER]) expect(takes(schema, value)).toBe(true)
    for (const value of [-1, 0.5, 2 ** 53, 1n, '1', null, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(takes(schema, value)).toBe(false)
    }
  })
})

describe('freeObject', () => {
  it('[H-GEN-13] takes any object as it is, and nothing else', () => {
    const value = JSON.parse('{"__proto__":{"a":[1]},"b":null}')
    expect(fields.freeObject.parse(value)).toBe(value)
    for (const other of [null, [], 'a', 1, true, undefined])
      expect(takes(fields.freeObject, other)).toBe(false)
  })
})

describe('optional', () => {
  it('[H-GEN-14] makes null absent, and keeps the bounds of what is there', () => {
    const schema = fields.optional(fields.label(3))
    expect([schema.parse(null), schema.parse(undefined), schema.parse('abc')]).toEqual([
      undefined,
      undefined,
      'abc',
    ])
    expect(takes(schema, 'abcd')).toBe(false)
  })
})

describe('sign-in', () => {
  const { body: device } = api.signIn.device
  const { body: email } = api.signIn.email
  const password = 'long enough'

  it.each([
    ['Ana@Example.COM', 'ana@example.com'],
    ['\t ana@example.com \n', 'ana@example.com'],
    ['\u00a0ana@example.com', 'ana@example.com'],
    ["o'hara+x@a.b", "o'hara+x@a.b"],
    [`${'a'.repeat(242)}@example.com`, `${'a'.repeat(242)}@example.com`],
    ['a@b..c', 'a@b..c'],
  ])('[H-PLY-5] reads the address %j', (sent, address) => {
    expect(email.parse({ email: sent, password }).email).toBe(address)
  })

  it.each([
    '',
    '@',
    'ana',
    'ana@',
    '@example.com',
    'ana@example',
    'ana@.com',
    'ana@example.',
    'a@b@c.d',
    'a b@c.d',
    'a\t@c.d',
    'ä@c.d',
    'a@ç.d',
    'a\u0000@c.d',
    `${'a'.repeat(243)}@example.com`,
  ])('[H-PLY-5] refuses the address %j', (sent) => {
    expect(takes(email, { email: sent, password })).toBe(false)
  })

  it('[H-PLY-5] folds ASCII only', () => {
    expect(takes(email, { email: '\u212aelvin@example.com', password })).toBe(false)
  })

  it.each(characters)('[H-PLY-6] takes passwords of 8 to 1024 bytes of %s', (character) => {
    const sent = (bytes: number) => ({ email: 'a@b.c', password: textOf(bytes, character) })
    expect([7, 8, 1024, 1025].map((bytes) => takes(email, sent(bytes)))).toEqual([
      false,
      true,
      true,
      false,
    ])
  })

  it('[H-PLY-6] refuses white space and control characters, and changes nothing', () => {
    for (const sent of [
      ' '.repeat(8),
      '\u2003'.repeat(8),
      ...controls.map((code) => `password${String.fromCharCode(code)}`),
    ]) {
      expect(takes(email, { email: 'a@b.c', password: sent })).toBe(false)
    }
    expect(email.parse({ email: 'a@b.c', password: '  pass wörd ' }).password).toBe('  pass wörd ')
  })

  it('[H-PLY-2] checks what will not be used, and needs a name to register', () => {
    expect(takes(device, { id: 'a', username: ' ' })).toBe(false)
    expect(takes(device, { id: 'a', display_name: '' })).toBe(false)
    expect(takes(device, { id: 'a', display_name: 'x'.repeat(255) })).toBe(true)
    expect(takes(device, { id: 'a', metadata: [] })).toBe(false)
    expect(takes(device, { id: 'a', create: true })).toBe(false)
    expect(takes(device, { id: 'a', create: true, username: null })).toBe(false)
    expect(takes(device, { id: 'a', create: true, username: 'ana' })).toBe(true)
    expect(takes(device, { id: 'a', create: 'true' })).toBe(false)
  })
})

describe('account', () => {
  const { body: patch } = api.accounts.patch
  const { body: lookup } = api.accounts.lookup

  it('[H-PLY-8] a change needs something to change', () => {
    for (const sent of [
      {},
      { username: null },
      { display_name: '' },
      { display_name: ' ' },
      { username: ' ' },
    ]) {
      expect(takes(patch, sent)).toBe(false)
    }
    for (const sent of [
      { display_name: null },
      { username: 'a' },
      { username: null, display_name: 'b' },
    ]) {
      expect(takes(patch, sent)).toBe(true)
    }
  })

  it('[H-PLY-9] a lookup has 1 to 100 keys, counted before they are merged', () => {
    const same = (keys: number) => Array<string>(keys).fill('a')
    expect(takes(lookup, { user_ids: same(100) })).toBe(true)
    expect(takes(lookup, { user_ids: same(60), usernames: same(40) })).toBe(true)
    expect(takes(lookup, { user_ids: same(60), usernames: same(41) })).toBe(false)
    for (const sent of [{}, { user_ids: [] }, { user_ids: null, usernames: [] }])
      expect(takes(lookup, sent)).toBe(false)
  })

  it('[H-PLY-9] [H-GEN-21] its ids are references that are not blank, its names labels', () => {
    for (const id of ['', ' ', 'a\u0000', 'x'.repeat(1025), 'é'.repeat(513)])
      expect(takes(lookup, { user_ids: [id] })).toBe(false)
    for (const id of ['x'.repeat(1024), 'é'.repeat(512), 'a\n'])
      expect(takes(lookup, { user_ids: [id] })).toBe(true)
    for (const name of ['', ' ', 'a\n', 'x'.repeat(129)])
      expect(takes(lookup, { usernames: [name] })).toBe(false)
  })
})

describe('operators', () => {
  it('[H-CON-1] send a name and a password of 0 to 1,024 bytes', () => {
    const { body } = api.console.login
    expect(takes(body, { username: '', password: '' })).toBe(true)
    for (const character of characters) {
      const longest = textOf(1024, character)
      expect(takes(body, { username: longest, password: longest })).toBe(true)
      expect(takes(body, { username: `${longest}x`, password: '' })).toBe(false)
      expect(takes(body, { username: '', password: `${longest}x` })).toBe(false)
    }
    expect(takes(body, { username: 'a' })).toBe(false)
    expect(takes(body, { username: 'a', password: 'b', extra: 1 })).toBe(false)
    expect(takes(body, { username: 'a\u0000', password: 'b' })).toBe(false)
  })

  it('[H-ID-1] [H-AUD-7] may send an audit cursor in either case, and no other form', () => {
    const { query } = api.audit.list
    const hex = '0123456789abcdef0123456789abc'
    for (const after of [`au1-${hex}`, `au1-${hex.toUpperCase()}`])
      expect(takes(query, { after })).toBe(true)
    for (const after of [
      '',
      hex,
      `au1-${hex}0`,
      `au1-${hex.slice(1)}`,
      `ml1-${hex}`,
      `au1-${hex.slice(1)}g`,
      ` au1-${hex}`,
      `au1-${hex}\n`,
    ]) {
      expect(takes(query, { after })).toBe(false)
    }
  })
})
