import type { LagCapture, LagSummary, RecorderStatus } from '@guildhall/contract'

/** What spacing says: where evenness ended between the node and the player. */
export type Verdict =
  | 'even'
  | 'node'
  | 'way'
  | 'both'
  | 'node_unknown'
  | 'sent_evenly'
  | 'sent_unevenly'
  | 'way_to_node'
  | 'too_few'
  | 'no_data'

/** Far from even: one spacing in a hundred is beyond so many medians, or the longest is. */
const [p99Medians, maxMedians] = [2, 4]
/** Who sent is the cause when its longest spacing is at least this part of the longest arrival. */
const ownPart = 0.5

/** Whose lag it is, by one group of a report and what the node counted of the same envelopes. */
export function verdictOf(client: LagSummary | undefined, node: LagSummary | undefined): Verdict {
  if (client === undefined) return 'no_data'
  if (client.quality === 'few_samples') return 'too_few'
  const isNodeKnown = node !== undefined && node.max_interarrival_us !== null
  if (client.key.direction === 'outbound') {
    if (!isNodeKnown) return 'node_unknown'
    if (!isUneven(node)) return 'sent_evenly'
    return isUneven(client) && isOwn(client, node) ? 'sent_unevenly' : 'way_to_node'
  }
  if (!isUneven(client)) return 'even'
  if (!isNodeKnown) return 'node_unknown'
  if (!isUneven(node)) return 'way'
  return isOwn(node, client) ? 'node' : 'both'
}

function isOwn(sender: LagSummary, receiver: LagSummary): boolean {
  return (sender.max_interarrival_us ?? 0) >= ownPart * (receiver.max_interarrival_us ?? 0)
}

/** What the node counted of the same envelopes, of the same lane if there is one. */
export function besideOf(
  { key }: LagSummary,
  server: readonly LagSummary[] | null,
): LagSummary | undefined {
  const alike = (server ?? []).filter(
    (node) => node.key.packet_kind === key.packet_kind && node.key.direction === key.direction,
  )
  return alike.find((node) => node.key.delivery === key.delivery) ?? alike[0]
}

function isUneven(summary: LagSummary): boolean {
  const median = summary.p50_interarrival_us ?? 0
  const isFar = (us: number | null, medians: number) => (us ?? 0) > medians * Math.max(median, 1)
  return (
    isFar(summary.p99_interarrival_us, p99Medians) || isFar(summary.max_interarrival_us, maxMedians)
  )
}

/** The cursor behind which a list, newest first, begins with this very capture. */
export function captureCursor(captureId: string): string {
  return (BigInt(`0x${captureId}`) + 1n).toString(16).padStart(32, '0')
}

/** Whether a capture still changes. */
export function isLive({ state }: Pick<LagCapture, 'state'>): boolean {
  return state !== 'sealed' && state !== 'expired'
}

const recorderNames: Readonly<Record<RecorderStatus, string>> = {
  offered: 'offered',
  recording: 'recording',
  failed: 'failed',
  flushing: 'uploading',
  uploaded: 'uploaded',
  missed: 'missed',
  gone: 'gone',
}

export function recorderName(status: string): string {
  return recorderNames[status as RecorderStatus] ?? status
}

/** How many recorders are in which status, without those of none. */
export function recorderWords(capture: Pick<LagCapture, 'state' | 'recorders'>): string {
  const counts = new Map<string, number>()
  for (const [status, count] of Object.entries(capture.recorders)) {
    // When a capture is over, whoever was still at it has brought nothing.
    const isLeft = !isLive(capture) && ['offered', 'recording', 'flushing'].includes(status)
    const name = isLeft ? 'not uploaded' : recorderName(status)
    counts.set(name, (counts.get(name) ?? 0) + count)
  }
  const said = [...counts].filter(([, count]) => count > 0)
  return said.map(([name, count]) => `${count} ${name}`).join(', ') || 'none'
}

/** E.g. `50.4 ms`. */
export function spacingText(us: number | null | undefined): string {
  if (us === null || us === undefined) return '–'
  return `${(us / 1000).toFixed(us < 100_000 ? 1 : 0)} ms`
}

/** Numbers of kinds with commas between; undefined for every other text. */
export function kindsOf(text: string): number[] | undefined {
  const kinds = text.split(',').map((part) => part.trim())
  if (kinds.some((kind) => !/^\d{1,5}$/.test(kind) || Number(kind) > 65_535)) return undefined
  return [...new Set(kinds.map(Number))]
}
