import type { Readiness, Status } from '@guildhall/contract'
import { useQuery } from '@tanstack/react-query'
import { pace } from './pace.ts'

/** What the node says of itself, and when by its own clock, in Unix milliseconds. */
export type NodeStatus = { status: Status; at: number; roundTripMs: number }

let offsetMs = 0

/** Now by the clock of the server, in Unix milliseconds. */
export function serverNow(): number {
  return Date.now() + offsetMs
}

export function useNodeStatus(everyMs: number = pace.calm) {
  return useQuery({
    queryKey: ['status'],
    queryFn: readStatus,
    refetchInterval: everyMs,
    staleTime: 1_000,
    retry: false,
  })
}

export function useReadiness() {
  return useQuery({
    queryKey: ['readiness'],
    queryFn: () => readJson<ReturnType<typeof Readiness>['_zod']['output']>('/health/ready'),
    refetchInterval: pace.script,
    retry: false,
  })
}

async function readStatus(): Promise<NodeStatus> {
  const sentMs = Date.now()
  const startMs = performance.now()
  const response = await fetch('/status')
  const roundTripMs = performance.now() - startMs
  // The header has whole seconds, so that a smaller difference means nothing.
  const serverMs = Date.parse(response.headers.get('date') ?? '') + 500
  const skewMs = serverMs - (sentMs + Date.now()) / 2
  if (Number.isFinite(skewMs)) offsetMs = Math.abs(skewMs) < 2_000 ? 0 : skewMs
  return { status: (await response.json()) as Status, at: serverNow(), roundTripMs }
}

/** A node that is not ready answers 503 with a body as well. */
async function readJson<T>(path: string): Promise<T> {
  const response = await fetch(path)
  return (await response.json()) as T
}
