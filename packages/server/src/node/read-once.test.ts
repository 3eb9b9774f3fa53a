import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SessionTokens } from '@guildhall/contract'
import { expect, it, onTestFinished } from 'vitest'
import { createCaller } from '../testing/api.ts'
import { startNodeProcess } from '../testing/node-process.ts'

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-once-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

it('[O-CFG-7] reads its configuration once, whatever the file says later', async () => {
  const cwd = makeFolder()
  const write = (username: string) => {
    const lines = ['[console]', `username = "${username}"`, 'password = "some password"']
    writeFileSync(join(cwd, 'guildhall.toml'), lines.join('\n'), { mode: 0o600 })
  }
  write('first')
  const node = await startNodeProcess({}, { cwd })
  const call = createCaller(node.url)
  const signIn = async (username: string) => {
    const body = { username, password: 'some password' }
    return (await call('POST', '/console/v1/login', { body })).status
  }
  expect([await signIn('first'), await signIn('second')]).toEqual([200, 401])
  write('second')
  // What makes a node look at its certificate again.
  process.kill(node.pid, 'SIGHUP')
  expect([await signIn('first'), await signIn('second')]).toEqual([200, 401])
  expect(await node.stop()).toBe(0)
  const next = await startNodeProcess({}, { cwd })
  const answer = await createCaller(next.url)('POST', '/console/v1/login', {
    body: { username: 'second', password: 'some password' },
  })
  expect(answer.status).toBe(200)
  await next.stop()
})

it('[O-LOG-2] gives the lines of a request its id, and none a secret', async () => {
  const cwd = makeFolder()
  const password = 'a password of consoles'
  const node = await startNodeProcess(
    {
      'logging.level': 'trace',
      'logging.access': 'all',
      'database.url': `sqlite:${join(cwd, 'game.db')}`,
      'console.password': password,
    },
    { cwd },
  )
  const call = createCaller(node.url)
  const email = 'someone@mail.example'
  const body = { email, password: 'a password of players', create: true, username: 'ana' }
  const made = await call('POST', '/v1/auth/email', { body })
  const { token, refresh_token } = SessionTokens().parse(made.body)
  await call('POST', '/console/v1/login', { body: { username: 'admin', password } })
  await call('POST', '/v1/auth/email', { body: { ...body, password: 'a wrong password' } })
  await call('GET', '/v1/account?looking=for-something', { token })
  await call('PUT', '/v1/account', { token, body: { username: 'the text of a body' } })
  const refreshed = await call('POST', '/v1/session/refresh', { body: { refresh_token } })
  expect(await node.stop()).toBe(0)
  const output = node.output()
  for (const { headers } of [made, refreshed]) {
    const id = headers.get('x-request-id')
    expect(id).not.toBeNull()
    expect(output).toContain(`request_id=${id}`)
  }
  const secrets = [token, refresh_token, password, 'password of players', 'wrong password', email]
  for (const secret of [...secrets, 'for-something', 'the text of a body']) {
    expect(output).not.toContain(secret)
  }
})
