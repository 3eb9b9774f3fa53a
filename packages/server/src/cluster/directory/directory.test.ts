import { afterEach, describe, expect, it, test } from 'vitest'
import type { Database } from '../../database/database.ts'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import type { Directory } from '../../kernel/cluster/directory.ts'
import { createDirectory } from './directory.store.ts'
import { createMemoryDirectory } from './memory-directory.ts'

const opened: TestDatabase[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.dispose()))
})

const directories: { name: string; open(): Promise<Directory> }[] = [
  { name: 'in memory', open: async () => createMemoryDirectory() },
  ...testBackends.map(({ name, open }) => ({
    name: `on ${name}`,
    async open() {
      const database = await open()
      opened.push(database)
      return createDirectory(database.db)
    },
  })),
]

function boot(name: string) {
  return {
    node_id: `node-${name}`,
    boot_id: `bt1-${name}`,
    version: '1.0.0',
    state: 'live',
    settings: { 'cluster.bus': 'postgres' },
  } as const
}

function report(slot: number, name: string) {
  return { slot, boot_id: `bt1-${name}`, state: 'live', rooms: 3, connections: 4 } as const
}

describe.each(directories)('a directory $name', ({ open }) => {
  it('[R-CL-2] gives each boot the slot that has been free longest', async () => {
    const directory = await open()
    expect(await directory.claimSlot(boot('a'))).toBe(1)
    expect(await directory.claimSlot(boot('b'))).toBe(2)
    await directory.leave('bt1-a')
    expect(await directory.claimSlot(boot('c'))).toBe(3)
    const nodes = await directory.nodes()
    expect(nodes.map(({ slot, boot_id }) => [slot, boot_id])).toEqual([
      [2, 'bt1-b'],
      [3, 'bt1-c'],
    ])
    expect(nodes[0]).toMatchObject({ ...boot('b'), rooms: 0, connections: 0 })
  })

  it('[R-CL-2] two boots that ask at once get two slots', async () => {
    const directory = await open()
    const slots = await Promise.all(['a', 'b', 'c'].map((name) => directory.claimSlot(boot(name))))
    expect(slots.toSorted()).toEqual([1, 2, 3])
  })

  it('[R-CL-2] counts renewals, and refuses one by a boot whose slot is taken', async () => {
    const directory = await open()
    const slot = await directory.claimSlot(boot('a'))
    const [before] = await directory.nodes()
    expect(await directory.renew(report(slot, 'a'))).toBe(true)
    const [after] = await directory.nodes()
    expect(after?.renewals).toBe((before?.renewals ?? 0) + 1)
    expect(after).toMatchObject({ rooms: 3, connections: 4, state: 'live' })
    expect(await directory.renew(report(slot, 'b'))).toBe(false)
  })

  it('[R-CL-2] frees the slot of a boot only if it has not renewed since it was read', async () => {
    const directory = await open()
    const slot = await directory.claimSlot(boot('a'))
    const [seen] = await directory.nodes()
    if (seen === undefined) throw new Error('no node')
    await directory.renew(report(slot, 'a'))
    expect(await directory.free(seen)).toBe(false)
    const [again] = await directory.nodes()
    expect(again && (await directory.free(again))).toBe(true)
    expect(await directory.nodes()).toEqual([])
    expect(await directory.renew(report(slot, 'a'))).toBe(false)
  })

  it('[R-CL-4] reserves a free name once, and answers with its holder', async () => {
    const directory = await open()
    await directory.claimSlot(boot('a'))
    await directory.claimSlot(boot('b'))
    const [a, b] = [
      { room_id: 11, boot_id: 'bt1-a' },
      { room_id: 21, boot_id: 'bt1-b' },
    ]
    const answers = await Promise.all([
      directory.reserveName('arena', a, []),
      directory.reserveName('arena', b, []),
    ])
    expect(answers[0]).toEqual(answers[1])
    const [holder] = answers
    const other = holder?.room_id === 11 ? b : a
    await directory.releaseName('arena', other)
    expect(await directory.reserveName('arena', other, [])).toEqual(holder)
    if (holder !== undefined) await directory.releaseName('arena', holder)
    expect(await directory.reserveName('arena', other, [])).toEqual(other)
    expect(await directory.namesOf(other.boot_id)).toEqual([
      { name: 'arena', room_id: other.room_id },
    ])
  })

  it('[R-CL-4] takes a name over from a boot that is gone and has not renewed since', async () => {
    const directory = await open()
    const slot = await directory.claimSlot(boot('a'))
    await directory.claimSlot(boot('b'))
    const [a, b] = [
      { room_id: 11, boot_id: 'bt1-a' },
      { room_id: 21, boot_id: 'bt1-b' },
    ]
    await directory.reserveName('arena', a, [])
    const seen = (await directory.nodes()).filter(({ boot_id }) => boot_id === 'bt1-a')
    await directory.renew(report(slot, 'a'))
    expect(await directory.reserveName('arena', b, seen)).toEqual(a)
    const silent = (await directory.nodes()).filter(({ boot_id }) => boot_id === 'bt1-a')
    expect(await directory.reserveName('arena', b, silent)).toEqual(b)
    expect(await directory.namesOf('bt1-a')).toEqual([])
  })

  it('[R-CL-4] a name of a boot that has left, or was never there, is free', async () => {
    const directory = await open()
    await directory.reserveName('arena', { room_id: 1, boot_id: 'bt1-unknown' }, [])
    const own = { room_id: 2, boot_id: 'bt1-a' }
    expect(await directory.reserveName('arena', own, [])).toEqual(own)
  })

  it('[R-CL-10, R-CL-19] a session has one connection, the later one', async () => {
    const directory = await open()
    const row = (boot_id: string, participant: number) => ({
      session_id: 's1',
      user_id: 'u1',
      participant,
      boot_id,
      room_id: null,
      number: participant,
    })
    const nothing = { ended: [], seats: [], endedSeats: [] }
    const write = async (sessions: ReturnType<typeof row>[]) =>
      (await directory.writePlaces({ ...nothing, sessions })).replaced
    expect(await write([row('bt1-a', 1)])).toEqual([])
    expect(await write([{ ...row('bt1-a', 1), room_id: 7 } as never])).toEqual([])
    expect(await write([row('bt1-b', 2)])).toMatchObject([
      { session_id: 's1', boot_id: 'bt1-a', participant: 1 },
    ])
    // Also a later change of the row leaves it for the node that had the older one, once.
    await write([{ ...row('bt1-b', 2), room_id: 8 } as never])
    const older = { session_id: 's1', boot_id: 'bt1-a', participant: 1 }
    expect(await directory.takeReplaced('bt1-b')).toEqual([])
    expect(await directory.takeReplaced('bt1-a')).toMatchObject([older])
    expect(await directory.takeReplaced('bt1-a')).toEqual([])
    await write([row('bt1-b', 2)])
    await directory.writePlaces({ ...nothing, sessions: [], ended: [row('bt1-a', 1)] })
    expect((await directory.placesOf(['u1', 'u2'])).sessions).toEqual([row('bt1-b', 2)])
    await directory.writePlaces({ ...nothing, sessions: [], ended: [row('bt1-b', 2)] })
    expect((await directory.placesOf(['u1'])).sessions).toEqual([])
  })

  it('[R-CL-10] a connection that is written late leaves the row of a newer one', async () => {
    const directory = await open()
    const [first, second, third] = [
      await directory.nextNumber(),
      await directory.nextNumber(),
      await directory.nextNumber(),
    ]
    expect([first, second, third]).toEqual([first, second, third].toSorted((a, b) => a - b))
    expect(new Set([first, second, third]).size).toBe(3)
    const row = (boot: string, number: number) => {
      const boot_id = `bt1-${boot}`
      return { ...{ session_id: 's1', user_id: 'u1', participant: number }, boot_id, number }
    }
    const write = (boot: string, number: number, room_id: number | null = null) => {
      const sessions = [{ ...row(boot, number), room_id }]
      return directory.writePlaces({ ...{ ended: [], seats: [], endedSeats: [] }, sessions })
    }
    await write('a', first)
    expect(await write('a', third)).toEqual({ replaced: [], older: [] })
    expect(await write('b', second)).toEqual({ replaced: [], older: ['s1'] })
    expect((await directory.placesOf(['u1'])).sessions).toMatchObject([row('a', third)])
    expect(await directory.takeReplaced('bt1-a')).toEqual([])
    // The number of a connection that a node without numbers has replaced.
    expect(await write('b', third)).toEqual({ replaced: [], older: ['s1'] })
    // A node knows itself which of its own connections is the newer one.
    expect(await write('a', second, 7)).toEqual({ replaced: [], older: [] })
    expect(await write('b', third)).toMatchObject({ older: [], replaced: [{ boot_id: 'bt1-a' }] })
  })

  it('[R-CL-18, R-CL-19] keeps seats until they end, or their boot does', async () => {
    const directory = await open()
    const seat = (participant: number) => ({
      boot_id: 'bt1-a',
      participant,
      session_id: 's1',
      user_id: 'u1',
      room_id: 7,
    })
    const nothing = { sessions: [], ended: [], seats: [], endedSeats: [] }
    await directory.writePlaces({ ...nothing, seats: [seat(1), seat(2)] })
    await directory.writePlaces({ ...nothing, endedSeats: [seat(1)] })
    expect((await directory.placesOf(['u1'])).seats).toEqual([seat(2)])
    await directory.claimSlot(boot('a'))
    await directory.leave('bt1-a')
    expect((await directory.placesOf(['u1'])).seats).toEqual([])
  })

  it('[R-CL-12] a role has one holder, and a larger generation with each taking', async () => {
    const directory = await open()
    await directory.claimSlot(boot('a'))
    await directory.claimSlot(boot('b'))
    const first = await directory.takeRole('coordinator', 'bt1-a', [])
    expect(first).toEqual({ holder: 'bt1-a', generation: 1 })
    expect(await directory.takeRole('coordinator', 'bt1-b', [])).toEqual(first)
    await directory.releaseRole('coordinator', { ...first, generation: 9 })
    expect(await directory.takeRole('coordinator', 'bt1-b', [])).toEqual(first)
    const gone = (await directory.nodes()).filter(({ boot_id }) => boot_id === 'bt1-a')
    const second = await directory.takeRole('coordinator', 'bt1-b', gone)
    expect(second).toEqual({ holder: 'bt1-b', generation: 2 })
    await directory.releaseRole('coordinator', second)
    expect(await directory.takeRole('coordinator', 'bt1-a', [])).toMatchObject({ generation: 3 })
  })
})

test('[R-CL-4] a name is not given up while its row may still come', async () => {
  const inserting = Promise.withResolvers<object>()
  const get = async ({ name }: { name: string }) => {
    if (name === 'cluster.reserve-name') return inserting.promise
    throw new Error('the connection is lost')
  }
  const directory = createDirectory({ get } as unknown as Database)
  const holder = { room_id: 7, boot_id: 'bt1-a' }
  const reserved = directory.reserveName('lobby', holder, [])
  setImmediate(() => inserting.resolve({ room_id: 7 }))
  expect(await reserved).toEqual(holder)
})
