import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const run = promisify(execFile)

/**
 * One run of all, as each has to find out about the machine and the build first: one of each kind,
 * against a baseline, in process, on filled databases, and on two ports of one node.
 */
const chosen = ['account-read', 'wallet', 'finding', 'audit-cost']
let stdout = ''

beforeAll(async () => {
  stdout = (await run(process.execPath, [main, '--quick', ...chosen])).stdout
}, 300_000)

it('measures the product beside a baseline and prints the ratio', () => {
  const [, row] = /^\| (GET \/v1\/account.*)$/m.exec(stdout) ?? []
  const cells = row?.split('|').map((cell) => cell.trim()) ?? []
  // In a fiftieth of its time a busy machine may do nothing at all, so the figures may be anything.
  expect(cells[1]).toMatch(/^\S+ requests per CPU second$/)
  expect(cells[2]).toMatch(/^\S+ requests per CPU second \(bare node:http\)$/)
  expect(cells[3]).toMatch(/^\S+$/)
  expect(stdout).toContain(`Node.js ${process.versions.node}`)
})

it.each([
  { name: 'wallet', what: 'adjust one wallet', rows: 8 },
  { name: 'finding', what: 'by the beginning of a username', rows: 3 },
  { name: 'audit-cost', what: '64 in flight', rows: 4, without: 'adjust one wallet' },
])('measures $name on every backend', ({ what, rows, without }) => {
  const found = stdout.split('\n').filter((line) => {
    return line.startsWith('| ') && line.includes(what) && !(without && line.includes(without))
  })
  expect(found).toHaveLength(rows)
  for (const line of found)
    expect(line.split('|')[2]).toMatch(/^ \S+ (adjustments\/s|ms|µs of CPU)/)
})

it('names the benchmarks when it is asked for one that does not exist', async () => {
  await expect(run(process.execPath, [main, 'nonsense'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^there is no benchmark nonsense; .*account-read.*\nusage: .*\n$/,
    ),
  })
  await expect(run(process.execPath, [main, '--quik'])).rejects.toMatchObject({ code: 2 })
})
