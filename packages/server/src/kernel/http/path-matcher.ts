import type { Method } from '@guildhall/contract'

/**
 * Tells which methods a path offers, for the answers 405 and CORS. It runs only where no route
 * matched, so it may be simple.
 */
export function createPathMatcher(routes: readonly { method: Method; path: string }[]) {
  const patterns = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  for (const { method, path } of routes) {
    const known = patterns.get(path) ?? { pattern: patternOf(path), methods: new Set() }
    known.methods.add(method)
    if (method === 'GET') known.methods.add('HEAD')
    patterns.set(path, known)
  }
  /** In alphabetical order; empty for an unknown path. */
  return (path: string): string[] => {
    const literal = patterns.get(path)
    if (literal !== undefined) return [...literal.methods].sort()
    const found = [...patterns.values()].find(({ pattern }) => pattern.test(path))
    return [...(found?.methods ?? [])].sort()
  }
}

function patternOf(template: string): RegExp {
  const source = template
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '[^/]+' : RegExp.escape(segment)))
    .join('/')
  return new RegExp(`^${source}$`)
}
