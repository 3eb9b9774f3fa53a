import type { IncomingMessage } from 'node:http'
import type { Config } from '../../config/schema.ts'
import { keyReadEvent } from '../../kernel/audit/recorder.ts'
import type { PipelineDeps } from '../../kernel/http/pipeline.ts'
import type { Features } from '../features/features.ts'

type PipelineParts = Pick<
  Features,
  'sessions' | 'console' | 'apiKeys' | 'audit' | 'idempotency'
> & { sourceOf(request: IncomingMessage): string }

/** What the way of every request needs of the features. */
export function createPipelineDeps(
  parts: PipelineParts,
  { cluster, server }: Pick<Config, 'cluster' | 'server'>,
): PipelineDeps {
  const { sessions, apiKeys, audit, idempotency, sourceOf } = parts
  return {
    verifiers: {
      accessToken: sessions.verifyAccess,
      consoleToken: parts.console.verifyToken,
      apiKey: apiKeys.verify,
    },
    /** A key passed the checks of a route: that is recorded, and counts as its use. */
    recordKeyRead(key, route, method) {
      apiKeys.noteUse(key)
      const ringOnly = 'trail' in route
      audit.recorder.record(keyReadEvent(key, route, method), { ringOnly })
    },
    idempotency,
    sourceOf,
    nodeId: cluster.enabled ? server.node_id : undefined,
  }
}
