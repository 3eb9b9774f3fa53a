import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const run = promisify(execFile)

it('measures the product beside a baseline and prints the ratio', async () => {
  const { stdout } = await run(process.execPath, [main, '--quick', 'account-read'])
  const [, row] = /^\| (GET \/v1\/account.*)$/m.exec(stdout) ?? []
  const cells = row?.split('|').map((cell) => cell.trim()) ?? []
  expect(cells[1]).toMatch(/^[\d,.]+ requests per CPU second$/)
  expect(cells[2]).toMatch(/^[\d,.]+ requests per CPU second \(bare node:http\)$/)
  expect(Number(cells[3])).toBeGreaterThan(0)
  expect(stdout).toContain(`Node.js ${process.versions.node}`)
})

it('names the benchmarks when it is asked for one that does not exist', async () => {
  await expect(run(process.execPath, [main, 'nonsense'])).rejects.toThrow(/account-read/)
})
