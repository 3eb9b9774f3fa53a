import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { startHarness } from '../host.fixture.ts'
import { EarlyProcess, startEarly } from './engine-process.ts'

const files = { 'main.ts': "guildhall.on_rpc('pid', () => String(process.pid))" }

it('a process that was started early serves the first script, and no other one', async () => {
  let pid: number | undefined
  const { host, rpc } = await startHarness({
    files,
    early(...given) {
      const early = startEarly(...given)
      pid = early?.pid
      return early
    },
  })
  expect(await rpc('pid')).toBe(String(pid))
  await host.reload()
  expect(await rpc('pid')).not.toBe(String(pid))
})

/** Of a program in a file of its own. */
function startOf(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-early-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const program = join(folder, 'program.mjs')
  writeFileSync(program, text)
  return {
    program: { entry: pathToFileURL(program), execArgv: () => [] },
    settings: { memoryMb: 64, packageDir: '', imageFile: '', inspects: false },
    environment: {},
  }
}

it('one that has ended meanwhile is not used', async () => {
  const start = startOf('')
  const early = new EarlyProcess(start)
  await ended(early.pid)
  expect(early.take(start)).toBe(undefined)
})

it('one that was started otherwise is ended and not used', async () => {
  const start = startOf('setInterval(() => {}, 1000)')
  const early = new EarlyProcess(start)
  const { pid } = early
  expect(early.take({ ...start, settings: { ...start.settings, memoryMb: 65 } })).toBe(undefined)
  await ended(pid)
  expect(early.take(start)).toBe(undefined)
})

async function ended(pid: number | undefined): Promise<void> {
  if (pid === undefined) throw new Error('it was not started')
  await expect.poll(() => isAlive(pid)).toBe(false)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
