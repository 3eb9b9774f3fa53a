import type { Surface } from '../../bindings/surface.ts'

/** Builds the object that scripts of JavaScript know as `guildhall`. It cannot be changed. */
export function buildGuildhall({ identity, hooks, room, functions }: Surface): object {
  const { node_id, tier, generation, revision_id } = identity
  const api: Space = { node_id, tier, generation, room: Object.freeze(room) }
  Object.defineProperty(api, 'revision_id', { enumerable: true, get: revision_id })
  for (const { name, fn, row } of [...hooks, ...functions]) {
    const [space, member] = placeOf(api, name)
    // A mere mention of what is planned is an error, at the top level a failed load.
    if (row.planned) Object.defineProperty(space, member, { enumerable: false, get: () => fn() })
    else space[member] = Object.freeze(fn)
  }
  for (const part of Object.values(api)) Object.freeze(part)
  return Object.freeze(api)
}

type Space = Record<string, unknown>

/** The object that holds a function, such as `guildhall.wallet`, and its name in there. */
function placeOf(api: Space, name: string): [Space, string] {
  const [space = '', member] = name.split('.')
  if (member === undefined) return [api, space]
  const known = api[space]
  if (isSpace(known)) return [known, member]
  const made: Space = {}
  api[space] = made
  return [made, member]
}

function isSpace(value: unknown): value is Space {
  return typeof value === 'object' && value !== null
}
