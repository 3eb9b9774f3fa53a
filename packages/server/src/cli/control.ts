import type { Config } from '../config/schema.ts'
import { controlPath } from '../kernel/control/control-path.ts'

/** Where the node of a configuration listens to commands. */
export function controlPathOf({ server, http, database }: Config): string {
  return controlPath({ node_id: server.node_id, bind: http.bind, database: database.url })
}
