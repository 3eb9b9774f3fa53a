import { Profile, SessionTokens, Status } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { onServer, startPostgresServer } from '../../database/testing/postgres-server.ts'
import { type Caller, createCaller } from '../../testing/api.ts'
import { startNodeProcess } from '../../testing/node-process.ts'

it('[O-FLT-1][O-FLT-2][O-FLT-3][H-PUB-3][O-HLT-2] outlives its database and goes on when it is back', async () => {
  const postgres = await startPostgresServer()
  await onServer(postgres.url('postgres'), 'CREATE DATABASE outage')
  const node = await startNodeProcess({ 'database.url': postgres.url('outage') })
  const call = createCaller(node.url)
  try {
    const body = { id: 'd', create: true, username: 'ana' }
    const { token, user_id } = SessionTokens().parse(
      (await call('POST', '/v1/auth/device', { body })).body,
    )
    const operator = await call('POST', '/console/v1/login', {
      body: { username: 'admin', password: 'password' },
    })
    const consoleToken = (operator.body as { token: string }).token

    await postgres.stop()
    await until(call, '/health/ready', 503)
    expect((await call('GET', '/v1/account', { token })).status).toBe(500)
    expect((await call('POST', '/v1/auth/device', { body })).status).toBe(500)
    expect((await call('GET', '/health/live')).status).toBe(200)
    const status = await call('GET', '/status')
    expect(status.status).toBe(200)
    // One for each of the two calls above, at least; the probes of health have their own say.
    expect(Status().parse(status.body).metrics.database_errors_total).toBeGreaterThanOrEqual(2)
    expect((await call('GET', '/console/v1/config', { token: consoleToken })).status).toBe(200)
    await until(call, '/health', 503)

    await postgres.start()
    await until(call, '/health/ready', 200)
    await until(call, '/health', 200)
    const account = await call('GET', '/v1/account', { token })
    expect(Profile().parse(account.body)).toEqual({ user_id, username: 'ana' })
    expect(await node.stop()).toBe(0)
  } finally {
    await node.kill()
    await postgres.dispose()
  }
})

/** Asks until the path answers with the status; the test's own time limit ends a vain wait. */
async function until(call: Caller, path: string, status: number): Promise<void> {
  while ((await call('GET', path)).status !== status) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
