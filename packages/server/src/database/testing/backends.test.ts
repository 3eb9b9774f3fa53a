import { expect, it, vi } from 'vitest'
import { adminName, testBackends } from './backends.ts'
import { onServer } from './postgres-server.ts'

it('databases are made also after the connection that makes them was lost', async () => {
  const [postgres] = testBackends.filter(({ name }) => name === 'postgres')
  if (postgres === undefined) throw new Error('there is no PostgreSQL')
  const first = await postgres.open({ migrated: false })
  const end = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE application_name = '${adminName}'`
  await onServer(first.url, end)
  const second = await vi.waitFor(() => postgres.open({ migrated: false }))
  expect(second.url).not.toBe(first.url)
  for (const each of [first, second]) await each.dispose()
})
