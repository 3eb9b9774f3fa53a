import { describe, expect, it } from 'vitest'
import { openBook } from './book.ts'
import { noVerdicts, type Reindexing } from './operations.ts'

const place = { collection: 'saves', user_id: 'ana', key: 'slot' }
const head = { ...place, version: 'now', read_permission: 1, write_permission: 1 }

describe('a book of stored objects', () => {
  const look = (version: string): Reindexing => {
    return { is: 'reindexing', place, index: 1, object: {}, version, verdicts: noVerdicts }
  }

  it('[S-IX-2] leaves an object alone that was looked at before it changed or went', () => {
    const book = openBook([head])
    book.apply([look('before')])
    expect(book.changes().reindexings).toEqual([])
    book.apply([look('now')])
    expect(book.changes().reindexings).toEqual([look('now')])
    book.apply([{ is: 'removal', place, as: undefined, expected: undefined }])
    book.apply([look('now')])
    expect(book.changes()).toMatchObject({ removed: [place], reindexings: [] })
  })
})
