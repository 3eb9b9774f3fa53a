import { hash } from 'node:crypto'
import { StorageObject } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import { expectSame, type Operation, operation, type Section, succeeded } from '../operation.ts'
import type { Random } from '../random.ts'
import { scriptCollections } from './scripts.ts'
import type { Entry, Trail } from './trail.ts'

type Deps = { trail: Trail; random: Random }

/** The place of an object, and what is there; `n` is all that a value has. */
type Place = {
  collection: string
  user_id: string
  key: string
  n: number | undefined
  busy: boolean
}

const collections = ['saves', 'decks']
/** The system's objects have the empty user id in the store. */
const owners = ['', 'ana', 'bo']
const keys = ['slot', 'café', 'a/b']

/** Objects that are written, with and without the version that must be there, and removed. */
export function createStorageSection({ trail, random }: Deps): Section {
  const places = collections.flatMap((collection) =>
    owners.flatMap((user_id) =>
      keys.map((key): Place => ({ collection, user_id, key, n: undefined, busy: false })),
    ),
  )
  let written = 0
  let objects: StoredObject[] = []
  let counts: StoredCount[] = []

  function next(): Operation | undefined {
    const place = random.pick(places.filter(({ busy }) => !busy))
    if (place === undefined) return undefined
    const condition = random.chance(0.3) ? (versionOf(place.n) ?? '') : undefined
    if (random.chance(0.75)) return put(place, random.chance(0.05) ? 'stale' : condition)
    return remove(place, condition || undefined)
  }

  /** A change of an object, during which nothing else is done to it. */
  function change(
    place: Place,
    { entry, n, ...declared }: Pick<Operation<object>, 'request' | 'heard'> & Changed,
  ): Operation {
    place.busy = true
    return operation<object>({
      ...declared,
      found: () => (trail.has(entry) ? {} : undefined),
      apply() {
        place.n = n
        trail.expect(entry)
      },
      release() {
        place.busy = false
      },
    })
  }

  function put(place: Place, version: string | undefined): Operation {
    written += 1
    const n = written
    return change(place, {
      request: { method: 'PUT', path: pathOf(place), body: { value: { n }, version } },
      heard(answer) {
        if (version === 'stale') return succeeded(answer, 409) ? undefined : {}
        if (!succeeded(answer, 200)) return undefined
        const stored = StorageObject().parse(answer.body)
        expectSame([stored.value, stored.version], [{ n }, versionOf(n)], 'what was stored')
        return {}
      },
      entry: {
        action: 'storage.write',
        target: targetOf(place),
        details: `version=${versionOf(n)}`,
      },
      n,
    })
  }

  function remove(place: Place, version: string | undefined): Operation {
    return change(place, {
      request: { method: 'DELETE', path: pathOf(place, version) },
      heard: (answer) => (succeeded(answer, 204) ? {} : undefined),
      entry: {
        action: 'storage.delete',
        target: targetOf(place),
        details: `removed=${place.n !== undefined}`,
      },
      n: undefined,
    })
  }

  return {
    weight: 5,
    next,
    async read(state: Queries) {
      const all = await state.all(objectRows, {})
      objects = all.filter(({ collection }) => !scriptCollections.includes(collection))
      counts = await state.all(countRows, {})
    },
    check() {
      const held = places.filter(({ n }) => n !== undefined)
      const noted = held.map(({ collection, user_id, key, n }) => {
        return [collection, user_id, key, versionOf(n), JSON.stringify({ n })]
      })
      const stored = objects.map(({ collection, user_id, key, version, value }) => {
        return [collection, user_id, key, version, value]
      })
      expectSame(stored.sort(), noted.sort(), 'the stored objects')
      for (const collection of collections) {
        const counted = counts.find((row) => row.collection === collection)?.objects ?? 0
        const inModel = held.filter((place) => place.collection === collection).length
        expectSame(counted, inModel, `the number of objects in ${collection}`)
      }
    },
  }
}

type Changed = { entry: Entry; n: number | undefined }

/** By the rule for versions: the same JSON has the same one. */
function versionOf(n: number | undefined): string | undefined {
  return n === undefined ? undefined : hash('sha256', JSON.stringify({ n }), 'hex').slice(0, 16)
}

function pathOf({ collection, user_id, key }: Place, version?: string): string {
  const query = new URLSearchParams({
    ...(user_id === '' ? {} : { user_id }),
    ...(version === undefined ? {} : { version }),
  })
  return `/console/v1/storage/${collection}/${encodeURIComponent(key)}?${query}`
}

function targetOf({ collection, user_id, key }: Place): string {
  return `${collection}/${key} ${user_id === '' ? '(system)' : `(user ${user_id})`}`
}

type StoredObject = Record<'collection' | 'user_id' | 'key' | 'version' | 'value', string>
type StoredCount = { collection: string; objects: number }

const objectRows = statement({
  name: 'crash.objects',
  text: 'SELECT collection, user_id, key, version, value FROM storage_objects',
  row: { collection: 'text', user_id: 'text', key: 'text', version: 'text', value: 'text' },
})

const countRows = statement({
  name: 'crash.collections',
  text: 'SELECT collection, objects FROM storage_collections',
  row: { collection: 'text', objects: 'integer' },
})
