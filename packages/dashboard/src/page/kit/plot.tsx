import { useEffect, useRef, useState } from 'react'
import UPlot from 'uplot'
import type { Past } from '../data/history.ts'
import { themeChanged } from '../shell/top-bar.tsx'

type Series = { name: string; values: readonly (number | null)[] }

type PlotProps = {
  label: string
  /** The readings that the series have values of, what happened meanwhile, and how far it goes. */
  past: Past
  series: readonly Series[]
  height?: number
}

/** Lines over the past. What they end in stands as text beside them too. */
export function Plot({ label, past, series, height = 96 }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const { spanSec } = past
  const lastSec = past.samples.at(-1)?.atSec ?? 0
  const marks = useRef<readonly number[]>([])
  marks.current = past.marks.map(({ at_unix_ms }) => at_unix_ms / 1000 - lastSec)
  const theme = useThemeCount()
  const names = series.map(({ name }) => name).join('|')
  useEffect(() => {
    const place = frame.current
    if (place === null || theme < 0) return
    const made = new UPlot(
      optionsOf(
        names.split('|'),
        { width: place.clientWidth, height, spanSec },
        () => marks.current,
      ),
      [[]],
      place,
    )
    plot.current = made
    const observer = new ResizeObserver(() => {
      made.setSize({ width: place.clientWidth, height })
    })
    observer.observe(place)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [names, height, spanSec, theme])
  useEffect(() => {
    const times = past.samples.map(({ atSec }) => atSec - lastSec)
    plot.current?.setData([times, ...series.map(({ values }) => [...values])])
  })
  return <div ref={frame} className="plot" role="img" aria-label={`${label}: ${names}`} />
}

function optionsOf(
  names: readonly string[],
  { spanSec, ...size }: { width: number; height: number; spanSec: number },
  marks: () => readonly number[],
): UPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const probe = document.createElement('span')
  document.body.append(probe)
  const colour = (name: string) => {
    probe.style.color = style.getPropertyValue(name)
    return getComputedStyle(probe).color
  }
  const axis = { stroke: colour('--muted'), font: '11px sans-serif', ticks: { show: false } }
  // Asked for now: the probe is gone when the lines are drawn.
  const markColour = colour('--plot-mark')
  const grid = { stroke: colour('--plot-grid'), width: 1 }
  const options: UPlot.Options = {
    ...size,
    padding: [6, 4, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: () => [-spanSec, 0] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.15)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 18,
        gap: 2,
        splits: () => [0.8, 0.6, 0.4, 0.2].map((part) => -spanSec * part),
        values: (_plot, at) => at.map(agoOf),
      },
      { ...axis, grid, size: 40, space: 24 },
    ],
    hooks: { drawAxes: [(plot) => drawMarks(plot, marks(), markColour)] },
    series: [
      {},
      ...names.map((label, index) => ({
        label,
        stroke: colour(`--plot-${index + 1}`),
        width: 1.5,
        // Two lines of the same values are both seen.
        ...(index === 0 ? {} : { dash: [4, 3] }),
        points: { show: false },
      })),
    ],
  }
  probe.remove()
  return options
}

/** Upright lines behind the others. */
function drawMarks(plot: UPlot, marks: readonly number[], colour: string): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.strokeStyle = colour
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([2 * devicePixelRatio, 2 * devicePixelRatio])
  for (const mark of marks) {
    const x = Math.round(plot.valToPos(mark, 'x', true))
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

function agoOf(seconds: number): string {
  const hours = -seconds / 3600
  if (hours >= 2) return `${Math.round(hours * 10) / 10} h`
  return seconds % 60 === 0 ? `${-seconds / 60} min` : `${-seconds} s`
}

function useThemeCount(): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const change = () => setCount((before) => before + 1)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    addEventListener(themeChanged, change)
    dark.addEventListener('change', change)
    return () => {
      removeEventListener(themeChanged, change)
      dark.removeEventListener('change', change)
    }
  }, [])
  return count
}
