import { describe, expect, it } from 'vitest'
import { createSystemClock } from '../../kernel/clock.ts'
import type { Outcome } from '../calls.ts'
import { noHandlers } from '../wire/hooks.ts'
import { handOver } from './hand-over.ts'

/** Hands over to a script with an on_start, from one that has rooms with state. */
async function handOverFrom(saveRooms: () => Promise<Outcome>, call_timeout_ms = 1_000) {
  const happened: string[] = []
  const note = (what: string) => void happened.push(what)
  const old = {
    identity: {
      revision_id: '',
      generation: 1,
      handlers: { ...noHandlers, hooks: ['on_unload'], rooms: [{ name: 'arena' }] } as never,
    },
    pause: () => note('pause'),
    onceSettled: async () => note('settled'),
    saveRooms() {
      note('save')
      return saveRooms()
    },
    async unload(): Promise<Outcome> {
      note('unload')
      return { status: 'ok', reply: new TextEncoder().encode('{}') }
    },
  }
  const start = async () => {
    note('start')
    return { status: 'ok' } as const
  }
  const given = await handOver(
    { old, fresh: { hooks: ['on_start'], start }, reason: 'reload', bindsRooms: false },
    { clock: createSystemClock(), config: { hand_over_ms: 1_000, call_timeout_ms } },
  )
  return { given, happened }
}

describe('[R-STA-6] [S-REL-8] the states of rooms at a hand-over', () => {
  it('are saved before on_unload runs', async () => {
    const saved: Outcome = { status: 'ok', reply: new Uint8Array() }
    expect(await handOverFrom(async () => saved)).toEqual({
      given: { started: true },
      happened: ['pause', 'settled', 'save', 'unload', 'start'],
    })
  })

  it.each([
    ['failed', async (): Promise<Outcome> => ({ status: 'error' })],
    ['ended its worker', async (): Promise<Outcome> => ({ status: 'lost' })],
    ['took too long', () => new Promise<Outcome>(() => {})],
  ])('keep the old script where saving them %s', async (how, saveRooms) => {
    expect(await handOverFrom(saveRooms, 1)).toEqual({
      given: { started: false, problem: `saving the rooms of the serving script ${how}` },
      happened: ['pause', 'settled', 'save'],
    })
  })
})
