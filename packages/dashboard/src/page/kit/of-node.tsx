import type { Route } from '@guildhall/contract'
import { useAnsweringNode } from '../data/answering-node.ts'
import { Text } from './text/text.tsx'

/** In the head of a view of one process: which of several nodes it shows. */
export function OfNode({ route }: { route: Route }) {
  const node = useAnsweringNode(route)
  if (node === undefined) return null
  return (
    <span className="muted small">
      Node <Text>{node}</Text>
    </span>
  )
}
