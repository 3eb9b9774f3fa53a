import { useEffect, useRef, useState } from 'react'
import { exactTime, grouped } from '../../../model/time.ts'
import { Dialog } from '../../kit/dialog/dialog.tsx'
import { downloadParts } from '../../kit/download.ts'
import { ErrorNote } from '../../kit/error-state.tsx'
import {
  type AuditFilter,
  type Format,
  nothingYet,
  type Progress,
  runExport,
} from './export-run.ts'

const formats: Readonly<Record<Format, { label: string; type: string }>> = {
  jsonl: { label: 'JSON lines, one entry a line', type: 'application/x-ndjson' },
  csv: { label: 'CSV, for spreadsheets', type: 'text/csv' },
}

type ExportProps = { filter: AuditFilter; onClose(): void }

/** Writes all entries that match into a file, however many there are. */
export function ExportDialog({ filter, onClose }: ExportProps) {
  const [format, setFormat] = useState<Format>('jsonl')
  const run = useExportRun(filter, format)
  const { progress, isRunning, error } = run
  const hasBegun = isRunning || progress !== nothingYet
  return (
    <Dialog title="Export the audit trail" onClose={onClose}>
      <div className="dialog-body">
        <p>{filterWords(filter)}</p>
        <FormatChoice format={format} isFixed={hasBegun} onFormat={setFormat} />
        {hasBegun && <ProgressLine progress={progress} />}
        <ErrorNote error={error} />
      </div>
      <div className="dialog-foot">
        {hasBegun && !isRunning && !progress.isWhole && (
          <button type="button" onClick={run.save}>
            Save what was read
          </button>
        )}
        <button type="button" onClick={isRunning ? run.stop : onClose}>
          {isRunning ? 'Stop' : 'Close'}
        </button>
        {!isRunning && !progress.isWhole && (
          <button type="button" className="primary" onClick={run.start}>
            {hasBegun ? 'Go on' : 'Export'}
          </button>
        )}
      </div>
    </Dialog>
  )
}

/** The pages wait as blobs, which the browser keeps on the disk when they grow. */
function useExportRun(filter: AuditFilter, format: Format) {
  const parts = useRef<Blob[]>([])
  const abort = useRef<AbortController>(undefined)
  const [progress, setProgress] = useState<Progress>(nothingYet)
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => () => abort.current?.abort(), [])
  const { type } = formats[format]
  const save = () => downloadParts(`audit.${format}`, parts.current, type)

  const start = async () => {
    const controller = new AbortController()
    abort.current = controller
    setRunning(true)
    setError(null)
    try {
      const { signal } = controller
      let isWhole = false
      const onPage = (text: string, now: Progress) => {
        parts.current.push(new Blob([text], { type }))
        isWhole = now.isWhole
        setProgress(now)
      }
      await runExport({ filter, format, from: progress, signal, onPage })
      if (isWhole) save()
    } catch (failure) {
      const { aborted } = controller.signal
      if (!aborted) setError(failure instanceof Error ? failure : new Error(String(failure)))
    } finally {
      setRunning(false)
    }
  }
  return {
    progress,
    isRunning,
    error,
    start: () => void start(),
    stop: () => abort.current?.abort(),
    save,
  }
}

type ChoiceProps = { format: Format; isFixed: boolean; onFormat(format: Format): void }

function FormatChoice({ format, isFixed, onFormat }: ChoiceProps) {
  return (
    <fieldset className="stack-tight" disabled={isFixed}>
      <legend className="label">Format</legend>
      {Object.entries(formats).map(([name, { label }]) => (
        <label key={name} className="field-check">
          <input
            type="radio"
            name="format"
            checked={format === name}
            onChange={() => onFormat(name as Format)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

function ProgressLine({ progress: { count, oldestUnixMs, isWhole } }: { progress: Progress }) {
  const back = oldestUnixMs === undefined ? '' : `, back to ${exactTime(oldestUnixMs)}`
  return (
    <p role="status">
      {grouped(count)} entries {isWhole ? 'saved' : 'read'}
      {back}.
    </p>
  )
}

function filterWords(filter: AuditFilter): string {
  const names = { actor: 'actor', action: 'action', match_id: 'match' } as const
  const set = Object.entries(names).flatMap(([key, name]) => {
    const value = filter[key as keyof AuditFilter]
    return value === undefined ? [] : [`${name} ${value}`]
  })
  if (set.length === 0) return 'All entries, from the newest to the oldest.'
  return `All entries with ${set.join(' and ')}, from the newest to the oldest.`
}
