import { afterEach, expect, test } from 'vitest'
import { joinAs } from '../play/rooms/rooms.fixture.ts'
import { waiting } from '../realtime.fixture.ts'
import { type ClusterFixture, startCluster } from './cluster.fixture.ts'

/** A bus that doubles, swaps or loses messages costs time, and no member hears anything wrong. */

let cluster: ClusterFixture
afterEach(() => cluster.close())

const roomId = 2 ** 40 + 1
const roomJoined = 23

/** What becomes of messages that leave a node while it is disturbed. */
const disturbances: Record<string, () => (send: () => void) => void> = {
  doubles: () => (send) => {
    send()
    send()
  },
  swaps() {
    let held: (() => void) | undefined
    return (send) => {
      if (held === undefined) {
        held = send
        return
      }
      send()
      held()
      held = undefined
    }
  },
  loses: () => () => {},
}

async function startTogether() {
  cluster = await startCluster({ rooms: { reconnect_grace_ms: 10_000 } })
  const [one, two] = cluster.nodes
  const ann = await joinAs(one, 't-ann')
  ann.create('arena')
  await ann.next()
  const bob = await joinAs(two, 't-bob')
  bob.create('arena')
  await bob.next()
  await cluster.settle()
  bob.received.splice(0)
  return { one, two, bob }
}

test.each(Object.keys(disturbances))(
  '[R-CL-16, R-CL-7] an owner’s bus %s: what a member hears comes once and in order',
  async (name) => {
    const { one, bob } = await startTogether()
    const say = (kind: number) =>
      one.gateway.broadcast({
        ...{ kind, body: new Uint8Array(), unreliable: false, sender: 0, except: [] },
        room_id: roomId,
      })
    one.disturb(disturbances[name]?.())
    for (const kind of [101, 102, 103]) {
      say(kind)
      await cluster.settle()
    }
    one.disturb(undefined)
    const heard: number[] = []
    for (let kind = 104; heard.at(-1) !== kind - 1 || kind === 104; kind += 1) {
      await cluster.pass(1500)
      say(kind)
      await cluster.settle()
      heard.push(...bob.received.splice(0).map((each) => each.kind))
      if (kind > 120) throw new Error(`it never came back: ${heard}`)
    }
    const said = heard.filter((kind) => kind > 100)
    expect(said).toEqual([...new Set(said)].sort((a, b) => a - b))
    const isWhole = said.length === (said.at(-1) ?? 0) - 100
    expect(isWhole || heard.includes(roomJoined)).toBe(true)
    expect(one.gateway.metrics().relay_link_resets_total).toBeGreaterThan(0)
    expect(await one.gateway.members(roomId)).toHaveLength(2)
  },
)

test.each(Object.keys(disturbances))(
  '[R-CL-16, R-CL-7] an edge’s bus %s: the owner takes each message once and in order',
  async (name) => {
    const { one, two, bob } = await startTogether()
    one.script.kinds.add(100)
    two.disturb(disturbances[name]?.())
    for (const text of ['1', '2', '3']) {
      bob.send(100, text)
      await expect.poll(() => cluster.settle().then(() => true), waiting).toBe(true)
    }
    two.disturb(undefined)
    const bodies = () =>
      one.script.calls.flatMap((call) =>
        call.hook === 'message' ? [Number(Buffer.from(call.body).toString())] : [],
      )
    let sent = 3
    await expect
      .poll(async () => {
        await cluster.pass(1500)
        sent += 1
        bob.send(100, String(sent))
        await cluster.settle()
        return (bodies().at(-1) ?? 0) > 3
      }, waiting)
      .toBe(true)
    expect(bodies()).toEqual([...new Set(bodies())].sort((a, b) => a - b))
    expect(await one.gateway.members(roomId)).toHaveLength(2)
  },
)
