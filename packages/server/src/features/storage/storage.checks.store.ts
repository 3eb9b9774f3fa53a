import { hash } from 'node:crypto'
import type { Json } from '@guildhall/contract'
import { type Check, defineCheck, type Example, rule } from '../../database/checks/check.ts'
import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'
import { readJson } from '../../kernel/json/json-reader.ts'

const named = (index: string, of: string) =>
  `${index}.name || ': ' || ${index}.collection || '/' || ${of}.key || ' of ' || ${of}.user_id`

/** What queries can find by themselves. */
const rows = defineCheck('storage', {
  tables: ['storage_objects', 'storage_collections', 'storage_index_entries'],
  rules: [
    rule('storage.counts', {
      rule: 'a collection is counted as it is',
      text: `SELECT c.collection AS id FROM storage_collections c
        WHERE c.objects <= 0 OR c.objects <>
          (SELECT COUNT(*) FROM storage_objects o WHERE o.collection = c.collection)
        UNION
        SELECT o.collection FROM storage_objects o LEFT JOIN storage_collections c
          ON c.collection = o.collection WHERE c.collection IS NULL`,
    }),
    rule('storage.covered', {
      rule: 'an index entry is of an object that the index covers',
      text: `SELECT DISTINCT ${named('i', 'e')} AS id FROM storage_index_entries e
        JOIN storage_indexes i ON i.id = e.index_id AND i.state <> 'dropped'
        LEFT JOIN storage_objects o
          ON o.collection = i.collection AND o.user_id = e.user_id AND o.key = e.key
        WHERE o.key IS NULL OR e.key <> COALESCE(i.key, e.key)`,
    }),
    rule('storage.pending', {
      rule: 'only an object of an index with a filter is pending',
      text: `SELECT ${named('i', 'p')} AS id FROM storage_index_pending p
        JOIN storage_indexes i ON i.id = p.index_id AND i.state <> 'dropped'
        LEFT JOIN storage_objects o
          ON o.collection = i.collection AND o.user_id = p.user_id AND o.key = p.key
        WHERE o.key IS NULL OR i.filtered = 0`,
    }),
    rule('storage.indexes', {
      rule: 'an entry belongs to an index',
      text: `SELECT DISTINCT 'index ' || CAST(e.index_id AS text) AS id
        FROM storage_index_entries e LEFT JOIN storage_indexes i ON i.id = e.index_id
        WHERE i.id IS NULL`,
    }),
  ],
})

const place = { collection: 'text', user_id: 'text', key: 'text' } as const
type Place = Row<typeof place>

const weights = statement({
  name: 'doctor.storage.weights',
  text: `SELECT collection, user_id, key, CAST(length(value) AS bigint) AS characters
    FROM storage_objects WHERE (collection, user_id, key) > (:collection, :user_id, :key)
    ORDER BY collection, user_id, key LIMIT 500`,
  params: place,
  row: { ...place, characters: 'integer' },
})

const upTo = { last_collection: 'text', last_user_id: 'text', last_key: 'text' } as const
const objects = statement({
  name: 'doctor.storage.objects',
  text: `SELECT collection, user_id, key, version, bytes, value FROM storage_objects
    WHERE (collection, user_id, key) > (:collection, :user_id, :key)
      AND (collection, user_id, key) <= (:last_collection, :last_user_id, :last_key)
    ORDER BY collection, user_id, key`,
  params: { ...place, ...upTo },
  row: { ...place, version: 'text', bytes: 'integer', value: 'text' },
})
type StoredObject = Row<(typeof objects)['row']>

const indexes = statement({
  name: 'doctor.storage.live-indexes',
  text: `SELECT id, name, collection, key, fields, filtered, state FROM storage_indexes
    WHERE state <> 'dropped' ORDER BY id`,
  row: {
    id: 'integer',
    name: 'text',
    collection: 'text',
    key: 'text?',
    fields: 'text',
    filtered: 'integer',
    state: 'text',
  },
})
type Index = Row<(typeof indexes)['row']>

const indexed = { index_id: 'integer', user_id: 'text', key: 'text' } as const
const entries = batchStatement({
  name: 'doctor.storage.entries',
  text: `SELECT e.index_id, e.user_id, e.key, e.field, e.value FROM {{rows}} AS r
    JOIN storage_index_entries e
      ON e.index_id = r.index_id AND e.user_id = r.user_id AND e.key = r.key`,
  params: indexed,
  row: { ...indexed, field: 'text', value: 'text' },
})
type Entry = Row<(typeof entries)['row']>

/** Values are large: about as many characters of them are read at once. */
const charactersMax = 4_194_304

export const storageCheck: Check = {
  name: 'storage',
  async examine(state, examplesMax) {
    const finding = await rows.examine(state, examplesMax)
    const live = await state.all(indexes, {})
    for await (const page of pagesOf(state)) {
      const entriesIn = await entriesOf(state, page, live)
      for (const example of page.flatMap((object) => brokenBy(object, live, entriesIn))) {
        finding.violations += 1
        if (finding.examples.length < examplesMax) finding.examples.push(example)
      }
    }
    return finding
  },
}

