import fc from 'fast-check'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { locateKeys } from './toml-lines.ts'

const document = `# a comment with [brackets] = "and quotes
top = 1

[http] # another
bind = "a # no comment"
tls.certificate_file = 'x'
"trusted_proxies" = [ # the list
  "10.0.0.0/8", # the first

  "fd00::/8",
]
text = """
[not.a.section]
key = 1
quoted "" \\""" """""
after = 'b'

[a . "b.c" . 'd']
x = { y = 1, "z" = [1, { w = 2 }] }
[[list]]
name = 1
[[list]]
name = 2
`

describe('the lines of keys', () => {
  it.each<[string[], number]>([
    [['top'], 2],
    [['http'], 4],
    [['http', 'bind'], 5],
    [['http', 'tls'], 6],
    [['http', 'tls', 'certificate_file'], 6],
    [['http', 'trusted_proxies'], 7],
    [['http', 'trusted_proxies', '0'], 8],
    [['http', 'trusted_proxies', '1'], 10],
    [['http', 'text'], 12],
    [['http', 'after'], 16],
    [['a', 'b.c', 'd', 'x'], 19],
    [['a', 'b.c', 'd', 'x', 'z', '1', 'w'], 19],
    [['list'], 20],
    [['list', '0', 'name'], 21],
    [['list', '1'], 22],
    [['list', '1', 'name'], 23],
  ])('[O-CFG-3] %j stands on line %i', (path, line) => {
    expect(parse(document)).toHaveProperty('http.after', 'b')
    expect(locateKeys(document)(path)).toBe(line)
  })

  it('[O-CFG-3] falls back to the nearest section that is known', () => {
    expect(locateKeys(document)(['http', 'absent'])).toBe(4)
    expect(locateKeys(document)(['absent'])).toBe(1)
  })

  it('[O-CFG-3] knows that a long text may end in quotes of its own', () => {
    const lineOf = locateKeys('list = ["""x""""", \n 2]')
    expect(lineOf(['list', '1'])).toBe(2)
  })

  it('[O-CFG-3] counts lines with Windows line breaks too', () => {
    const lineOf = locateKeys(document.replaceAll('\n', '\r\n'))
    expect(lineOf(['list', '1', 'name'])).toBe(23)
  })

  it('[O-CFG-3] comes to an end on any text', () => {
    const text = fc.string({
      maxLength: 40,
      unit: fc.constantFrom('"', "'", '[', ']', '{', '}', '=', ',', '.', '#', '\n', '\\', ' ', 'a'),
    })
    fc.assert(
      fc.property(text, (toml) => {
        expect(locateKeys(toml)(['a'])).toBeGreaterThan(0)
      }),
    )
  })
})
