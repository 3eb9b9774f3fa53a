import { expect, test } from 'vitest'
import { createMemoryDirectory } from '../../cluster/directory/memory-directory.ts'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import type { Replaced } from '../../kernel/cluster/directory.ts'
import { createRecordedLog } from '../../kernel/log/log.fake.ts'
import { newParticipant, noReceiver, type Participant } from '../play/participants/participant.ts'
import { createPlaces, type Places } from './places.ts'

const ann = {
  session_id: 's-ann',
  user_id: 'u-ann',
  username: 'ann',
  refresh_expires_at_unix_ms: Number.MAX_SAFE_INTEGER,
}

const elsewhere = { session_id: 's-ann', user_id: 'u-ann', participant: 1, room_id: null }
const asked = { bootId: 'bt1-a', log: createRecordedLog() }

/** Places of a node, whose directory may do what is asked without an answer, and give no number. */
function createMutable() {
  const clock = createFakeClock()
  const directory = createMemoryDirectory()
  const here = new Map<number, Participant>()
  const closed: Replaced[] = []
  let isMute = false
  const places = createPlaces({
    ...{ ...asked, clock },
    ...{ replaced() {}, replacedHere: (older) => closed.push(older) },
    directory: {
      ...directory,
      nextNumber: async () => (isMute ? new Promise(() => {}) : directory.nextNumber()),
      async writePlaces(changes) {
        const replaced = await directory.writePlaces(changes)
        if (isMute) throw new Error('the answer is lost')
        return replaced
      },
    },
    byId: (id) => here.get(id),
  })
  return {
    ...{ clock, places, here, closed },
    mute(is: boolean) {
      isMute = is
    },
    /** Another node writes that it has the connection now. */
    async elsewhere() {
      const number = await directory.nextNumber()
      await directory.writePlaces({
        ...{ ended: [], seats: [], endedSeats: [] },
        sessions: [{ ...elsewhere, boot_id: 'bt1-b', number }],
      })
    },
    rows: async () => (await directory.placesOf(['u-ann'])).sessions,
  }
}

/** A new connection of ann's: its token is good, and then its number is settled. */
async function signIn({ numbering, connecting }: Places): Promise<void> {
  await numbering(async () => ann)('t-ann')
  await connecting('s-ann')
}

function connected(id: number): Participant {
  return Object.assign(newParticipant(id, ann), { isConnected: true, receiver: { ...noReceiver } })
}

test('[R-CL-19] a row whose writing seemed to fail is removed when its connection ends', async () => {
  const { clock, places, here, mute, rows } = createMutable()
  const participant = connected(1)
  here.set(1, participant)
  mute(true)
  places.touched(participant)
  await clock.advance(300)
  expect(await rows()).toHaveLength(1)
  here.delete(1)
  places.touched(participant)
  mute(false)
  await clock.advance(1500)
  expect(await rows()).toEqual([])
})

test('[R-CL-19] who ends and comes again by its id in one batch is written as it is now', async () => {
  const { clock, places, here, rows } = createMutable()
  const [before, now] = [connected(1), connected(1)]
  here.set(1, now)
  places.touched(now)
  places.touched(before)
  await clock.advance(300)
  expect(await rows()).toMatchObject([{ participant: 1 }])
  here.delete(1)
  places.touched(now)
  await clock.advance(300)
  expect(await rows()).toEqual([])
})

test('[R-CL-10, R-RET-5] a late notice about the connection before closes no newer one', async () => {
  const { clock, places, here, elsewhere, closed, rows } = createMutable()
  const [first, second] = [connected(1), connected(1)]
  here.set(1, first)
  places.touched(first)
  await clock.advance(300)
  await elsewhere()
  await signIn(places)
  here.set(1, second)
  places.touched(second)
  places.look()
  await clock.advance(100)
  expect(closed).toEqual([])
  // Its row is the same as that of the connection before.
  await clock.advance(200)
  expect(await rows()).toMatchObject([{ boot_id: 'bt1-a', participant: 1 }])
  await elsewhere()
  places.look()
  await clock.advance(0)
  expect(closed).toMatchObject([{ boot_id: 'bt1-a', participant: 1 }])
})

test('[R-CL-10] a connection is replaced in time while the directory gives no numbers', async () => {
  const { clock, places, here, mute, elsewhere, closed } = createMutable()
  const participant = connected(1)
  here.set(1, participant)
  places.touched(participant)
  await clock.advance(300)
  mute(true)
  await elsewhere()
  await clock.advance(1000)
  expect(closed).toMatchObject([{ boot_id: 'bt1-a', participant: 1 }])
})

test('[R-CL-10, R-CL-13] a directory that gives no numbers keeps the first one waiting, shortly', async () => {
  const { clock, places, mute } = createMutable()
  await signIn(places)
  mute(true)
  let isIn = false
  const first = signIn(places).then(() => {
    isIn = true
  })
  await clock.advance(249)
  expect(isIn).toBe(false)
  await clock.advance(2)
  await first
  await Promise.all([signIn(places), clock.advance(0)])
})

/** Two nodes with a directory that may stall for the first one. */
function createTwo() {
  const clock = createFakeClock()
  const directory = createMemoryDirectory()
  const closed: Replaced[] = []
  let held: Promise<void> | undefined
  const nodes = ['bt1-a', 'bt1-b'].map((bootId) => {
    const here = new Map<number, Participant>()
    const stalled = async () => {
      if (bootId === 'bt1-a') await held
    }
    const places = createPlaces({
      ...{ ...asked, clock, bootId, byId: (id: number) => here.get(id) },
      directory: {
        ...directory,
        nextNumber: async () => stalled().then(directory.nextNumber),
        writePlaces: async (changes) => stalled().then(() => directory.writePlaces(changes)),
      },
      ...{ replaced() {}, replacedHere: (older) => closed.push(older) },
    })
    return {
      async connect(id: number): Promise<void> {
        const isStalled = bootId === 'bt1-a' && held !== undefined
        const passed = clock.advance(isStalled ? 250 : 0)
        await Promise.all([signIn(places), passed])
        const participant = connected(id)
        here.set(id, participant)
        places.touched(participant)
      },
      look: places.look,
    }
  })
  const [a, b] = nodes
  if (a === undefined || b === undefined) throw new Error('there are two nodes')
  return {
    ...{ a, b, clock, closed },
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        held = undefined
        resolve()
      }
    },
    rows: async () => (await directory.placesOf(['u-ann'])).sessions,
  }
}

test.each([
  ['has its number', false],
  ['got no number in time', true],
])(
  '[R-CL-10, R-CL-19] a connection that %s closes no newer one by its late row',
  async (_, mute) => {
    const { a, b, clock, closed, hold, rows } = createTwo()
    await b.connect(1)
    await clock.advance(600)
    let letGo = mute ? hold() : undefined
    await a.connect(2)
    letGo ??= hold()
    await b.connect(3)
    await clock.advance(300)
    letGo()
    await clock.advance(1000)
    b.look()
    await clock.advance(100)
    expect(await rows()).toMatchObject([{ boot_id: 'bt1-b', participant: 3 }])
    expect(closed).toMatchObject([{ boot_id: 'bt1-a', participant: 2 }])
  },
)
