import { Profile, SessionTokens } from '@guildhall/contract'
import type { ApiAnswer } from '../../api.ts'
import { expectSame, type Operation, operation, type Section, succeeded } from '../operation.ts'
import type { Random } from '../random.ts'
import type { People, Person, Session, Tokens } from './people.ts'

const sessionsMax = 6

/** What players do about their own accounts and sessions. */
export function createPlayersSection(
  people: People,
  { random, mark }: { random: Random; mark(kind: string): string },
): Section {
  const operations = createOperations(people, mark)

  function next(): Operation | undefined {
    if (!people.isFull() && random.chance(0.3)) return operations.register()
    const person = people.idle(
      ({ device, state }) => device !== undefined && state !== 'tombstoned',
    )
    if (person === undefined) return undefined
    const session = random.pick(
      person.sessions.filter(({ live, tokens }) => live && tokens !== undefined),
    )
    if (person.state === 'disabled' || session === undefined) return operations.login(person)
    if (person.sessions.length < sessionsMax && random.chance(0.2)) return operations.login(person)
    const kinds = ['refresh', 'refresh', 'rename', 'display', 'logout'] as const
    const kind = random.pick(kinds) ?? 'refresh'
    if (kind === 'refresh') return operations.refresh(person, session)
    if (kind === 'logout') return operations.logout(person, session)
    return operations.patch(person, session, kind)
  }

  return {
    weight: 6,
    next,
    read: people.stored.read,
    check: people.check,
    probe: people.probe,
  }
}

function createOperations(people: People, mark: (kind: string) => string) {
  return {
    register(): Operation {
      const username = mark('player')
      const device = mark('device')
      return operation<{ id: string; tokens: Tokens | undefined }>({
        request: {
          method: 'POST',
          path: '/v1/auth/device',
          body: { id: device, create: true, username },
        },
        heard: (answer) => (succeeded(answer, 201) ? tokensOf(answer) : undefined),
        found() {
          const account = people.stored.byUsername(username)
          return account && { id: account.id, tokens: undefined }
        },
        apply({ id, tokens }) {
          people.add({
            id,
            username,
            display_name: null,
            metadata: null,
            device,
            state: 'active',
            sessions: [{ tokens, live: true }],
            busy: false,
          })
        },
      })
    },

    login(person: Person): Operation {
      const { id, device: external, sessions } = person
      return owned(person, {
        request: { method: 'POST', path: '/v1/auth/device', body: { id: external } },
        heard(answer) {
          if (!succeeded(answer, 200, person.state === 'active' ? [] : [401])) return undefined
          expectSame(tokensOf(answer).id, id, 'who was logged in')
          expectSame(person.state, 'active', 'the state of whom was logged in')
          return { tokens: tokensOf(answer).tokens }
        },
        found() {
          const opened = people.stored.sessionsOf(id).length > sessions.length
          return opened ? { tokens: undefined } : undefined
        },
        apply: ({ tokens }: { tokens: Tokens | undefined }) =>
          void sessions.push({ tokens, live: true }),
      })
    },

    refresh(person: Person, session: Session): Operation {
      const before = session.tokens
      return owned(person, {
        request: {
          method: 'POST',
          path: '/v1/session/refresh',
          body: { refresh_token: before?.refresh },
        },
        heard: (answer) => (succeeded(answer, 200) ? tokensOf(answer) : undefined),
        found() {
          const same = before !== undefined && people.stored.sessionOf(before) !== undefined
          return same ? undefined : { tokens: undefined }
        },
        apply({ tokens }: { tokens: Tokens | undefined }) {
          people.forgetTokens(session)
          session.tokens = tokens
        },
      })
    },

    logout(person: Person, session: Session): Operation {
      const { tokens } = session
      return owned(person, {
        request: {
          method: 'POST',
          path: '/v1/session/logout',
          body: { refresh_token: tokens?.refresh },
        },
        heard: (answer) => (succeeded(answer, 204) ? {} : undefined),
        found() {
          const ended = tokens !== undefined && people.stored.sessionOf(tokens)?.live === false
          return ended ? {} : undefined
        },
        apply: () => people.bury(session),
      })
    },

    patch(person: Person, session: Session, kind: 'rename' | 'display'): Operation {
      const text = mark(kind)
      const member = kind === 'rename' ? 'username' : 'display_name'
      return owned(person, {
        request: {
          method: 'PATCH',
          path: '/v1/account',
          body: { [member]: text },
          token: session.tokens?.access ?? '',
        },
        heard(answer) {
          if (!succeeded(answer, 200)) return undefined
          expectSame(Profile().parse(answer.body)[member], text, 'what was patched')
          return {}
        },
        found: () => (people.stored.accounts.get(person.id)?.[member] === text ? {} : undefined),
        apply() {
          person[member] = text
        },
      })
    },
  }
}

/** An operation for which nothing else happens to the account's own data meanwhile. */
export function owned<F>(person: Person, declared: Operation<F>): Operation {
  person.busy = true
  return operation({
    ...declared,
    release() {
      person.busy = false
    },
  })
}

function tokensOf(answer: ApiAnswer): { id: string; tokens: Tokens } {
  const { user_id: id, token: access, refresh_token: refresh } = SessionTokens().parse(answer.body)
  return { id, tokens: { access, refresh } }
}
