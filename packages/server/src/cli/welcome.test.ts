import { expect, it } from 'vitest'
import { testConfig } from '../testing/config.ts'
import { welcomeLines } from './welcome.ts'

const facts = { url: 'http://127.0.0.1:7350', version: '1.0.0', entrypoint: null }

it('says where to go, how to sign in and what to try, in at most ten lines', async () => {
  const lines = welcomeLines({ ...facts, config: await testConfig() })
  const text = lines.join('\n')
  expect(lines.length).toBeLessThanOrEqual(10)
  expect(text).toContain('http://127.0.0.1:7350/dashboard   (admin / password')
  expect(text).toContain('in memory')
  expect(text).toContain('put a main.ts into ./game')
  expect(text).toContain('guildhall init writes a first game')
})

it('shows no password of somebody’s own, and no part of a database’s address', async () => {
  const config = await testConfig({
    'console.username': 'ops',
    'console.password': 'secret-of-mine',
    'database.url': 'postgres://user:hidden@db.example/game',
  })
  const text = welcomeLines({ ...facts, config, entrypoint: './game/main.ts' }).join('\n')
  expect(text).toContain('(ops)')
  expect(text).toContain('./game/main.ts')
  expect(text).not.toContain('guildhall init')
  expect(text).not.toMatch(/secret-of-mine|hidden|db\.example/)
})

it('says which file keeps the data', async () => {
  const config = await testConfig({ 'database.url': 'sqlite:saved/game.db' })
  expect(welcomeLines({ ...facts, config }).join('\n')).toContain('kept in saved/game.db')
})

it('says that a script is loaded again when it is saved', async () => {
  const config = await testConfig()
  const watched = { ...config, runtime: { ...config.runtime, hot_reload: true } }
  const lines = welcomeLines({ ...facts, config: watched, entrypoint: './game/main.ts' })
  expect(lines.join('\n')).toContain('./game/main.ts, loaded again whenever it is saved')
})
