import { apiKeysApi } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import type { ApiAnswer, Caller } from '../../api.ts'
import { expectSame, type Operation, operation, type Section, succeeded } from '../operation.ts'
import type { Random } from '../random.ts'
import type { Entry, Trail } from './trail.ts'

type Deps = { trail: Trail; random: Random; mark(kind: string): string }

/** A key; its secret is unknown when the answer that noted it was lost. */
type Key = {
  id: string
  name: string
  generation: number
  secret: string | undefined
  revoked: boolean
  busy: boolean
}

const keysMax = 12
const path = '/console/v1/api-keys'

/** Keys, their rotation and their end. */
export function createApiKeysSection(deps: Deps): Section {
  const { random } = deps
  const keys = new Map<string, Key>()
  /** Secrets that must never work again. */
  const dead: string[] = []
  let rows: StoredKey[] = []
  const operations = createOperations(deps, { keys, dead, row: (has) => rows.find(has) })

  function next(): Operation | undefined {
    if (keys.size < keysMax && random.chance(0.3)) return operations.create()
    const key = random.pick([...keys.values()].filter(({ busy, revoked }) => !busy && !revoked))
    if (key === undefined) return undefined
    return random.chance(0.9) ? operations.rotate(key) : operations.revoke(key)
  }

  return {
    weight: 2,
    next,
    async read(state: Queries) {
      rows = await state.all(keyRows, {})
    },
    check() {
      const noted = [...keys.values()].map(({ id, name, generation, revoked }) => {
        return [id, name, generation, revoked].join(' ')
      })
      const stored = rows.map(({ id, name, generation, revoked_at }) => {
        return [id, name, generation, revoked_at !== null].join(' ')
      })
      expectSame(stored.sort(), noted.sort(), 'the API keys')
    },
    async probe(call: Caller) {
      for (const { id, secret, revoked } of keys.values()) {
        if (secret === undefined || revoked) continue
        const { status } = await call('GET', '/console/v1/me', { token: secret })
        expectSame(status, 200, `the answer to the key ${id}`)
      }
      for (const secret of dead.slice(-10)) {
        const { status } = await call('GET', '/console/v1/me', { token: secret })
        expectSame(status, 401, 'the answer to a dead secret')
      }
    },
  }
}

type Model = {
  keys: Map<string, Key>
  dead: string[]
  row(has: (row: StoredKey) => boolean): StoredKey | undefined
}

function createOperations({ trail, mark }: Deps, { keys, dead, row }: Model) {
  const noted = (action: Entry['action'], { id, name, generation }: Key, more = '') =>
    trail.expect({ action, target: id, details: `name=${name} generation=${generation}${more}` })

  function bury(key: Key): void {
    if (key.secret !== undefined) dead.push(key.secret)
    key.secret = undefined
  }

  /** A change of one generation of a key, during which nothing else is done to it. */
  function ofKey<F>(
    key: Key,
    verb: 'rotate' | 'revoke',
    declared: Pick<Operation<F>, 'heard' | 'found' | 'apply'>,
  ): Operation {
    key.busy = true
    return operation<F>({
      ...declared,
      request: {
        method: 'POST',
        path: `${path}/${key.id}/${verb}`,
        body: { generation: key.generation },
        answerHoldsSecret: verb === 'rotate',
      },
      release() {
        key.busy = false
      },
    })
  }

  return {
    create(): Operation {
      const name = mark('key')
      return operation<{ id: string; secret: string | undefined }>({
        request: {
          method: 'POST',
          path,
          body: { name, scopes: ['accounts:read'] },
          answerHoldsSecret: true,
        },
        heard: (answer) => (succeeded(answer, 201) ? secretOf(answer) : undefined),
        found() {
          const stored = row((each) => each.name === name)
          return stored && { id: stored.id, secret: undefined }
        },
        apply({ id, secret }) {
          const key: Key = { id, name, generation: 1, secret, revoked: false, busy: false }
          keys.set(id, key)
          noted('api_keys.create', key, ' scopes=accounts:read')
        },
      })
    },

    rotate(key: Key): Operation {
      const next = key.generation + 1
      return ofKey<{ secret: string | undefined }>(key, 'rotate', {
        heard: (answer) => (succeeded(answer, 200) ? secretOf(answer) : undefined),
        found() {
          const stored = row(({ id }) => id === key.id)
          return stored?.generation === next ? { secret: undefined } : undefined
        },
        apply({ secret }) {
          bury(key)
          key.secret = secret
          key.generation = next
          noted('api_keys.rotate', key)
        },
      })
    },

    revoke(key: Key): Operation {
      return ofKey<object>(key, 'revoke', {
        heard: (answer) => (succeeded(answer, 200) ? {} : undefined),
        found: () => (row(({ id }) => id === key.id)?.revoked_at != null ? {} : undefined),
        apply() {
          bury(key)
          key.revoked = true
          noted('api_keys.revoke', key)
        },
      })
    },
  }
}

function secretOf(answer: ApiAnswer): { id: string; secret: string } {
  const { key, secret } = apiKeysApi.rotate.ok.parse(answer.body)
  return { id: key.id, secret }
}

type StoredKey = { id: string; name: string; generation: number; revoked_at: number | null }

const keyRows = statement({
  name: 'crash.api-keys',
  text: 'SELECT id, name, generation, revoked_at FROM api_keys',
  row: { id: 'text', name: 'text', generation: 'integer', revoked_at: 'integer?' },
})
