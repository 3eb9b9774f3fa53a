import { atIndex, Failure, refuse } from '../../../kernel/failure.ts'
import type { HeadRow, Place, StoredRow } from '../storage.store.ts'
import {
  nameOf,
  type Operation,
  type Outcome,
  type Reindexing,
  type Removal,
  type Write,
} from './operations.ts'

/** What is there of an object, and what was done about it so far. */
type State = {
  place: Place
  /** Undefined while there is no object. */
  head: Pick<HeadRow, 'version' | 'write_permission' | 'read_permission'> | undefined
  /** The newest write of it. */
  write?: Write
  reindexings?: readonly Reindexing[]
}

/** What is to be stored in the end. */
export type Changes = {
  added: StoredRow[]
  changed: StoredRow[]
  removed: Place[]
  /** Also those that changed nothing about the object: a filter may judge it otherwise now. */
  writes: Write[]
  reindexings: Reindexing[]
}

/**
 * The objects of one run of batches. It does one operation after another, as if each had been
 * alone, and knows what is to be stored in the end.
 */
export function openBook(heads: readonly HeadRow[]) {
  const before = new Map(heads.map((head) => [nameOf(head), head]))
  const after = new Map<string, State>()

  /** Answers the state after the operation, and its outcome; or why it cannot be. */
  function step(state: State, operation: Operation): [State, Outcome] | Failure {
    if (operation.is === 'reindexing') {
      const is = state.head?.version === operation.version
      const reindexings = [...(state.reindexings ?? []), operation]
      return [is ? { ...state, reindexings } : state, { removed: false }]
    }
    const refused = refusalOf(state.head, operation)
    if (refused !== undefined) return refused
    const { place } = state
    if (operation.is === 'removal') {
      return [{ place, head: undefined }, { removed: state.head !== undefined }]
    }
    const { version } = operation.value
    const { read_permission, write_permission } = operation
    const head = { version, read_permission, write_permission }
    return [{ place, head, write: operation }, { version }]
  }

  return {
    /** All of the operations, or none of them and why, with the position of the first refused. */
    apply(operations: readonly Operation[]): Outcome[] | Failure {
      const draft = new Map<string, State>()
      const outcomes: Outcome[] = []
      for (const [index, operation] of operations.entries()) {
        const { place } = operation
        const name = nameOf(place)
        const state = draft.get(name) ?? after.get(name) ?? { place, head: before.get(name) }
        const next = step(state, operation)
        if (next instanceof Failure) return operations.length === 1 ? next : atIndex(next, index)
        draft.set(name, next[0])
        outcomes.push(next[1])
      }
      for (const [name, state] of draft) after.set(name, state)
      return outcomes
    },
    changes(): Changes {
      const changes: Changes = { added: [], changed: [], removed: [], writes: [], reindexings: [] }
      for (const [name, { place, head, write, reindexings = [] }] of after) {
        const old = before.get(name)
        if (head === undefined && old !== undefined) changes.removed.push(place)
        if (write !== undefined) {
          changes.writes.push(write)
          if (old === undefined) changes.added.push(rowOf(write))
          else if (!isSame(old, write)) changes.changed.push(rowOf(write))
        }
        changes.reindexings.push(...reindexings)
      }
      return changes
    },
  }
}

function refusalOf(head: State['head'], operation: Write | Removal): Failure | undefined {
  const { as, expected, place } = operation
  if (as !== undefined && (place.user_id !== as || head?.write_permission === 0)) {
    return refuse.forbidden('the user may not write this object')
  }
  if (expected === undefined || (head?.version ?? '') === expected) return undefined
  return refuse.conflict(
    expected === '' ? 'the object exists' : 'the object is not of the expected version',
  )
}

/** Whether a write changes nothing about the object. */
export function isSame(old: HeadRow, { value, read_permission, write_permission }: Write): boolean {
  return (
    old.version === value.version &&
    old.read_permission === read_permission &&
    old.write_permission === write_permission
  )
}

function rowOf({ place, value, read_permission, write_permission }: Write): StoredRow {
  const { text, bytes, version } = value
  return { ...place, version, read_permission, write_permission, bytes, value: text }
}
