import { afterAll, describe, expect, it } from 'vitest'
import { createWorkspace } from '../load.fixture.ts'
import { describeConfig } from '../redact.ts'

const workspace = createWorkspace()
afterAll(() => workspace.remove())

const name = 'GUILDHALL_CONSOLE__OPERATORS'
const ana = { username: 'ana', password: 'a password of hers', role: 'admin' }
const verifier =
  '$argon2id$v=19$m=19456,t=2,p=1$MTIzNDU2Nzg5MDEyMzQ1Ng$MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI'

const inEnvironment = (entries: unknown) => ({ env: { [name]: JSON.stringify(entries) } })

describe('[H-OPS-6] operators with names of their own', () => {
  it('are none by default', async () => {
    expect((await workspace.load({})).config.console.operators).toEqual([])
  })

  it('are read from the file and from the environment', async () => {
    const ben = { username: 'ben', password: verifier, role: 'viewer' }
    const file = [ana, ben].map(
      ({ username, password, role }) =>
        `[[console.operators]]\nusername = "${username}"\npassword = "${password}"\nrole = "${role}"`,
    )
    const given = [{ file: file.join('\n') }, inEnvironment([ana, ben])]
    for (const each of given) {
      expect((await workspace.load(each)).config.console.operators).toEqual([ana, ben])
    }
  })

  it('[O-SEC-2] have passwords in files of their own, beside the configuration', async () => {
    workspace.write('anas', 'from a file\n')
    workspace.write('bens', `${verifier}\n`, 0o644)
    const file =
      '[[console.operators]]\nusername = "ana"\npassword_file = "anas"\nrole = "admin"\n' +
      '[[console.operators]]\nusername = "ben"\npassword_file = "bens"\nrole = "viewer"'
    const { config, warnings } = await workspace.load({ file })
    expect(config.console.operators).toEqual([
      { username: 'ana', password: 'from a file', role: 'admin' },
      { username: 'ben', password: verifier, role: 'viewer' },
    ])
    const open = 'the file of console.operators (guildhall.toml line 1) can be read by other users'
    expect(warnings.filter((line) => line.includes('other users'))).toEqual([open])
  })

  it('[H-CFG-2] are one entry with redacted passwords', async () => {
    const { config } = await workspace.load(
      inEnvironment([ana, { username: 'ben', password: verifier, role: 'viewer' }]),
    )
    const entries = describeConfig(config).find((group) => group.name === 'console')?.entries
    expect(entries?.filter(({ key }) => key.startsWith('operators'))).toEqual([
      {
        key: 'operators',
        value:
          '[{ username = "ana", password = "<redacted>", role = "admin" }, ' +
          '{ username = "ben", password = "<redacted>", role = "viewer" }]',
      },
    ])
  })

  it.each([
    ['a text', 'ana', 'is not a list'],
    ['no tables', ['ana'], 'entry 1 is not a table'],
    ['no role', [{ username: 'ana', password: 'x' }], 'entry 1 has no usable role'],
    ['another role', [{ ...ana, role: 'Admin' }], 'entry 1 has no usable role'],
    ['no username', [{ password: 'x', role: 'admin' }], 'entry 1 has no usable username'],
    ['a blank one', [{ ...ana, username: ' ' }], 'entry 1 has no usable username'],
    ['a long one', [{ ...ana, username: 'é'.repeat(65) }], 'entry 1 has no usable username'],
    ['a line break', [{ ...ana, username: 'ana\n' }], 'entry 1 has no usable username'],
    ['no password', [{ username: 'ana', role: 'admin' }], 'entry 1 needs one of password and'],
    ['both', [{ ...ana, password_file: '/x' }], 'entry 1 needs one of password and'],
    ['an empty one', [{ ...ana, password: '' }], 'entry 1 has no usable password'],
    ['a number', [{ ...ana, password: 5 }], 'entry 1 has no usable password'],
    ['a broken verifier', [{ ...ana, password: '$argon2id$x' }], 'entry 1 has no usable password'],
    ['a long password', [{ ...ana, password: 'x'.repeat(1025) }], 'entry 1 has no usable password'],
    ['a member', [{ ...ana, pasword: 'x' }], 'entry 1 has an unknown member "pasword"'],
    ['one name twice', [ana, { ...ana, role: 'viewer' }], 'entry 2 repeats the name "ana"'],
    ['the name of the admin', [{ ...ana, username: 'admin' }], 'has "admin", the name of one'],
    ['101 of them', Array.from({ length: 101 }, (_, i) => ({ ...ana, username: `a${i}` })), '101'],
  ])('refuse the start with %s', async (_case, entries, wrong) => {
    const [problem, ...more] = await workspace.problems(inEnvironment(entries))
    expect(problem).toContain(`console.operators (environment ${name}): `)
    expect(problem).toContain(wrong)
    expect(problem).not.toContain('a password of hers')
    expect(more).toEqual([])
  })

  it('refuse the start with the name of the viewer, and with a file that cannot be used', async () => {
    const viewer = { GUILDHALL_CONSOLE__VIEWER_USERNAME: 'ana' }
    const { env } = inEnvironment([ana])
    expect(await workspace.problems({ env: { ...env, ...viewer } })).toEqual([
      expect.stringContaining('has "ana", the name of one of the two other operators'),
    ])
    const absent = { username: 'ana', password_file: 'absent', role: 'admin' }
    expect(await workspace.problems(inEnvironment([absent]))).toEqual([
      expect.stringContaining('unusable password_file: the file "absent" does not exist'),
    ])
  })

  it('[O-SEC-4] are not set by flags, nor as a whole by a file', async () => {
    const set = [`console.operators=${JSON.stringify([ana])}`]
    const [problem, ...more] = await workspace.problems({ set })
    expect(problem).toContain('a secret cannot be set by a flag')
    expect(problem).toContain(`allowed: ${name} or the configuration file`)
    expect(problem).not.toContain('hers')
    expect(more).toEqual([])
    expect(await workspace.problems({ env: { [`${name}_FILE`]: '/x' } })).toHaveLength(1)
  })

  it.skipIf(process.platform === 'win32')(
    '[O-SEC-5] make a file secret that holds a password of one',
    async () => {
      const entry = '[[console.operators]]\nusername = "ana"\nrole = "admin"\n'
      workspace.write('anas', 'from a file')
      for (const [line, count] of [
        ['password = "hers"', 1],
        ['password_file = "anas"', 0],
      ] as const) {
        const configPath = workspace.write('node.toml', entry + line, 0o644)
        const { warnings } = await workspace.load({ configPath })
        const said = warnings.filter((text) => text.includes('node.toml holds a secret'))
        expect(said).toHaveLength(count)
      }
    },
  )
})
