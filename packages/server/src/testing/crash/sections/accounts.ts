import { AccountRow } from '@guildhall/contract'
import type { ApiAnswer } from '../../api.ts'
import { expectSame, type Operation, operation, type Section, succeeded } from '../operation.ts'
import type { Random } from '../random.ts'
import type { People, Person } from './people.ts'
import { owned } from './players.ts'
import type { Entry, Trail } from './trail.ts'

type Deps = { people: People; trail: Trail; random: Random; mark(kind: string): string }

/** What operators do about accounts; the model and its check are those of the players' section. */
export function createAccountsSection(deps: Deps): Section {
  const { people, random } = deps
  const operations = createOperations(deps)

  function next(): Operation | undefined {
    if (!people.isFull() && random.chance(0.2)) return operations.create()
    const person = people.idle(() => true)
    if (person === undefined) return undefined
    const kinds = ['update', 'update', 'ban', 'unban', 'unban', 'delete'] as const
    const kind = random.pick(kinds) ?? 'update'
    if (kind === 'update') return operations.update(person)
    if (kind === 'delete') return random.chance(0.3) ? operations.delete(person) : undefined
    return person.state === 'tombstoned' ? undefined : operations.setState(person, kind)
  }

  return { weight: 3, next, read: async () => {}, check: () => {} }
}

function createOperations({ people, trail, mark }: Deps) {
  const noted = (entry: Entry) => trail.expect(entry)

  /** What the store cannot say of a repeated change, its entry in the trail does. */
  function audited(person: Person, entry: Entry, declared: Partial<Operation<object>>): Operation {
    return owned(person, {
      request: { method: 'POST', path: `/console/v1/accounts/${person.id}` },
      heard: (answer) => (succeeded(answer, 200) ? rowOf(answer) : undefined),
      found: () => (trail.has(entry) ? {} : undefined),
      ...declared,
      apply() {
        noted(entry)
        declared.apply?.({})
      },
    })
  }

  return {
    create(): Operation {
      const username = mark('made')
      return operation<{ id: string }>({
        request: { method: 'POST', path: '/console/v1/accounts', body: { username } },
        heard: (answer) => (succeeded(answer, 201) ? rowOf(answer) : undefined),
        found: () => people.stored.byUsername(username),
        apply({ id }) {
          noted({
            action: 'accounts.create',
            target: `account ${id}`,
            details: `username=${username}`,
          })
          people.add({
            id,
            username,
            display_name: null,
            metadata: null,
            device: undefined,
            state: 'active',
            sessions: [],
            busy: false,
          })
        },
      })
    },

    update(person: Person): Operation {
      const note = mark('note')
      const entry = entryOf(person, 'accounts.update', 'fields=metadata')
      return audited(person, entry, {
        request: {
          method: 'PUT',
          path: `/console/v1/accounts/${person.id}`,
          body: { metadata: { note } },
        },
        apply() {
          person.metadata = JSON.stringify({ note })
        },
      })
    },

    setState(person: Person, kind: 'ban' | 'unban'): Operation {
      const state = kind === 'ban' ? 'disabled' : 'active'
      const ending = kind === 'ban' ? liveSessions(person) : []
      const details = `state=${state} sessions_revoked=${ending.length}`
      return audited(person, entryOf(person, `accounts.${kind}`, details), {
        request: { method: 'POST', path: `/console/v1/accounts/${person.id}/${kind}` },
        heard(answer) {
          if (!succeeded(answer, 200)) return undefined
          expectSame(rowOf(answer).state, state, 'the state after a change of it')
          return {}
        },
        apply() {
          person.state = state
          for (const session of ending) people.bury(session)
        },
      })
    },

    delete(person: Person): Operation {
      const linked = person.device !== undefined && person.state !== 'tombstoned' ? 1 : 0
      const ending = liveSessions(person)
      const details = `credentials_unlinked=${linked} sessions_revoked=${ending.length}`
      return audited(person, entryOf(person, 'accounts.delete', details), {
        request: { method: 'DELETE', path: `/console/v1/accounts/${person.id}` },
        heard: (answer) => (succeeded(answer, 204) ? {} : undefined),
        apply() {
          person.state = 'tombstoned'
          for (const session of ending) people.bury(session)
        },
      })
    },
  }
}

function entryOf(person: Person, action: Entry['action'], details: string): Entry {
  return { action, target: `account ${person.id}`, details }
}

function liveSessions({ sessions }: Person) {
  return sessions.filter(({ live }) => live)
}

function rowOf(answer: ApiAnswer): AccountRow {
  return AccountRow().parse(answer.body)
}
