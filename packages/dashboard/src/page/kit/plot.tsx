import { useEffect, useRef, useState } from 'react'
import UPlot from 'uplot'
import { themeChanged } from '../shell/top-bar.tsx'

/** So much of the past is shown, in seconds. */
const spanSec = 300

type Series = { name: string; values: readonly (number | null)[] }

type PlotProps = {
  label: string
  /** Seconds from now, ascending and negative. */
  times: readonly number[]
  series: readonly Series[]
  height?: number
}

/** Lines over the last minutes. What they end in stands as text beside them too. */
export function Plot({ label, times, series, height = 120 }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const theme = useThemeCount()
  const names = series.map(({ name }) => name).join('|')
  useEffect(() => {
    const place = frame.current
    if (place === null || theme < 0) return
    const made = new UPlot(
      optionsOf(names.split('|'), { width: place.clientWidth, height }),
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

function optionsOf(
  names: readonly string[],
  size: { width: number; height: number },
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
      x: { time: false, range: [-spanSec, 0] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.15)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 22,
        splits: () => [-240, -180, -120, -60],
        values: (_plot, at) => at.map((seconds) => `${-seconds / 60} min`),
      },
      { ...axis, grid, size: 42, space: 30 },
    ],
    series: [
      {},
      ...names.map((label, index) => ({
        label,
        stroke: colour(`--plot-${index + 1}`),
        width: 1.5,
        points: { show: false },
      })),
    ],
  }
  probe.remove()
  return options
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
