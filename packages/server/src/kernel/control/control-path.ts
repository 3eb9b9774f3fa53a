import { createHash } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/** What distinguishes the nodes of one machine and one user. */
export type ControlledNode = {
  readonly node_id: string
  /** As configured. */
  readonly bind: string
  readonly database: string | undefined
}

/**
 * Where a node listens to the commands of its own user on its own machine. The name follows from
 * the configuration, so that a command finds the node that runs with the same one.
 */
export function controlPath({ node_id, bind, database = '' }: ControlledNode): string {
  const name = createHash('sha256').update([node_id, bind, database].join('\n')).digest('hex')
  const short = name.slice(0, 16)
  if (process.platform === 'win32') return `\\\\.\\pipe\\guildhall-${userInfo().username}-${short}`
  return join(tmpdir(), `guildhall-${process.getuid?.() ?? 0}`, `${short}.sock`)
}
