import type { Method } from '@guildhall/contract'

/** Where a request goes: a route's template, what serves its methods, and its parameters. */
export type Match<T> = {
  template: string
  methods: ReadonlyMap<string, T>
  /** Decoded values of the template's named segments. */
  params: Record<string, string>
}

type Entry<T> = { template: string; methods: Map<string, T>; names: string[] }

/** Everything below one segment: fixed words go before a named one. */
type Branch<T> = {
  words: Map<string, Branch<T>>
  named: Branch<T> | undefined
  /** What a last segment `{*}` stands for: all that is not found below. */
  rest: Entry<T> | undefined
  entry: Entry<T> | undefined
}

/** Frozen, because all requests without parameters have the same. */
const noParams: Record<string, string> = Object.freeze({})

/**
 * Finds routes by canonical path, e.g. `/console/v1/groups/{id}` for `/console/v1/groups/7`. A
 * named segment is never empty. A last segment `{*}` stands for one or more of any kind, where
 * nothing else is found. GET serves HEAD as well.
 */
export function createRouter<T>(
  routes: readonly { method: Method | 'OPTIONS'; path: string; serve: T }[],
) {
  const root = emptyBranch<T>()
  const fixed = new Map<string, Match<T>>()
  for (const { method, path, serve } of routes) {
    const entry = entryAt(root, path)
    entry.methods.set(method, serve)
    if (method === 'GET') entry.methods.set('HEAD', serve)
    if (!path.includes('{')) fixed.set(path, { ...entry, params: noParams })
  }

  return (path: string): Match<T> | undefined => {
    const known = fixed.get(path)
    if (known !== undefined) return known
    const [origin, ...segments] = path.split('/')
    const values: string[] = []
    const entry = origin === '' ? descend(root, segments, values) : undefined
    if (entry === undefined) return undefined
    const params: Record<string, string> = {}
    for (const [index, name] of entry.names.entries()) {
      params[name] = decodeURIComponent(values[index] ?? '')
    }
    return { ...entry, params }
  }
}

/** The methods that a path offers, in alphabetical order, as an Allow header lists them. */
export function methodsOf<T>(match: Match<T> | undefined): string[] {
  return [...(match?.methods.keys() ?? [])].sort()
}

function entryAt<T>(root: Branch<T>, template: string): Entry<T> {
  const names: string[] = []
  let branch = root
  for (const segment of template.split('/').slice(1)) {
    if (segment === '{*}') {
      branch.rest ??= { template, methods: new Map(), names }
      return branch.rest
    }
    const name = /^\{(.+)\}$/.exec(segment)?.[1]
    const known = name === undefined ? branch.words.get(segment) : branch.named
    const next = known ?? emptyBranch<T>()
    if (name === undefined) {
      branch.words.set(segment, next)
    } else {
      branch.named = next
      names.push(name)
    }
    branch = next
  }
  branch.entry ??= { template, methods: new Map(), names }
  return branch.entry
}

function emptyBranch<T>(): Branch<T> {
  return { words: new Map(), named: undefined, rest: undefined, entry: undefined }
}

function descend<T>(
  branch: Branch<T>,
  segments: readonly string[],
  values: string[],
): Entry<T> | undefined {
  const [segment, ...rest] = segments
  if (segment === undefined) return branch.entry
  const word = branch.words.get(segment)
  const found = word && descend(word, rest, values)
  if (found !== undefined || segment === '') return found
  const named = branch.named && descendNamed(branch.named, segments, values)
  return named ?? (rest.includes('') ? undefined : branch.rest)
}

function descendNamed<T>(
  branch: Branch<T>,
  [segment = '', ...rest]: readonly string[],
  values: string[],
): Entry<T> | undefined {
  values.push(segment)
  const found = descend(branch, rest, values)
  if (found === undefined) values.pop()
  return found
}
