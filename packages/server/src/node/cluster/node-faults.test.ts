import { randomUUID } from 'node:crypto'
import type { Connection } from '@guildhall/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { NodeProcess } from '../../testing/node-process.ts'
import { freePort, openRealNodes, playerOf, type RealNodes } from './real-nodes.fixture.ts'

/** What players see when a node of three is stopped and goes on, or is killed. */

const patient = { interval: 50 }
type MeasuredNode = NodeProcess & { metricsPort: number }
let real: RealNodes
let nodes: MeasuredNode[] = []

beforeAll(async () => {
  real = await openRealNodes()
  nodes = await Promise.all(['one', 'two', 'three'].map(start))
})

afterAll(() => real.dispose())

async function start(name: string): Promise<MeasuredNode> {
  const metricsPort = await freePort()
  const node = await real.start(name, {
    'cluster.lease_ttl_ms': '3000',
    'rooms.reconnect_grace_ms': '60000',
    'metrics.enabled': 'true',
    'metrics.auth': 'none',
    'metrics.bind': `127.0.0.1:${metricsPort}`,
  })
  return { ...node, metricsPort }
}

/** A metric of a node that runs. */
async function metric({ metricsPort }: MeasuredNode, name: string): Promise<number> {
  const signal = AbortSignal.timeout(5000)
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { signal })
  if (!answer.ok) throw new Error(`the metrics were answered with ${answer.status}`)
  const line = new RegExp(`^guildhall_${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(await answer.text())
  if (line === null) throw new Error(`there is no metric ${name}`)
  return Number(line[1])
}

/** The one of these nodes that coordinates, once one does. */
async function coordinatorOf(those: readonly MeasuredNode[]): Promise<MeasuredNode> {
  let found: MeasuredNode | undefined
  await expect
    .poll(async () => {
      for (const node of those) if ((await metric(node, 'coordinator')) === 1) found = node
      return found !== undefined
    }, patient)
    .toBe(true)
  if (found === undefined) throw new Error('there is none')
  return found
}

it('[R-CL-22] a node of a cluster has these metrics, and no bus input that is none', async () => {
  const [one] = nodes
  if (one === undefined) throw new Error('there are three')
  const names = [
    ...['nodes_live', 'bus_up', 'bus_messages_in_total', 'bus_messages_out_total'],
    ...['bus_bytes_out_total', 'bus_invalid_total', 'relay_links_active'],
    ...['relay_link_resets_total', 'relay_messages_in_total', 'relay_messages_out_total'],
    ...['link_dropped_total', 'names_suspended', 'coordinator', 'takeovers_total'],
  ]
  const values = new Map<string, number>()
  for (const name of names) values.set(name, await metric(one, name))
  expect(values.get('bus_up')).toBe(1)
  expect(values.get('bus_invalid_total')).toBe(0)
})

it('[R-CL-13, R-CL-18] a stopped edge drops its players, who are back when it goes on', async () => {
  const [, two, three] = nodes
  if (two === undefined || three === undefined) throw new Error('there are three')
  const [ana, ben] = [await playerOf(two, 'ana'), await playerOf(three, 'ben')]
  const here = await ana.rooms.joinOrCreate(randomUUID())
  const there = await ben.rooms.join(here.id)
  const heard: string[] = []
  there.on(100, (message) => heard.push(message.text()))
  const seats = () => metric(two, 'dropped_seats_active')
  process.kill(three.pid, 'SIGSTOP')
  try {
    await expect.poll(seats, patient).toBe(1)
  } finally {
    process.kill(three.pid, 'SIGCONT')
  }
  await expect.poll(seats, patient).toBe(0)
  here.send(100, 'again')
  await expect.poll(() => heard, patient).toContain('again')
  await ana.close()
  await ben.close()
})

for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
  it(`[R-CL-12, R-CL-13] parties outlive a coordinator that gets ${signal}`, async () => {
    const coordinator = await coordinatorOf(nodes)
    const others = nodes.filter((node) => node !== coordinator)
    const [ana, ben] = [await playerOf(others[0], 'ana'), await playerOf(others[1], 'ben')]
    const { party_id } = await ana.party.create({ open: true })
    await ben.party.join({ party_id })
    const size = (of: Connection) => async () => {
      const party = await of.party.status({ party_id }).catch(() => undefined)
      return party?.members.length
    }
    process.kill(coordinator.pid, signal)
    try {
      await coordinatorOf(others)
      await expect.poll(size(ana), patient).toBe(2)
    } finally {
      if (signal === 'SIGSTOP') process.kill(coordinator.pid, 'SIGCONT')
    }
    if (signal === 'SIGSTOP') {
      // It goes on as one that does not coordinate.
      await expect.poll(() => metric(coordinator, 'coordinator'), patient).toBe(0)
      const cid = await playerOf(coordinator, 'cid')
      const joined = async () => {
        await cid.party.join({ party_id }).catch(() => {})
        return size(ana)()
      }
      await expect.poll(joined, patient).toBe(3)
      await cid.close()
    }
    await ana.close()
    await ben.close()
  })
}
