import type { Output } from '../output.ts'
import type { StateCopy } from './state-copy.ts'
import type { StateRoom } from './state-room.ts'

/** The state for `view` and `own` of a game under test: they can change nothing in it. */
export function frozenState(copy: StateCopy): unknown {
  return freezeAll(copy.fresh())
}

export function reportUntracked(room: StateRoom, output: Output): void {
  if (!room.takeUntracked()) return
  const found = 'an object was written to that was not read from room.state'
  output.fault(`${room.definition.name}.state`, `${found}: with track it is seen late`)
}

export function reportTwice(room: StateRoom, output: Output): void {
  const found = findTwice(room.state)
  if (found !== undefined) output.fault(`${room.definition.name}.state`, found)
}

/**
 * The first object that stands at two places of a state, as text; undefined without one. Each
 * place is a value of its own once the state is restored. What is frozen throughout stays alike.
 */
function findTwice(state: unknown): string | undefined {
  const places = new Map<object, string>()
  const find = (value: unknown, place: string): string | undefined => {
    if (!isObject(value) || isLasting(value)) return undefined
    const other = places.get(value)
    if (other !== undefined) return `${other} and ${place} are one object, and will be two`
    places.set(value, place)
    for (const [name, member] of Object.entries(value)) {
      const found = find(member, `${place}.${name}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  return find(state, 'room.state')
}

function freezeAll(value: unknown): unknown {
  if (!isObject(value) || Object.isFrozen(value)) return value
  Object.values(value).forEach(freezeAll)
  return Object.freeze(value)
}

function isLasting(value: object): boolean {
  const isMemberLasting = (each: unknown) => !isObject(each) || isLasting(each)
  return Object.isFrozen(value) && Object.values(value).every(isMemberLasting)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
