import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../clock.fake.ts'
import { atEndOfTurn } from '../../clock.ts'
import { ReadyAnswers } from './ready-answers.ts'

const endOfTurn = () => new Promise<void>((resolve) => atEndOfTurn(resolve))

function setUp() {
  const written: string[] = []
  const left = new Set<string>()
  let nowMs = 0
  const answers = new ReadyAnswers({ ...createFakeClock(), monotonicMs: () => nowMs })
  const add = (body: string, turn: number) => {
    const end = () => void written.push(body)
    const response = { end, destroyed: left.has(body) } as unknown as ServerResponse
    answers.add({ response, body, encoding: 'latin1' }, turn)
  }
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { written, left, answers, add, pass }
}

describe('answers that are ready', () => {
  it('in the turn of their requests are written when it ends, in their order', async () => {
    const { written, answers, add, pass } = setUp()
    add('a', answers.began())
    await Promise.resolve()
    pass(0.2)
    add('b', answers.began())
    expect(written).toEqual([])
    await endOfTurn()
    expect(written).toEqual(['a', 'b'])
  })

  it('in a later turn are written at once', async () => {
    const { written, answers, add } = setUp()
    const turn = answers.began()
    await endOfTurn()
    add('a', turn)
    expect(written).toEqual(['a'])
    add('b', answers.began())
    add('c', turn)
    expect(written).toEqual(['a', 'c'])
    await endOfTurn()
    expect(written).toEqual(['a', 'c', 'b'])
  })

  it('wait for no turn that goes on', async () => {
    const { written, answers, add, pass } = setUp()
    add('a', answers.began())
    pass(0.25)
    add('b', answers.began())
    expect(written).toEqual(['a', 'b'])
    add('c', answers.began())
    await endOfTurn()
    expect(written).toEqual(['a', 'b', 'c'])
  })

  it('are written once, and to nobody who has left', async () => {
    const { written, left, answers, add } = setUp()
    left.add('b')
    for (const body of ['a', 'b', 'c']) add(body, answers.began())
    await endOfTurn()
    expect(written).toEqual(['a', 'c'])
    add('d', answers.began())
    await endOfTurn()
    expect(written).toEqual(['a', 'c', 'd'])
  })
})
