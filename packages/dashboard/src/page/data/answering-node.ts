import { useSyncExternalStore } from 'react'

type OfPath = { path: string }

/** By path of a route, the node whose own view was read last. */
const nodes = new Map<string, string>()
const listeners = new Set<() => void>()

/** Keeps which node has answered, where several play together and the view is of one of them. */
export function answered({ path }: OfPath, headers: Headers): void {
  const node = headers.get('x-node-id')
  if (node === null || nodes.get(path) === node) return
  nodes.set(path, node)
  for (const listener of listeners) listener()
}

/** The node that a route's view is of; undefined for one that plays alone. */
export function useAnsweringNode({ path }: OfPath): string | undefined {
  return useSyncExternalStore(subscribe, () => nodes.get(path))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
