import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { runScriptTests } from '../../packages/server/src/testing/script-tests.ts'

const config = fileURLToPath(new URL('./node.toml', import.meta.url))

// By a clock that the tests move: the example itself takes three minutes.
it('[S-API-35] [S-API-36] a season runs itself, prizes included', async () => {
  const { code, stdout } = await runScriptTests(['--config', config])
  expect({ code, stdout }).toMatchObject({ code: 0 })
}, 120_000)
