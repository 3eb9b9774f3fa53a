import { expect, it } from 'vitest'
import { sharedReads } from './shared-reads.ts'

/** Reads that wait until the test ends them; each answers which one it was. */
function setUp() {
  const begun: { body: string; end: (error?: Error) => void }[] = []
  const read = sharedReads((body: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const number = begun.length + 1
    begun.push({
      body,
      end: (error) => (error ? reject(error) : resolve(`${body} ${number}`)),
    })
    return promise
  })
  return { begun, ask: (body: string) => read(body, body) }
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 2))

it('reads once for those who ask in one turn, and by itself for each key', async () => {
  const { begun, ask } = setUp()
  const answers = [ask('a'), ask('a'), ask('b')]
  await turn()
  expect(begun.map(({ body }) => body)).toEqual(['a', 'b'])
  for (const { end } of begun) end()
  expect(await Promise.all(answers)).toEqual(['a 1', 'a 1', 'b 2'])
})

it('answers nobody with a read that began before the question', async () => {
  const { begun, ask } = setUp()
  const first = ask('a')
  await turn()
  const later = [ask('a'), ask('a')]
  await turn()
  expect(begun).toHaveLength(1)
  begun[0]?.end()
  expect(await first).toBe('a 1')
  await turn()
  begun[1]?.end()
  expect(await Promise.all(later)).toEqual(['a 2', 'a 2'])
})

it('passes a failure on to those who shared it, and reads again for the next', async () => {
  const { begun, ask } = setUp()
  const failing = Promise.allSettled([ask('a'), ask('a')])
  await turn()
  begun[0]?.end(new Error('on purpose'))
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const next = ask('a')
  await turn()
  begun[1]?.end()
  expect(await next).toBe('a 2')
})

it('answers each as soon as it is read, before the next read begins', async () => {
  const seen: string[] = []
  const read = sharedReads(async (body: string) => {
    seen.push(`read ${body}`)
    return body
  })
  const ask = async (body: string) => seen.push(`answer ${await read(body, body)}`)
  await Promise.all([ask('a'), ask('b')])
  expect(seen).toEqual(['read a', 'answer a', 'read b', 'answer b'])
})