async function* pagesOf(state: Queries): AsyncIterable<StoredObject[]> {
  let after: Place = { collection: '', user_id: '', key: '' }
  for (;;) {
    const page = await state.all(weights, after)
    let characters = 0
    const heavy = page.findIndex((row, at) => {
      characters += row.characters
      return at > 0 && characters > charactersMax
    })
    const last = page[(heavy < 0 ? page.length : heavy) - 1]
    if (last === undefined) return
    const { collection, user_id, key } = last
    const until = { last_collection: collection, last_user_id: user_id, last_key: key }
    yield await state.all(objects, { ...after, ...until })
    after = { collection, user_id, key }
  }
}

type EntriesIn = (index: Index, object: StoredObject) => readonly Entry[]

/** What the indexes have of the objects of a page. */
async function entriesOf(
  state: Queries,
  page: readonly StoredObject[],
  live: readonly Index[],
): Promise<EntriesIn> {
  const asked = page.flatMap((object) =>
    live
      .filter((index) => covers(index, object))
      .map(({ id }) => ({ index_id: id, user_id: object.user_id, key: object.key })),
  )
  const nameOf = ({ index_id, user_id, key }: Row<typeof indexed>) =>
    `${index_id}\0${user_id}\0${key}`
  const found = new Map<string, Entry[]>()
  for (const entry of await state.each(entries, asked)) {
    const name = nameOf(entry)
    found.set(name, [...(found.get(name) ?? []), entry])
  }
  return ({ id }, { user_id, key }) => found.get(nameOf({ index_id: id, user_id, key })) ?? []
}

function covers(index: Index, { collection, key }: StoredObject): boolean {
  return index.collection === collection && (index.key ?? key) === key
}

function brokenBy(object: StoredObject, live: readonly Index[], entriesIn: EntriesIn): Example[] {
  const { collection, user_id, key, value } = object
  const id = `${collection}/${key} of ${user_id}`
  const broken: Example[] = []
  if (hash('sha256', value, 'hex').slice(0, 16) !== object.version) {
    broken.push({ rule: 'a version is the hash of its value', id })
  }
  if (Buffer.byteLength(value) !== object.bytes) {
    broken.push({ rule: 'a value is as long as it is said to be', id })
  }
  for (const index of live.filter((each) => covers(each, object))) {
    if (isRight(index, value, entriesIn(index, object))) continue
    broken.push({ rule: 'index entries match their object', id: `${index.name}: ${id}` })
  }
  return broken
}

/** An index that asks a filter, or is not complete yet, may also have nothing of the object. */
function isRight(index: Index, value: string, had: readonly Entry[]): boolean {
  if (had.length === 0) return index.filtered === 1 || index.state === 'building'
  const found = had.map((entry) => JSON.stringify([entry.field, entry.value])).sort()
  return JSON.stringify(found) === JSON.stringify(entriesFor(index, value))
}

/** The entries that an index must have of a value: written anew here, so as to be a second look. */
function entriesFor({ fields }: Index, value: string): string[] {
  const object = new Map<string, Json>(Object.entries(Object(parsed(value))))
  const expected: [string, string][] = [['', '']]
  for (const name of fields.split(',')) {
    const field = name.replace('+', '')
    const member = object.get(field)
    if (name !== field) {
      expected.push(...orderedFor(field, member))
      continue
    }
    if (typeof member === 'boolean') expected.push([field, member ? 'b1' : 'b0'])
    if (typeof member === 'number' || typeof member === 'bigint') {
      expected.push([field, `n${member}`])
    }
    if (typeof member === 'string' && Buffer.byteLength(member) <= 256) {
      const escaped = member.replaceAll('\u0001', '\u0001\u0001').replaceAll('\0', '\u0001\u0002')
      expected.push([field, `s${escaped}`])
    }
  }
  return expected.map((entry) => JSON.stringify(entry)).sort()
}

/** Of a field that is ordered: what sorts as its values do, upwards and downwards. */
function orderedFor(field: string, member: Json | undefined): [string, string][] {
  const both = (up: string, down: string): [string, string][] => [
    [`+${field}`, up],
    [`-${field}`, down],
  ]
  if (typeof member === 'boolean') return member ? both('b1', 'c0') : both('b0', 'c1')
  if (typeof member === 'number' || typeof member === 'bigint') {
    const bytes = Buffer.alloc(10)
    bytes.writeDoubleBE(Number(member) || 0)
    const beside = Number(BigInt(member === 0 ? 0 : wholeOf(member)) - wholeOf(Number(member)))
    bytes.writeUInt16BE(0x8000 + beside, 8)
    const flipped = bytes.map((byte, at) => {
      if (at > 7) return byte
      return (bytes[0] ?? 0) < 0x80 ? (at === 0 ? byte | 0x80 : byte) : 0xff - byte
    })
    const inverse = Buffer.from(flipped.map((byte) => 0xff - byte))
    return both(`n${Buffer.from(flipped).toString('hex')}`, `b${inverse.toString('hex')}`)
  }
  if (typeof member !== 'string' || Buffer.byteLength(member) > 256) return []
  const escaped = member.replaceAll('\u0001', '\u0001\u0002').replaceAll('\0', '\u0001\u0001')
  const inverse = Buffer.from(Buffer.from(member).map((byte) => 0xff - byte))
  return both(`s${escaped}`, `a${inverse.toString('hex')}~`)
}

/** An integer; of a fraction, which lies beside nothing, 0. */
function wholeOf(value: number | bigint): bigint {
  return typeof value === 'bigint' || Number.isInteger(value) ? BigInt(value) : 0n
}

function parsed(value: string): Json {
  try {
    return readJson(value).value
  } catch {
    return null
  }
}
