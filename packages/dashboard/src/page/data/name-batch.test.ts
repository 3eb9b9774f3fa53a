import { expect, it } from 'vitest'
import { isAsked, nameBatch } from './name-batch.ts'

/** The ids in the requests that they fill. */
function batchesOf(ids: readonly string[]): string[][] {
  const batches = [nameBatch()]
  for (const id of ids) {
    if (!batches.at(-1)?.takes(id)) batches.push(nameBatch())
    batches.at(-1)?.add(id)
  }
  return batches.map((batch) => batch.all())
}

it('[H-OPS-1] ids that no account can have are not asked for', () => {
  for (const id of ['', ' ', '\t\u3000', '\u0085', 'a,b', 'a\0', '\ud800', 'x'.repeat(1_025)]) {
    expect([id, isAsked(id)]).toEqual([id, false])
  }
  for (const id of ['user-1', ' a ', 'é', 'x'.repeat(1_024)]) {
    expect([id, isAsked(id)]).toEqual([id, true])
  }
})

it('[H-OPS-1] a request has up to a hundred ids, and fits into an address', () => {
  const short = Array.from({ length: 250 }, (_, index) => `user-${index}`)
  expect(batchesOf(short).map(({ length }) => length)).toEqual([100, 100, 50])
  const long = Array.from({ length: 100 }, (_, index) => `${index} ${'é'.repeat(40)}`)
  const batches = batchesOf([...long, 'x'.repeat(1_024), '\u20ac'.repeat(341)])
  expect(batches.flat()).toHaveLength(102)
  for (const ids of batches) expect(encodeURIComponent(ids.join(',')).length).toBeLessThan(6_500)
})

it('[H-OPS-1] an id that is asked for twice takes its place once', () => {
  expect(batchesOf(Array.from({ length: 500 }, () => 'user-1'))).toEqual([['user-1']])
})
