import { expect, it } from 'vitest'
import type { Verdict } from './lag.ts'
import { verdictWords } from './lag-verdicts.ts'

const verdicts = Object.keys(verdictWords) as Verdict[]
const saying = (words: RegExp) =>
  verdicts.filter((verdict) => words.test(verdictWords[verdict].title))

it('[L-SRV-1] only where the node sent unevenly it is named as the cause', () => {
  expect(verdictWords.node.title).toBe('the node')
  expect(verdictWords.both.title).toBe('the way, and the node a little')
  for (const verdict of ['node', 'both'] as const) {
    expect(verdictWords[verdict].text).toMatch(/(?:^It|node) sent unevenly/)
  }
  const others = verdicts.filter((verdict) => verdict !== 'node' && verdict !== 'both')
  for (const verdict of others) {
    expect(verdictWords[verdict].text, verdict).not.toMatch(/(?:^It|node) sent unevenly/)
  }
})

it('[L-SRV-1] what is uneven behind the node is the way or the device, and never one of them alone', () => {
  expect(saying(/\bway\b/)).toEqual(['way', 'both', 'way_to_node'])
  expect(verdictWords.way.title).toBe('the way or the device')
  expect(verdictWords.way.text).toContain('The node sent evenly')
})

it('[L-SRV-1] what was not seen is said, and blames nobody', () => {
  const unsure = ['node_unknown', 'too_few', 'no_data'] as const
  expect(unsure.map((verdict) => verdictWords[verdict].title)).toEqual([
    'uneven, the node is unknown',
    'too few messages',
    'nothing to compare',
  ])
  for (const verdict of unsure) {
    expect(verdictWords[verdict].text).not.toMatch(/\bway\b|device|sent/)
  }
})

it('[L-SRV-1] even arrivals are no lag of the way, and say where else to look', () => {
  expect(verdictWords.even.text).toMatch(/not the arrival.*frame time/)
  expect(verdictWords.sent_evenly.text).toMatch(/not the way/)
  expect(verdictWords.sent_unevenly.text).toMatch(/only when the game sends it by a beat/)
})
