/** What the SDK uses of the runtime; tests put fakes in its place. */
export type Host = {
  fetch: typeof fetch
  /** Undefined where the runtime has none. */
  WebSocket: typeof WebSocket | undefined
  /** Undefined where the runtime has none. */
  WebTransport: WebTransportConstructor | undefined
  /** Unix milliseconds. */
  nowMs(): number
  /** Milliseconds of a clock that never jumps. */
  monotonicMs(): number
  /** 0 to 1, without 1. */
  random(): number
  /** Calls `run` once after `ms`; the answer cancels that. */
  startTimer(ms: number, run: () => void): () => void
  /**
   * Calls `run` when the network is back, and when a page is shown again; the answer ends that.
   * What happened meanwhile, the page has slept through.
   */
  onWake(run: () => void): () => void
  /** Calls `run` when the page goes, e.g. to be loaded again; the answer ends that. */
  onLeave(run: () => void): () => void
}

/** Of the browser's WebTransport what the SDK uses. */
export type WebTransportConstructor = new (
  url: string,
  options?: {
    serverCertificateHashes?: { algorithm: 'sha-256'; value: Uint8Array<ArrayBuffer> }[]
  },
) => WebTransportSession

export type WebTransportSession = {
  readonly ready: Promise<unknown>
  readonly closed: Promise<{ closeCode?: number; reason?: string }>
  readonly datagrams: {
    readonly readable: ReadableStream<Uint8Array>
    /** Chromium has it; Firefox and Safari have `createWritable`. */
    readonly writable?: WritableStream<Uint8Array>
    createWritable?(): WritableStream<Uint8Array>
    readonly maxDatagramSize: number
  }
  readonly incomingUnidirectionalStreams: ReadableStream<ReadableStream<Uint8Array>>
  createBidirectionalStream(): Promise<{ writable: WritableStream<Uint8Array> }>
  close(info?: { closeCode?: number; reason?: string }): void
}

/** Constructors and time of the caller, for unusual hosts and for tests. */
export type HostOptions = {
  fetch?: typeof fetch
  WebSocket?: typeof WebSocket
  WebTransport?: WebTransportConstructor
  /** By which the SDK waits, in place of the runtime's. */
  clock?: HostClock
}

export type HostClock = Pick<Host, 'nowMs' | 'monotonicMs' | 'startTimer'>

/** The runtime itself, with the caller's constructors in front of its own. */
export function runtimeHost(options: HostOptions = {}): Host {
  const own = globalThis as { WebTransport?: WebTransportConstructor } & HostOptions
  return {
    fetch: options.fetch ?? ((...args) => fetch(...args)),
    WebSocket: options.WebSocket ?? own.WebSocket,
    WebTransport: options.WebTransport ?? own.WebTransport,
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    random: () => Math.random(),
    startTimer(ms, run) {
      // Beyond its bound a runtime would not wait at all.
      const timer = setTimeout(run, Math.min(ms, timerMsMax))
      return () => clearTimeout(timer)
    },
    ...options.clock,
    onWake: (run) =>
      listen(['online', 'pageshow', 'visibilitychange'], ({ type }) => {
        if (type !== 'visibilitychange' || page.document?.visibilityState === 'visible') run()
      }),
    onLeave: (run) => listen(['pagehide'], run),
  }
}

/** 24 days. */
const timerMsMax = 2 ** 31 - 1

/** Workers have no document; elsewhere than in browsers nothing says any of it. */
const page = globalThis as Partial<Pick<EventTarget, 'addEventListener'>> & {
  document?: { visibilityState: string }
}

/** Events of the document reach the window too. */
function listen(types: readonly string[], run: (event: Event) => void): () => void {
  const listening = new AbortController()
  for (const type of types) page.addEventListener?.(type, run, listening)
  return () => listening.abort()
}
