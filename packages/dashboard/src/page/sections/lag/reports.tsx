import type { LagCapture, LagReport, LagSummary, LagWindow } from '@guildhall/contract'
import { useState } from 'react'
import { besideOf, spacingText, verdictOf } from '../../../model/lag.ts'
import { type Axis, axisOf } from '../../../model/lag-axis.ts'
import { counted, grouped } from '../../../model/time.ts'
import { useRead } from '../../data/reads.ts'
import { Card } from '../../kit/page.tsx'
import { Await, Empty } from '../../kit/states.tsx'
import { Histogram } from './histogram.tsx'
import { readReports } from './lag-calls.ts'
import { Outcome, VerdictWords } from './lag-words.tsx'
import { PlayerName, usePlayers } from './players.tsx'
import { SpacingPlot } from './spacing-plot.tsx'

type Analysed = { report: LagReport; windows: readonly LagWindow[] }

/** So many people are compared at a time. */
const shownMax = 16

/** The people of a capture side by side, all on one axis of time and one of spacing. */
export function Reports({ capture }: { capture: LagCapture }) {
  const { capture_id, report_count, latest_report_status } = capture
  const analysed = useRead(
    ['lag', 'reports', capture_id, report_count, latest_report_status],
    async (client): Promise<Analysed[]> => {
      const reports = await readReports(client, capture)
      return Promise.all(
        reports.slice(0, shownMax).map(async (report) => {
          const params = { report_id: report.report_id }
          const { windows } = await client.lag.windows({ params, query: {} })
          return { report, windows }
        }),
      )
    },
    { keep: true },
  )
  return (
    <Await query={analysed}>
      {(found) =>
        found.length === 0 ? (
          <Card title="Whose lag is it?">
            <Empty>Reports come when devices have uploaded what they recorded.</Empty>
          </Card>
        ) : (
          <SideBySide capture={capture} analysed={found} />
        )
      }
    </Await>
  )
}

function SideBySide({ capture, analysed }: { capture: LagCapture; analysed: readonly Analysed[] }) {
  const players = usePlayers(capture)
  const groups = groupsOf(analysed)
  const [chosen, setChosen] = useState('')
  const group = groups.includes(chosen) ? chosen : (groups[0] ?? '')
  const rows = analysed.map(({ report, windows }) => ({
    report,
    windows: windows.filter(({ key }) => nameOf(key) === group),
  }))
  const axis = axisOf(rows)
  const titles = titlesOf(analysed)
  return (
    <Card title="Whose lag is it?" extra={<Legend />}>
      <div className="stack">
        <label className="filter">
          <span>Messages</span>
          <select value={group} onChange={({ target }) => setChosen(target.value)}>
            {groups.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {rows.map(({ report, windows }, index) => (
          <section key={report.report_id} className="stack-tight" aria-label={titles[index]}>
            <div className="row">
              <h3>
                <PlayerName participant={report.participant} players={players} />
              </h3>
              <Outcome status={report.status} />
            </div>
            <OnePerson report={report} windows={windows} group={group} axis={axis} />
          </section>
        ))}
      </div>
    </Card>
  )
}

function Legend() {
  return (
    <span className="small muted">
      <span className="swatch">mean </span> <span className="swatch swatch-2">p95 </span>{' '}
      <span className="swatch swatch-3">longest </span> spacing of arrivals
    </span>
  )
}

type PersonProps = {
  report: LagReport
  windows: readonly LagWindow[]
  group: string
  axis: Axis
}

function OnePerson({ report, windows, group, axis }: PersonProps) {
  if (report.status === 'pending') return <p className="muted">The analysis is under way.</p>
  if (report.quality === null) return <p className="muted">There is no analysis of it.</p>
  const summary = report.summaries.find(({ key }) => nameOf(key) === group)
  const node = summary && besideOf(summary, report.server)
  return (
    <>
      <VerdictWords verdict={verdictOf(summary, node)} />
      {summary && (
        <>
          <SpacingPlot report={report} windows={windows} axis={axis} />
          <div className="columns">
            <Sides summary={summary} node={node} />
            <Histogram summary={summary} node={node} />
          </div>
        </>
      )}
      <Quality report={report} />
    </>
  )
}

/** The player's side and the node's, number by number. */
function Sides({ summary, node }: { summary: LagSummary; node: LagSummary | undefined }) {
  const rows: readonly [string, (side: LagSummary) => string][] = [
    ['Mean', (side) => spacingText(side.mean_interarrival_us)],
    ['Median', (side) => spacingText(side.p50_interarrival_us)],
    ['95 of 100 within', (side) => spacingText(side.p95_interarrival_us)],
    ['99 of 100 within', (side) => spacingText(side.p99_interarrival_us)],
    ['Longest', (side) => spacingText(side.max_interarrival_us)],
    ['Off an even beat (95 of 100)', (side) => spacingText(side.cadence_residual_p95_us)],
    ['Bytes of bodies', ({ body_bytes }) => grouped(body_bytes)],
  ]
  return (
    <table className="sides">
      <thead>
        <tr>
          <th>Spacing</th>
          <th className="number">at the player</th>
          <th className="number">at the node</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, read]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="number">{read(summary)}</td>
            <td className="number">{node === undefined ? 'unknown' : read(node)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Quality({ report }: { report: LagReport }) {
  const { quality } = report
  if (quality === null) return null
  const words = [
    counted(quality.sample_count, 'record'),
    quality.overwritten_count > 0 && `${grouped(quality.overwritten_count)} older ones overwritten`,
    quality.malformed_count > 0 && `${grouped(quality.malformed_count)} malformed`,
    quality.excluded_count > 0 && `${grouped(quality.excluded_count)} of groups that are not shown`,
    quality.clock_uncertain && 'its place on the axis of time is uncertain',
  ]
  return <p className="small muted">{words.filter(Boolean).join(', ')}.</p>
}

type Key = LagSummary['key']

/** E.g. `kind 100 to the player, reliable`. */
function nameOf({ packet_kind, direction, delivery }: Key): string {
  return `kind ${packet_kind} ${direction === 'inbound' ? 'to' : 'from'} the player, ${delivery}`
}

/** All groups that somebody has: those of most people first, and what came before what was sent. */
function groupsOf(analysed: readonly Analysed[]): string[] {
  const people = new Map<string, number>()
  const keys = analysed.flatMap(({ report }) => report.summaries.map(({ key }) => key))
  const inboundFirst = keys.toSorted((a, b) => a.direction.localeCompare(b.direction))
  for (const name of inboundFirst.map(nameOf)) people.set(name, (people.get(name) ?? 0) + 1)
  return [...people].toSorted(([, a], [, b]) => b - a).map(([name]) => name)
}

/** Of whom a report is; a recording that was analysed again has several. */
function titlesOf(analysed: readonly Analysed[]): string[] {
  const seen = new Map<number, number>()
  return analysed.map(({ report: { participant } }) => {
    const nth = (seen.get(participant) ?? 0) + 1
    seen.set(participant, nth)
    return nth === 1 ? `Participant ${participant}` : `Participant ${participant}, report ${nth}`
  })
}
