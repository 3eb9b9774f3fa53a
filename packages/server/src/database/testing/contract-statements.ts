import { batchStatement, lookup, statement } from '../statement.ts'

/** What the contract suite runs, on tables of its own. */
export const tables = [
  `CREATE TABLE contract_values (
    id {{text}} NOT NULL PRIMARY KEY,
    big {{bigint}} NOT NULL,
    count {{bigint}},
    note {{text}},
    data {{bytes}}
  ) {{strict}}`,
  `CREATE TABLE counters (id {{text}} NOT NULL PRIMARY KEY, total {{bigint}} NOT NULL) {{strict}}`,
  `CREATE TABLE pairs (
    first {{text}} NOT NULL,
    second {{bytes}} NOT NULL,
    answer {{bigint}} NOT NULL
  ) {{strict}}`,
  'CREATE TABLE numbered (id {{identity}}, note {{text}} NOT NULL) {{strict}}',
]

const valueColumns = {
  id: 'text',
  big: 'bigint',
  count: 'integer?',
  note: 'text?',
  data: 'bytes?',
} as const

export const plainValue = { id: '', big: 0n, count: 0, note: '', data: Uint8Array.of(0) }

export const insertValue = statement({
  name: 'contract.insert-value',
  text: `INSERT INTO contract_values (id, big, count, note, data)
    VALUES (:id, :big, :count, :note, :data)`,
  params: valueColumns,
})

export const insertValues = batchStatement({
  name: 'contract.insert-values',
  text: `INSERT INTO contract_values (id, big, count, note, data)
    SELECT r.id, r.big, r.count, r.note, r.data FROM {{rows}} AS r RETURNING id`,
  params: valueColumns,
  row: { id: 'text' },
})

export const valueById = statement({
  name: 'contract.value-by-id',
  text: 'SELECT data, id, big, note, count FROM contract_values WHERE id = :id',
  params: { id: 'text' },
  row: valueColumns,
})

const counterColumns = { id: 'text', total: 'bigint' } as const

export const insertCounter = statement({
  name: 'contract.insert-counter',
  text: 'INSERT INTO counters (id, total) VALUES (:id, :total)',
  params: counterColumns,
})

export const insertCounters = batchStatement({
  name: 'contract.insert-counters',
  text: 'INSERT INTO counters (id, total) SELECT r.id, r.total FROM {{rows}} AS r',
  params: counterColumns,
})

export const counterById = statement({
  name: 'contract.counter-by-id',
  text: 'SELECT id, total FROM counters WHERE id = :id',
  params: { id: 'text' },
  row: counterColumns,
})

export const lockCounter = statement({
  name: 'contract.lock-counter',
  text: 'SELECT c.id, c.total FROM counters c WHERE c.id = :id {{for update of c}}',
  params: { id: 'text' },
  row: counterColumns,
})

export const countersBetween = statement({
  name: 'contract.counters-between',
  text: 'SELECT id, total FROM counters WHERE id >= :low AND id < :high ORDER BY id',
  params: { low: 'text', high: 'text' },
  row: counterColumns,
})

export const raise = statement({
  name: 'contract.raise',
  text: 'UPDATE counters SET total = total + 1 WHERE id = :id',
  params: { id: 'text' },
})

export const raiseBetween = statement({
  name: 'contract.raise-between',
  text: 'UPDATE counters SET total = total + 1 WHERE id >= :low AND id < :high',
  params: { low: 'text', high: 'text' },
})

export const removeCounters = batchStatement({
  name: 'contract.remove-counters',
  text: `DELETE FROM counters USING {{rows}} AS r WHERE counters.id = r.id
    RETURNING counters.id, counters.total`,
  params: { id: 'text' },
  row: counterColumns,
})

/** Adds what is given to each, which begins at 0. */
export const countInCounters = batchStatement({
  name: 'contract.count-in-counters',
  text: `INSERT INTO counters (id, total) {{given}}
    ON CONFLICT (id) DO UPDATE SET total = counters.total + excluded.total
    RETURNING id, total`,
  params: counterColumns,
  row: counterColumns,
})

export const addToCounters = batchStatement({
  name: 'contract.add-to-counters',
  text: `UPDATE counters SET total = counters.total + r.total
    FROM {{rows}} AS r
    WHERE counters.id = r.id
    RETURNING counters.id, counters.total`,
  params: counterColumns,
  row: counterColumns,
})

export const setCounter = statement({
  name: 'contract.set-counter',
  text: 'UPDATE counters SET total = :total WHERE id = :id',
  params: counterColumns,
})

export const findCounter = lookup({
  name: 'contract.find-counter',
  text: 'SELECT r.id, c.total FROM {{rows}} AS r JOIN counters c ON c.id = r.id',
  params: { id: 'text' },
  row: counterColumns,
})

export const insertPair = statement({
  name: 'contract.insert-pair',
  text: 'INSERT INTO pairs (first, second, answer) VALUES (:first, :second, :answer)',
  params: { first: 'text', second: 'bytes', answer: 'integer' },
})

export const findPair = lookup({
  name: 'contract.find-pair',
  text: `SELECT r.first, r.second, p.answer FROM {{rows}} AS r
    JOIN pairs p ON p.first = r.first AND p.second = r.second`,
  params: { first: 'text', second: 'bytes' },
  row: { first: 'text', second: 'bytes', answer: 'integer' },
})

export const insertNumbered = statement({
  name: 'contract.insert-numbered',
  text: 'INSERT INTO numbered (note) VALUES (:note) RETURNING id',
  params: { note: 'text' },
  row: { id: 'bigint' },
})

export const deleteNumbered = statement({
  name: 'contract.delete-numbered',
  text: 'DELETE FROM numbered WHERE id = :id',
  params: { id: 'bigint' },
})

export const misdeclared = statement({
  name: 'contract.misdeclared',
  text: 'SELECT id FROM counters',
  row: counterColumns,
})

export const answeredTwice = statement({
  name: 'contract.answered-twice',
  text: `SELECT c.id, c.total, 1 AS total FROM counters c WHERE c.id = 'nowhere'`,
  row: counterColumns,
})

export const readNow = statement({
  name: 'contract.now',
  text: 'SELECT {{now}} AS now',
  row: { now: 'integer' },
})

/** Marked as long, so that the suite also runs what is kept apart from short reads. */
export const countersContaining = statement({
  name: 'contract.counters-containing',
  text: `SELECT id FROM counters
    WHERE {{contains id :part}} AND id >= :low AND id < :high ORDER BY id`,
  params: { part: 'text', low: 'text', high: 'text' },
  row: { id: 'text' },
  long: true,
})

export const insertSecret = statement({
  name: 'contract.insert-secret',
  text: 'INSERT INTO deployment_secrets (name, secret) VALUES (:name, :secret)',
  params: { name: 'text', secret: 'bytes' },
})

export const secretByName = statement({
  name: 'contract.secret-by-name',
  text: 'SELECT name, secret FROM deployment_secrets WHERE name = :name',
  params: { name: 'text' },
  row: { name: 'text', secret: 'bytes' },
})
