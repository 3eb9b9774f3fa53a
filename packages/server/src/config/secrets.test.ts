import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createWorkspace } from './load.fixture.ts'
import { describeConfig } from './redact.ts'
import { keys } from './schema.ts'
import { environmentFileName, environmentName } from './sources/environment.ts'
import { isSecret } from './values/values.ts'

const workspace = createWorkspace()
afterAll(() => workspace.remove())
const secretKeys = [...keys].filter(([, key]) => isSecret(key)).map(([name]) => name)
const sample: Record<string, string> = {
  'database.url': 'postgres://guild:s3cret@db.example/game',
  'cluster.listen_url': 'postgres://guild:s3cret@db.example/guild',
  'cluster.nats_url': 'nats://guild:s3cret@bus.example:4222',
  'console.password': 'a long enough password',
  'console.viewer_password': 'another long password',
  'logs.audit_chain_key': 'k'.repeat(40),
}

describe('a secret', () => {
  it.each(secretKeys)('[O-SEC-1] %s can be read from a file', async (name) => {
    const path = workspace.write('secret', `${sample[name]}\n`)
    const [section, key] = name.split('.')
    const fromEnvironment = await workspace.load({ env: { [environmentFileName(name)]: path } })
    const fromFile = await workspace.load({ file: `${section}.${key}_file = "secret"` })
    for (const { config, sources } of [fromEnvironment, fromFile]) {
      expect(JSON.stringify(config)).toContain(JSON.stringify(sample[name]))
      expect(sources.get(name)?.layer).not.toBe('default')
    }
  })

  it('[O-SEC-1] file form exists for secret keys only', async () => {
    const env = { GUILDHALL_HTTP__BIND_FILE: '/x' }
    expect(await workspace.problems({ env })).toHaveLength(1)
  })

  it.each([
    ['plain', 'plain'],
    ['one\n', 'one'],
    ['windows\r\n', 'windows'],
    ['two\n\n', 'two\n'],
    [' blanks stay ', ' blanks stay '],
  ])('[O-SEC-2] file %j holds %j', async (content, secret) => {
    const path = workspace.write('secret', content)
    const { config } = await workspace.load({ env: { GUILDHALL_CONSOLE__PASSWORD_FILE: path } })
    expect(config.console.password).toBe(secret)
  })

  it('[O-SEC-2] file that cannot be used refuses the start', async () => {
    mkdirSync(join(workspace.cwd, 'folder'), { recursive: true })
    const cases = [
      ['absent', 'does not exist'],
      ['folder', 'is a folder'],
      [workspace.write('empty', ''), 'is empty'],
      [workspace.write('break', '\n'), 'is empty'],
      [workspace.write('binary', Buffer.from([0x61, 0xff])), 'is not UTF-8'],
      [workspace.write('large', 'x'.repeat(65_537)), 'is larger than 64 KiB'],
      [' ', 'names no file'],
    ] as const
    for (const [path, wrong] of cases) {
      const env = { GUILDHALL_CONSOLE__PASSWORD_FILE: path }
      const [problem, ...more] = await workspace.problems({ env })
      expect(problem).toContain('console.password (environment GUILDHALL_CONSOLE__PASSWORD_FILE): ')
      expect(problem).toContain(wrong)
      expect(more).toEqual([])
    }
    expect(await workspace.problems({ file: 'console.password_file = 5' })).toHaveLength(1)
  })

  it('[O-SEC-3] given both ways in one source refuses the start', async () => {
    const path = workspace.write('secret', 'from a file')
    const env = { GUILDHALL_CONSOLE__PASSWORD: 'x', GUILDHALL_CONSOLE__PASSWORD_FILE: path }
    const file = 'console.password = "x"\nconsole.password_file = "secret"'
    for (const given of [{ env }, { file }]) {
      const [problem, ...more] = await workspace.problems(given)
      expect(problem).toContain('is given both as a value and as a file')
      expect(more).toEqual([])
    }
  })

  it('[O-SEC-3] of a higher source replaces either form of a lower one', async () => {
    const path = workspace.write('secret', 'from a file')
    const valueWins = await workspace.load({
      file: 'console.password_file = "absent"',
      env: { GUILDHALL_CONSOLE__PASSWORD: 'a value' },
    })
    expect(valueWins.config.console.password).toBe('a value')
    const fileWins = await workspace.load({
      file: 'console.password = "a value"',
      env: { GUILDHALL_CONSOLE__PASSWORD_FILE: path },
    })
    expect(fileWins.config.console.password).toBe('from a file')
  })

  it.each(secretKeys.flatMap((name) => [name, `${name}_file`]))(
    '[O-SEC-4] --set refuses %s',
    async (name) => {
      const [problem, ...more] = await workspace.problems({ set: [`${name}=s3cret`] })
      expect(problem).toContain('a secret cannot be set by a flag')
      expect(problem).toContain(environmentName(name.replace(/_file$/, '')))
      expect(problem).not.toContain('s3cret')
      expect(more).toEqual([])
    },
  )

  it.skipIf(process.platform === 'win32')(
    '[O-SEC-5] in a file that others can read gives one warning',
    async () => {
      const warned = async (mode: number, text: string) => {
        const configPath = workspace.write('node.toml', text, mode)
        const { warnings } = await workspace.load({ configPath })
        return warnings.filter((line) => line.includes('can be read by other users')).length
      }
      const holding = 'console.password = "a password"\ndatabase.url = "memory:"'
      expect(await warned(0o600, holding)).toBe(0)
      expect(await warned(0o640, holding)).toBe(1)
      expect(await warned(0o604, holding)).toBe(1)
      expect(await warned(0o644, 'rooms.max_rooms = 5')).toBe(0)
      expect(await warned(0o644, 'database.url = "memory:"')).toBe(0)
      expect(await warned(0o644, 'database.url = "sqlite:game.db"')).toBe(0)
      expect(await warned(0o644, 'database.url = "postgres://a:b@c/d"')).toBe(1)
      for (const [mode, count] of [
        [0o600, 0],
        [0o644, 1],
      ] as const) {
        workspace.write('secret', 'a password', mode)
        expect(await warned(0o644, 'console.password_file = "secret"')).toBe(count)
      }
    },
  )

  it.each(['sqlite::memory:', 'sqlite:file:game.db', 'sqlite:FILE:/a?mode=memory'])(
    '[O-DB-1] %j is not taken for a file of that name',
    async (url) => {
      const [problem] = await workspace.problems({ env: { GUILDHALL_DATABASE__URL: url } })
      expect(problem).toContain('allowed: memory:, sqlite:PATH with the plain path of a file')
    },
  )

  it.each(['$argon2id$', '$argon2id$v=19$m=19456,t=2,p=1$short$hash', '$argon2i$v=19$', '$argon2'])(
    '[O-SEC-6] %j is a broken verifier, not a password',
    async (text) => {
      for (const name of ['console.password', 'console.viewer_password']) {
        const [problem] = await workspace.problems({ env: { [environmentName(name)]: text } })
        expect(problem).toContain(`${name} (environment`)
        expect(problem).not.toContain(text)
      }
    },
  )

  it('[O-CFG-3] never stands in a problem, a warning or a description', async () => {
    const secret = fc.string({ minLength: 12, maxLength: 40, unit: 'binary' }).map((noise) => {
      return `Q7z${Buffer.from(noise).toString('hex').slice(0, 40)}`
    })
    const shapes = [
      (text: string) => text,
      (text: string) => `mysql://u:${text}@host/db`,
      (text: string) => `postgres://u:${text}@host:port/db`,
      (text: string) => `postgres://u:${text}@host/db?sslpassword=${text}&x=1`,
      (text: string) => `nats://${text}:${text}@host:4222`,
      (text: string) => `$argon2id$${text}`,
      (text: string) => `${text}\u0000\n`,
    ]
    await fc.assert(
      fc.asyncProperty(
        secret,
        fc.constantFrom(...shapes),
        fc.constantFrom(...secretKeys),
        fc.constantFrom('env', 'file', 'nested', 'broken'),
        async (text, shape, name, way) => {
          const value = shape(text)
          const toml = {
            file: `${name} = ${JSON.stringify(value)}`,
            nested: `${name} = [{ a = ${JSON.stringify(value)} }]`,
            broken: `${name} = ${JSON.stringify(value)} x`,
            env: '',
          }[way]
          const env = way === 'env' ? { [environmentName(name)]: value.replaceAll('\0', '') } : {}
          const given = { file: toml, env }
          const problems = await workspace.problems(given)
          expect(problems.join('\n')).not.toContain(text)
          if (problems.length > 0) return
          const { config, warnings } = await workspace.load(given)
          expect(JSON.stringify([describeConfig(config), warnings])).not.toContain(text)
        },
      ),
      { numRuns: 150 },
    )
  })
})
