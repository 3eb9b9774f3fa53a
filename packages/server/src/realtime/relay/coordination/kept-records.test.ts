import { expect, test } from 'vitest'
import type { PartyRecord } from '../../play/parties/party-record.ts'
import { createKeptRecords, newestOf } from './kept-records.ts'

function party(id: string, revision: number, members: readonly string[]): PartyRecord {
  return {
    ...{ id, revision, presence_sequence: revision, leader: members[0] ?? '', open: false },
    members: members.map((user_id) => ({ user_id, username: user_id })),
    invitations: [],
    requests: [],
  }
}

const of = (...parties: PartyRecord[]) => ({ tickets: [], parties })

test('[R-CL-12] of each party the newest record counts, and one that is over stays over', () => {
  const older = of(party('a', 3, ['ann', 'bob']), party('b', 2, ['cid']))
  const newer = of(party('a', 4, ['ann']), party('b', 5, []))
  expect(newestOf([older, newer])).toEqual(of(party('a', 4, ['ann'])))
  expect(newestOf([newer, older])).toEqual(of(party('a', 4, ['ann'])))
})

test('[R-CL-12] an edge keeps what is newer, and names what a new coordinator does not have', () => {
  const kept = createKeptRecords(() => 0)
  kept.keep(of(party('a', 4, ['ann']), party('b', 1, ['bob'])), false)
  kept.keep(of(party('a', 3, ['ann', 'bob'])), false)
  expect(kept.all()).toEqual(of(party('a', 4, ['ann']), party('b', 1, ['bob'])))
  expect(kept.keep(of(party('a', 5, ['ann'])), true)).toEqual(of(party('b', 1, ['bob'])))
})

test('[R-CL-12, R-PTY-3] invitations and requests grow old with their edge', () => {
  let nowMs = 0
  const kept = createKeptRecords(() => nowMs)
  const pending = (left_ms: number) => ({
    invitations: [{ user_id: 'bob', expires_at: 9, left_ms }],
    requests: [{ user_id: 'cid', expires_at: 9, left_ms: left_ms + 5000 }],
  })
  kept.keep(of({ ...party('a', 1, ['ann']), ...pending(8000) }), false)
  nowMs = 3000
  expect(kept.all().parties).toMatchObject([pending(5000)])
  nowMs = 9000
  expect(kept.all().parties[0]?.invitations).toMatchObject([{ left_ms: 0 }])
})

test('[R-CL-12] what nobody here is part of any more is forgotten', () => {
  let nowMs = 0
  const kept = createKeptRecords(() => nowMs)
  kept.keep(of(party('a', 1, ['ann']), party('b', 1, ['bob']), party('c', 2, [])), false)
  kept.sweep(() => false)
  expect(kept.all().parties).toHaveLength(3)
  nowMs = 60_001
  kept.sweep((account) => account === 'ann')
  expect(kept.all()).toEqual(of(party('a', 1, ['ann'])))
})
