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
    onWake: (run) => onWake(globalThis as Page, run),
  }
}

/** 24 days. */
const timerMsMax = 2 ** 31 - 1

/** Workers have no document; elsewhere than in browsers nothing says any of it. */
type Events = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>
type Page = Partial<Events> & { document?: Events & { visibilityState: string } }

function onWake(page: Page, run: () => void): () => void {
  const { document } = page
  const shown = () => {
    if (document?.visibilityState === 'visible') run()
  }
  page.addEventListener?.('online', run)
  page.addEventListener?.('pageshow', run)
  document?.addEventListener('visibilitychange', shown)
  return () => {
    page.removeEventListener?.('online', run)
    page.removeEventListener?.('pageshow', run)
    document?.removeEventListener('visibilitychange', shown)
  }
}
