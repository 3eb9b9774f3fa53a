import { expect, test } from 'vitest'
import { createFakeClock } from '../../../../kernel/clock.fake.ts'
import { createRecordedLog } from '../../../../kernel/log/log.fake.ts'
import { createGatewayMetrics } from '../../../metrics.ts'
import { createRecordingScript } from '../../../recording-script.fixture.ts'
import { alone, type NameAnswer } from '../../elsewhere.port.ts'
import { connect, disconnect, newParticipant, noReceiver } from '../../participants/participant.ts'
import type { Rooms } from '../rooms.ts'
import { createRoomEntry } from './room-entry.ts'

/** A request by name of somebody whom another node is asked to let in. */
function ask(answer: NameAnswer | Promise<NameAnswer>) {
  const clock = createFakeClock()
  const participant = newParticipant(1, undefined)
  const connectAgain = () =>
    connect(participant, { receiver: { ...noReceiver }, flags: 0, sinceMs: 0, relayed: true })
  connectAgain()
  const askedElsewhere: number[] = []
  const entry = createRoomEntry({
    ...{ clock, log: createRecordedLog(), metrics: createGatewayMetrics() },
    config: { max_rooms: 10, max_members: 10, reconnect_grace_ms: 0 },
    hooks: createRecordingScript(),
    rooms: { size: 0, byName: () => undefined, nextId: () => 1 } as unknown as Rooms,
    costs: { pay: () => true, size: 0 },
    elsewhere: {
      ...{ ...alone, sharesNames: true, reserveName: () => answer },
      async enter({ context }) {
        askedElsewhere.push(context.participant)
        return { is: 'again' }
      },
    },
    mayMakeRooms: () => true,
    enterByToken: () => false,
  })
  const target = { by: 'name', name: 'a', mayJoin: true } as const
  const answered = entry.enter(participant, { kind: 21, target, options: '{}' })
  return {
    ...{ clock, answered, askedElsewhere },
    comeBack() {
      disconnect(participant, noReceiver)
      connectAgain()
    },
  }
}

const held = { is: 'held', boot: 'bt1-b' } as const

test('[R-RET-3, R-CL-16] a late answer about a name moves nobody who has come back meanwhile', async () => {
  const late = Promise.withResolvers<NameAnswer>()
  const { answered, askedElsewhere, comeBack } = ask(late.promise)
  comeBack()
  late.resolve(held)
  await answered
  expect(askedElsewhere).toEqual([])
})

test('[R-RET-3, R-CL-16] nor does a request that was to begin again', async () => {
  const { clock, answered, askedElsewhere, comeBack } = ask(held)
  await clock.advance(0)
  expect(askedElsewhere).toEqual([1])
  comeBack()
  await clock.advance(100)
  await answered
  expect(askedElsewhere).toEqual([1])
})
