import { kinds, type Party, type PartyPush } from '@guildhall/contract'
import { afterEach, expect } from 'vitest'
import {
  type FixtureOptions,
  type RealtimeFixture,
  startRealtime,
  textOf,
} from '../../realtime.fixture.ts'
import { callMethod, joinAgain, joinAs, type Player } from '../rooms/rooms.fixture.ts'

type Crowd = {
  realtime: RealtimeFixture
  /** Pairs of accounts of which one blocks the other. */
  blocked: string[][]
  ann: Player
  bob: Player
  cid: Player
}

/** Crowds for the tests of a file, one for each test, which ends with it. */
export function crowds() {
  let realtime: RealtimeFixture
  afterEach(() => realtime.close())

  async function kept<C extends Crowd>(starting: Promise<C>): Promise<C> {
    const crowd = await starting
    realtime = crowd.realtime
    return crowd
  }

  return {
    get realtime() {
      return realtime
    },
    start: (options?: FixtureOptions) => kept(startCrowd(options)),
    together: (options?: FixtureOptions) => kept(startTogether(options)),
    /** Connects one more account. */
    account(name: string): Promise<Player> {
      realtime.backend.add(name)
      return joinAs(realtime, `t-${name}`)
    },
    guest: (): Promise<Player> => joinAs(realtime, ''),
    /** Connects an account a second time. */
    joinAgain: (name: string) => joinAgain(realtime, name),
  }
}

/** Three accounts that are connected; every account `u-NAME` is active. */
async function startCrowd(options: FixtureOptions = {}): Promise<Crowd> {
  const blocked: string[][] = []
  const realtime = await startRealtime({
    people: {
      usernames: async (ids) =>
        new Map(ids.filter((id) => id.startsWith('u-')).map((id) => [id, id.slice(2)])),
      areBlocked: async (one, other) =>
        blocked.some((pair) => pair.includes(one) && pair.includes(other)),
    },
    ...options,
  })
  const ann = await joinAs(realtime, 't-ann')
  const bob = await joinAs(realtime, 't-bob')
  return { realtime, blocked, ann, bob, cid: await joinAs(realtime, 't-cid') }
}

/** Ann leads a party with Bob; nobody has unread pushes. */
async function startTogether(options: FixtureOptions = {}): Promise<Crowd & { party_id: string }> {
  const crowd = await startCrowd(options)
  const { party_id } = await found(crowd.ann)
  await call(crowd.ann, 'invite', { party_id, target_user_id: 'u-bob' })
  await call(crowd.bob, 'accept', { party_id })
  forget(crowd)
  return { ...crowd, party_id }
}

export function forget({ ann, bob, cid }: Pick<Crowd, 'ann' | 'bob' | 'cid'>): void {
  for (const client of [ann, bob, cid]) client.received.length = 0
}

/** Calls a method; pushes that come before its reply are put back. */
export async function call(client: Player, method: string, payload: object = {}): Promise<unknown> {
  const pushes = client.received.splice(0)
  const found = await callWithPushes(client, `party.${method}`, payload)
  client.received.unshift(...pushes, ...found.pushes)
  return found.reply
}

async function callWithPushes(client: Player, method: string, payload: object) {
  const before: { kind: number; body: Uint8Array }[] = []
  const next = client.next
  const filtered: Player = {
    ...client,
    async next() {
      for (;;) {
        const envelope = await next()
        if (envelope.kind !== kinds.NOTIFICATION.first) return envelope
        before.push(envelope)
      }
    },
  }
  const reply = await callMethod(filtered, method, payload)
  return { reply, pushes: before as never[] }
}

export async function push(client: Player): Promise<PartyPush> {
  const { kind, body } = await client.next()
  expect(kind).toBe(kinds.NOTIFICATION.first)
  return JSON.parse(textOf(body))
}

export async function found(client: Player, payload: object = {}): Promise<Party> {
  return (await call(client, 'create', payload)) as Party
}
