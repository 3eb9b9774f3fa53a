import type { Child } from '../processes/child.ts'

/** A stretch of time and who computed in it. */
export type Window = {
  seconds: number
  /** CPU time of the server and of the processes that it started, in milliseconds. */
  cpuMs: number
  /** Of that, CPU time of the processes that the server started. */
  startedCpuMs: number
  /** CPU time of this process, which makes the load, as a share of the time that passed. */
  loadShare: number
}

/** Begins a window; the answer ends it. */
export function startWindow(server: Child): () => Window {
  const startMs = performance.now()
  const startCpuMs = server.cpuMs()
  const startStartedCpuMs = server.startedCpuMs()
  const startUsage = process.cpuUsage()
  return () => {
    const passedMs = performance.now() - startMs
    const { user, system } = process.cpuUsage(startUsage)
    return {
      seconds: passedMs / 1000,
      cpuMs: server.cpuMs() - startCpuMs,
      startedCpuMs: server.startedCpuMs() - startStartedCpuMs,
      loadShare: (user + system) / 1000 / passedMs,
    }
  }
}

/** E.g. `load 34 %, server 99 %`. */
export function shares({ seconds, cpuMs, loadShare }: Window): string {
  const server = cpuMs / 1000 / seconds
  return `load ${percent(loadShare)}, server ${percent(server)} of a core`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
