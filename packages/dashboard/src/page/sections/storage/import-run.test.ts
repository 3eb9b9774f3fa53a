import { beforeEach, expect, it, vi } from 'vitest'
import type { Progress } from './import-run.ts'

type Sent = { objects: { key: string }[]; existing: string; dry_run: boolean }

const sent: Sent[] = []

vi.mock('../../data/console-client.ts', () => ({
  call: (work: (client: object) => unknown) =>
    work({
      storage: {
        async import({ body }: { body: Sent }) {
          sent.push(body)
          const created = body.objects.length
          return { created, replaced: 0, unchanged: 0, kept: 0, refused: [] }
        },
      },
    }),
}))

// Another test of this worker may have loaded it with what is mocked here.
vi.resetModules()
const { nothingYet, runImport } = await import('./import-run.ts')

beforeEach(() => void sent.splice(0))

const lineOf = (key: string, more = {}) =>
  JSON.stringify({ collection: 'c', key, value: {}, ...more })

/** Two parts, and the object of the first line once more at the end of the second. */
const lines = Array.from({ length: 300 }, (_, index) => lineOf(`k${index}`))
const file = new Blob([[...lines, lineOf('k0', { user_id: '' })].join('\n')])

async function run(isDry: boolean, from = nothingYet, parts = Infinity) {
  const controller = new AbortController()
  let progress: Progress = from
  let taken = 0
  const { signal } = controller
  const onPart = (now: Progress) => {
    progress = now
    taken += 1
    if (taken >= parts) controller.abort()
  }
  await runImport({ file, existing: 'replace', isDry, from, signal, onPart })
  return progress
}

const message = 'is the object of line 1 again'

it('a dry run refuses a place that stands in the file twice, in whichever parts', async () => {
  expect(await run(true)).toMatchObject({
    ...{ line: 301, created: 300, refused: 1 },
    complaints: [{ line: 301, message }],
  })
  expect(sent.map(({ objects }) => objects.length)).toEqual([200, 100])
})

it('an import that goes on knows the places of before', async () => {
  const first = await run(false, nothingYet, 1)
  expect(first).toMatchObject({ line: 200, created: 200 })
  await expect(run(false, first)).rejects.toThrow(`Line 301: ${message}`)
  expect(sent).toHaveLength(1)
})

it('the same key of another owner is another object', async () => {
  const owned = new Blob([[lineOf('k'), lineOf('k', { user_id: 'user-1' })].join('\n')])
  const signal = new AbortController().signal
  const counts: number[] = []
  const onPart = ({ created, refused }: Progress) => void counts.push(created, refused)
  const options = { file: owned, existing: 'keep', from: nothingYet, signal, onPart } as const
  await runImport({ ...options, isDry: true })
  expect(counts).toEqual([2, 0])
})
