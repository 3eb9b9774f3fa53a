import { friendsApi } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import type { ApiAnswer } from '../../api.ts'
import { expectSame, type Operation, operation, type Section, succeeded } from '../operation.ts'
import type { Random } from '../random.ts'
import type { People } from './people.ts'
import type { Entry, Trail } from './trail.ts'

type Deps = { people: People; trail: Trail; random: Random }

/** Who stands how to the other: `states` by account, none for strangers. */
type Pair = { ids: [string, string]; states: Map<string, string>; busy: boolean }

/** Invitations, friendships and their end, one change of a pair at a time. */
export function createFriendsSection({ people, trail, random }: Deps): Section {
  const pairs = new Map<string, Pair>()
  let edges: StoredEdge[] = []

  function next(): Operation | undefined {
    // Few accounts, so that pairs meet again and share accounts with each other.
    const ids = people.ids().slice(0, 8)
    const [actor, other] = [random.pick(ids), random.pick(ids)]
    if (actor === undefined || other === undefined || actor === other) return undefined
    const pair = pairOf(actor, other)
    if (pair.busy) return undefined
    return random.chance(0.6) ? add(pair, actor, other) : remove(pair, actor, other)
  }

  function pairOf(actor: string, other: string): Pair {
    const ids: [string, string] = actor < other ? [actor, other] : [other, actor]
    const known = pairs.get(ids.join(' ')) ?? { ids, states: new Map(), busy: false }
    pairs.set(ids.join(' '), known)
    return known
  }

  function change(
    pair: Pair,
    declared: Pick<Operation<object>, 'request' | 'heard'> & {
      entry: Entry
      after: Map<string, string>
    },
  ): Operation {
    const { request, heard, entry, after } = declared
    pair.busy = true
    return operation<object>({
      request,
      heard,
      found: () => (trail.has(entry) ? {} : undefined),
      apply() {
        pair.states = after
        trail.expect(entry)
      },
      release() {
        pair.busy = false
      },
    })
  }

  function add(pair: Pair, actor: string, other: string): Operation {
    const accepts = ['invited_sent', 'friend'].includes(pair.states.get(other) ?? '')
    const [state, mirrored] = accepts ? ['friend', 'friend'] : ['invited_sent', 'invited_received']
    return change(pair, {
      request: {
        method: 'POST',
        path: `/console/v1/accounts/${actor}/friends`,
        body: { user_id: other },
      },
      heard: (answer) => (succeeded(answer, 200) ? toldState(answer, other, state) : undefined),
      entry: {
        action: 'accounts.friends.add',
        target: `account ${actor}`,
        details: `other=${other} state=${state}`,
      },
      after: new Map([
        [actor, state],
        [other, mirrored],
      ]),
    })
  }

  function remove(pair: Pair, actor: string, other: string): Operation {
    return change(pair, {
      request: { method: 'DELETE', path: `/console/v1/accounts/${actor}/friends/${other}` },
      heard: (answer) => (succeeded(answer, 204) ? {} : undefined),
      entry: {
        action: 'accounts.friends.remove',
        target: `account ${actor}`,
        details: `other=${other} removed=${pair.states.size > 0}`,
      },
      after: new Map(),
    })
  }

  return {
    weight: 3,
    next,
    async read(state: Queries) {
      edges = await state.all(edgeRows, {})
    },
    check() {
      const noted = [...pairs.values()].flatMap(({ ids: [one, other], states }) => [
        ...[...states].map(([id, state]) => `${id} ${id === one ? other : one} ${state}`),
      ])
      const stored = edges.map((edge) => `${edge.user_id} ${edge.other_id} ${edge.state}`)
      expectSame(stored.sort(), noted.sort(), 'the relations')
      const times = new Map(edges.map((edge) => [`${edge.user_id} ${edge.other_id}`, edge]))
      for (const { user_id, other_id, updated_unix_ms } of edges) {
        const mirrored = times.get(`${other_id} ${user_id}`)
        expectSame(mirrored?.updated_unix_ms, updated_unix_ms, `the times of ${user_id}'s relation`)
      }
    },
  }
}

function toldState(answer: ApiAnswer, other: string, state: string | undefined): object {
  const relations = friendsApi.add.ok.parse(answer.body)
  const relation = relations.find(({ user_id }) => user_id === other)
  expectSame(relation?.state, state, 'the relation after an invitation')
  return {}
}

type StoredEdge = { user_id: string; other_id: string; state: string; updated_unix_ms: number }

const edgeRows = statement({
  name: 'crash.edges',
  text: 'SELECT user_id, other_id, state, updated_unix_ms FROM friend_edges',
  row: { user_id: 'text', other_id: 'text', state: 'text', updated_unix_ms: 'integer' },
})
