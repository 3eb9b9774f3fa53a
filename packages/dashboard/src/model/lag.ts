import type { LagCapture, LagReport, LagSummary } from '@guildhall/contract'

/** What spacing says: where evenness was lost between the node and the player. */
export type Verdict = 'even' | 'node' | 'way' | 'both' | 'node_unknown' | 'too_few' | 'no_data'

/** Far from even: one spacing in a hundred is beyond so many medians, or the longest is. */
const [p99Medians, maxMedians] = [2, 4]
/** The node is the cause when its longest spacing makes up at least this part of the player's. */
const ownPart = 0.5

/** Whose lag it is, by the group of a report with the most records. */
export function verdictOf({ summaries, server }: Pick<LagReport, 'summaries' | 'server'>): Verdict {
  const [client] = summaries
  if (client === undefined) return 'no_data'
  if (client.quality === 'few_samples') return 'too_few'
  if (!isUneven(client)) return 'even'
  const node = besideOf(client, server)
  if (node === undefined || node.max_interarrival_us === null) return 'node_unknown'
  if (!isUneven(node)) return 'way'
  const share = node.max_interarrival_us / (client.max_interarrival_us ?? 1)
  return share >= ownPart ? 'node' : 'both'
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
