import { useEffect, useRef, useState } from 'react'
import UPlot from 'uplot'
import { themeChanged } from '../shell/top-bar.tsx'

/** So much of the past is shown, in seconds: whole minutes, as there are readings. */
const [spanMinSec, spanMaxSec] = [60, 300]

type Series = { name: string; values: readonly (number | null)[] }

type PlotProps = {
  label: string
  /** Seconds from now, ascending and negative. */
  times: readonly number[]
  series: readonly Series[]
  height?: number
}

/** Lines over the last minutes. What they end in stands as text beside them too. */
export function Plot({ label, times, series, height = 96 }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const span = useRef(spanMinSec)
  span.current = spanOf(times)
  const theme = useThemeCount()
  const names = series.map(({ name }) => name).join('|')
  useEffect(() => {
    const place = frame.current
    if (place === null || theme < 0) return
    const made = new UPlot(
      optionsOf(names.split('|'), { width: place.clientWidth, height }, () => span.current),
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
  }, [names, height, theme])
  useEffect(() => {
    plot.current?.setData([[...times], ...series.map(({ values }) => [...values])])
  })
  return <div ref={frame} className="plot" role="img" aria-label={`${label}: ${names}`} />
}

function spanOf(times: readonly number[]): number {
  const minutes = Math.ceil(-(times[0] ?? 0) / 60)
  return Math.min(spanMaxSec, Math.max(spanMinSec, minutes * 60))
}

function optionsOf(
  names: readonly string[],
  size: { width: number; height: number },
  spanSec: () => number,
): UPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const probe = document.createElement('span')
  document.body.append(probe)
  const colour = (name: string) => {
    probe.style.color = style.getPropertyValue(name)
    return getComputedStyle(probe).color
  }
  const axis = { stroke: colour('--muted'), font: '11px sans-serif', ticks: { show: false } }
  const grid = { stroke: colour('--plot-grid'), width: 1 }
  const options: UPlot.Options = {
    ...size,
    padding: [6, 4, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: () => [-spanSec(), 0] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.15)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 18,
        gap: 2,
        splits: () => [0.8, 0.6, 0.4, 0.2].map((part) => -spanSec() * part),
        values: (_plot, at) => at.map(agoOf),
      },
      { ...axis, grid, size: 40, space: 24 },
    ],
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

function agoOf(seconds: number): string {
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
