import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { startChild } from './child.ts'

const burntMs = 300

const burn = `
  const burnt = () => process.cpuUsage().user / 1000
  while (burnt() < ${burntMs});
  process.stdout.write('done')
  setInterval(() => {}, 1000)
`
const parent = `
  import { spawn } from 'node:child_process'
  const child = spawn(process.execPath, ['--eval', ${JSON.stringify(burn)}])
  child.stdout.once('data', () => {
    const { user, system } = process.cpuUsage()
    process.stdout.write('ready own=' + (user + system) / 1000 + '\\n')
  })
  process.once('SIGTERM', () => process.exit(child.kill() ? 0 : 1))
`
/** What /proc says is to the nearest tick, of either process. */
const tickMs = 10

it('counts what the processes compute that a process has started, as the node its script', async () => {
  await using child = await startChild({
    args: ['--input-type=module', '--eval', parent],
    cwd: tmpdir(),
    cores: undefined,
  })
  const own = Number(child.fact('own'))
  expect(child.cpuMs()).toBeGreaterThanOrEqual(own + burntMs - 2 * tickMs)
})
