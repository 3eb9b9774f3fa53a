import { nodeIdsOf } from '../config/processes.ts'
import type { Config } from '../config/schema.ts'
import { controlPath } from '../kernel/control/control-path.ts'

/** Where the node of a configuration listens to commands. */
export function controlPathOf({ server, http, database }: Config): string {
  return controlPath({ node_id: server.node_id, bind: http.bind, database: database.url })
}

/** Where each node that one command runs with a configuration listens, by node id. */
export function controlPathsOf(config: Config): Map<string, string> {
  const paths = nodeIdsOf(config.server).map((node_id): [string, string] => {
    return [node_id, controlPathOf({ ...config, server: { ...config.server, node_id } })]
  })
  return new Map(paths)
}
