import { isForOperators, type Route } from '@guildhall/contract'

/** What answers under a path have in common, whatever their method and status. */
export type PathFacts = {
  /** No cache may keep them. */
  noStore: boolean
  /** Pages of other origins may read them, if these are configured. */
  crossOrigin: boolean
}

/** All routes at one segment of their paths, and below it. */
type Branch = { routes: Route[]; words: Map<string, Branch>; facts?: PathFacts }

const none: PathFacts = { noStore: false, crossOrigin: false }

/**
 * Reads from the rows of the table what answers under a path have in common. A path that no route
 * has is like those around it: refusals of `/console/v1/nope` are as private as the console's
 * answers.
 */
export function createPathFacts(routes: readonly Route[]): (path: string) => PathFacts {
  const root = createBranch()
  const fixed = new Map<string, PathFacts>()
  for (const route of routes) addRoute(root, route)
  for (const { path } of routes) {
    const same = routes.filter((route) => route.path === path)
    fixed.set(path, factsOf(same))
  }

  return (path) => {
    const known = fixed.get(path)
    if (known !== undefined) return known
    let branch = root
    for (const segment of path.split('/').slice(1, -1)) {
      const next = branch.words.get(segment)
      if (next === undefined) break
      branch = next
    }
    if (branch === root) return none
    branch.facts ??= factsOf(branch.routes)
    return branch.facts
  }
}

function createBranch(): Branch {
  return { routes: [], words: new Map() }
}

/** What stands behind a named segment is like what stands beside it. */
function addRoute(root: Branch, route: Route): void {
  let branch = root
  for (const segment of route.path.split('/').slice(1)) {
    if (segment.startsWith('{')) return
    const next = branch.words.get(segment) ?? createBranch()
    branch.words.set(segment, next)
    branch = next
    branch.routes.push(route)
  }
}

/** Private where all are; open to other origins where any is. */
function factsOf(routes: readonly Route[]): PathFacts {
  return {
    noStore: routes.every((route) => route.noStore ?? isForOperators(route)),
    crossOrigin: routes.some((route) => route.crossOrigin ?? route.access === 'player'),
  }
}
