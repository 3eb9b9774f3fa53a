import type { Status, shellApi } from '@guildhall/contract'
import type { ServerHandlers } from '../kernel/http/exchange.ts'
import type { HealthJudge } from './health.ts'

export type ShellDeps = {
  node_id: string
  version: string
  health: HealthJudge
  status(): Omit<Status, 'status' | 'node_id' | 'version' | 'build'>
}

/** Public routes about the node itself: they look at no credential and touch no database. */
export function shellHandlers(deps: ShellDeps): ServerHandlers<typeof shellApi> {
  const { node_id, version, health } = deps
  const build = { os: process.platform, arch: process.arch, profile: 'release' as const }
  return {
    health: async () => {
      const status = health.status()
      return { status: status === 'unhealthy' ? 503 : 200, body: { status, node_id, version } }
    },
    live: async () => ({ status: 'live' }),
    ready: async () => {
      const body = health.readiness()
      return { status: body.status === 'ready' ? 200 : 503, body }
    },
    status: async () => ({ status: health.status(), node_id, version, build, ...deps.status() }),
  }
}
