import type { JsonObject } from '@guildhall/contract'
import { atIndex, type Failure, refuse } from '../../../kernel/failure.ts'
import type { Log } from '../../../kernel/log/log.ts'
import type { Place } from '../storage.store.ts'
import { noVerdicts, type Operation, type Verdicts, type Write } from '../writes/operations.ts'
import { covers, type IndexDeclaration } from './indexes.ts'

/** What a filter is asked about: an object as it is about to be stored. */
export type FilterCandidate = {
  /** Null is the system. */
  user_id: string | null
  collection: string
  key: string
  value: JsonObject
}

/** Whether the index takes the object; anything but true and false counts as a failure. */
export type IndexFilter = (candidate: FilterCandidate) => boolean | Promise<boolean>

export type StorageFilters = ReturnType<typeof createFilters>

/** The filters that serve on this node, by the name of their index. */
export function createFilters(declared: readonly IndexDeclaration[], log: Log) {
  const filters = new Map<string, IndexFilter>()

  async function ask(index: IndexDeclaration, place: Place, value: JsonObject): Promise<boolean> {
    const filter = filters.get(index.name)
    if (filter === undefined) throw new Error('the filter does not serve any more')
    const { user_id, ...rest } = place
    const verdict: unknown = await filter({ user_id: user_id || null, ...rest, value })
    if (typeof verdict !== 'boolean') throw new Error('a filter answers true or false')
    return verdict
  }

  /** The indexes of the object whose filter serves here. */
  function askedOf(place: Place): IndexDeclaration[] {
    return declared.filter((index) => filters.has(index.name) && covers(index, place))
  }

  async function verdictsOn({ place, value }: Write, by: 'operator' | 'runtime', at?: number) {
    const verdicts = new Map<string, boolean>()
    for (const index of askedOf(place)) {
      try {
        verdicts.set(index.name, await ask(index, place, value.object))
      } catch (error) {
        // It went away before it could answer: the object waits for the next one.
        if (!filters.has(index.name)) continue
        if (by === 'runtime') throw failedFilter(at)
        const seen = { index: index.name, error }
        log.warn('the filter of an index failed; the object is not in it', seen)
        verdicts.set(index.name, false)
      }
    }
    return verdicts
  }

  return {
    has: (name: string): boolean => filters.has(name),
    set(name: string, filter: IndexFilter | undefined): void {
      if (filter === undefined) filters.delete(name)
      else filters.set(name, filter)
    },
    /** Asks the filter of one index. @throws whatever it throws */
    async judge(name: string, place: Place, value: JsonObject): Promise<Verdicts> {
      const index = declared.find((each) => each.name === name)
      if (index === undefined) return noVerdicts
      return new Map([[name, await ask(index, place, value)]])
    },
    /** Whether any filter serves: where none does, nothing needs to be waited for. */
    serve: (): boolean => filters.size > 0,
    /**
     * Asks all that serve before these writes. One that fails refuses a runtime's write; an
     * operator's is stored, but not in that index.
     *
     * @throws Failure `conflict`, with the position of the write where there are several
     */
    async judgeAll(
      operations: readonly Operation[],
      by: 'operator' | 'runtime',
    ): Promise<Operation[]> {
      const judged: Operation[] = []
      for (const [index, operation] of operations.entries()) {
        if (operation.is !== 'write') judged.push(operation)
        else
          judged.push({
            ...operation,
            verdicts: await verdictsOn(operation, by, operations.length === 1 ? undefined : index),
          })
      }
      return judged
    },
  }
}

function failedFilter(index: number | undefined): Failure {
  const failure = refuse.conflict('the filter of an index failed')
  return index === undefined ? failure : atIndex(failure, index)
}
