import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** What the types of the route table refuse, found out by asking the compiler about small files. */

const root = join(import.meta.dirname, '../../../..')

const get = "method: 'GET', path: '/console/v1/x', access: 'operator', summary: '', ok: Profile"
const post = "method: 'POST', path: '/console/v1/x', summary: '', ok: Profile"

/** By name: a route, and whether the table takes it. */
const routes: Readonly<Record<string, readonly [route: string, compiles: boolean]>> = {
  'a read with a scope': [`{ ${get}, scope: 'groups:read' }`, true],
  'a read for every key': [`{ ${get}, scope: 'any key' }`, true],
  'a read for no key': [`{ ${get}, scope: 'no key' }`, true],
  'a read for admins only': [`{ ${get.replace('operator', 'admin')}, scope: 'no key' }`, true],
  'a read without a decision about keys': [`{ ${get} }`, false],
  'a read for admins without a decision about keys': [
    `{ ${get.replace('operator', 'admin')} }`,
    false,
  ],
  'a read with an unknown scope': [`{ ${get}, scope: 'groups:write' }`, false],
  'a read with an unknown audit action': [
    `{ ${get}, scope: 'groups:read', audit: 'groups.read' }`,
    false,
  ],
  'a mutation with its audit action': [
    `{ ${post}, access: 'admin', audit: 'groups.create' }`,
    true,
  ],
  'a mutation without an audit action': [`{ ${post}, access: 'admin' }`, false],
  'a mutation with an unknown audit action': [
    `{ ${post}, access: 'admin', audit: 'groups.make' }`,
    false,
  ],
  'a mutation with a scope': [
    `{ ${post}, access: 'admin', audit: 'groups.create', scope: 'groups:read' }`,
    false,
  ],
  'a mutation for viewers': [`{ ${post}, access: 'operator', audit: 'groups.create' }`, false],
  'a read of the explorer by POST': [
    `{ ${post}, access: 'operator', audit: 'database.rows', scope: 'database:read' }`,
    true,
  ],
  'another read by POST': [
    `{ ${post}, access: 'operator', audit: 'groups.create', scope: 'groups:read' }`,
    false,
  ],
  'a known refusal': [`{ ${get}, scope: 'groups:read', errors: ['conflict'] }`, true],
  'an unknown refusal': [`{ ${get}, scope: 'groups:read', errors: ['teapot'] }`, false],
  'a public route': [`{ ${post}, access: 'public', bearer: 'optional' }`, true],
  'a public route with a scope': [`{ ${post}, access: 'public', scope: 'groups:read' }`, false],
  'a player route with an optional bearer': [
    `{ ${post}, access: 'player', bearer: 'optional' }`,
    false,
  ],
  'a player route that is audited': [
    `{ ${post}, access: 'player', audit: 'groups.create' }`,
    false,
  ],
  'a path that does not begin with a slash': [
    `{ ${get.replace("'/", "'")}, scope: 'groups:read' }`,
    false,
  ],
  'an unknown method': [`{ ${get.replace('GET', 'FETCH')}, scope: 'groups:read' }`, false],
  'an unknown member': [`{ ${get}, scope: 'groups:read', auth: false }`, false],
}

const profile = "{ user_id: 'a', username: 'a' }"

/** By name: handlers of the two routes of a small table, and whether they fit. */
const handlers: Readonly<Record<string, readonly [handlers: string, compiles: boolean]>> = {
  'one for each route': [
    `{ show: async () => (${profile}), add: async ({ principal }) => ({ status: 201, body: { ...${profile}, username: principal } }) }`,
    true,
  ],
  'a missing one': [`{ show: async () => (${profile}) }`, false],
  'one too many': [
    `{ show: async () => (${profile}), add: async () => ({ status: 200, body: ${profile} }), drop: async () => undefined }`,
    false,
  ],
  'an answer without a member': [
    `{ show: async () => ({ user_id: 'a' }), add: async () => ({ status: 200, body: ${profile} }) }`,
    false,
  ],
  'an undeclared status': [
    `{ show: async () => (${profile}), add: async () => ({ status: 204, body: ${profile} }) }`,
    false,
  ],
  'a status where there is no choice': [
    `{ show: async () => ({ status: 200, body: ${profile} }), add: async () => ({ status: 200, body: ${profile} }) }`,
    false,
  ],
  'a body where none is declared': [
    `{ show: async ({ body }) => ({ ...${profile}, username: body.username }), add: async () => ({ status: 200, body: ${profile} }) }`,
    false,
  ],
}

const source = JSON.stringify(join(import.meta.dirname, '../index.ts'))
const head = `import { defineApi, type Handlers, Profile } from ${source}\n`
const table = `const api = defineApi({
  show: { ${get}, scope: 'no key' },
  add: { method: 'POST', path: '/v1/x', access: 'player', summary: '', ok: Profile, status: [200, 201] },
})
type Principals = { public: undefined; player: string; operator: string; admin: string }
`

let folder: string
let complaints: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-types-'))
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: { lib: ['es2025', 'dom'], types: [], noUnusedLocals: false },
    include: ['*.ts'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  for (const [index, [route]] of Object.values(routes).entries()) {
    await writeFile(
      join(folder, `route-${index}.ts`),
      `${head}export const api = defineApi({ x: ${route} })\n`,
    )
  }
  for (const [index, [bound]] of Object.values(handlers).entries()) {
    const text = `${head}${table}export const bound: Handlers<typeof api, Principals, string> = ${bound}\n`
    await writeFile(join(folder, `handlers-${index}.ts`), text)
  }
  complaints = await compile(folder)
}, 120_000)

afterAll(() => rm(folder, { recursive: true }))

describe('a table takes or refuses', () => {
  it.each(
    Object.entries(routes).map(([name, [, compiles]], index) => [name, compiles, index] as const),
  )('[H-AUTH-5] %s: %s', (_name, compiles, index) => {
    expect(complaintsOf(`route-${index}.ts`)).toEqual(compiles ? [] : [expect.any(String)])
  })
})

describe('handlers fit or do not', () => {
  it.each(
    Object.entries(handlers).map(([name, [, compiles]], index) => [name, compiles, index] as const),
  )('[H-GEN-6] %s: %s', (_name, compiles, index) => {
    expect(complaintsOf(`handlers-${index}.ts`)).toEqual(compiles ? [] : [expect.any(String)])
  })
})

it('the compiler complains about nothing else', () => {
  const elsewhere = complaints
    .split('\n')
    .filter((line) => /error TS/.test(line) && !/(route|handlers)-\d+\.ts\(/.test(line))
  expect(elsewhere).toEqual([])
})

/** At most the first complaint about a file. */
function complaintsOf(file: string): string[] {
  return complaints
    .split('\n')
    .filter((line) => line.includes(`${file}(`))
    .slice(0, 1)
}

function compile(project: string): Promise<string> {
  return new Promise((resolve) => {
    const tsc = join(root, 'node_modules/.bin/tsc')
    execFile(
      tsc,
      ['--checkers', '1', '-p', project, '--pretty', 'false'],
      { cwd: project },
      (_error, stdout, stderr) => {
        resolve(stdout + stderr)
      },
    )
  })
}
