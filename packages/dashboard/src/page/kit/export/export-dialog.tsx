import { useEffect, useRef, useState } from 'react'
import { grouped } from '../../../model/time.ts'
import { readNames } from '../../data/names.ts'
import { Dialog } from '../dialog/dialog.tsx'
import { downloadParts } from '../download.ts'
import { ErrorNote } from '../error-state.tsx'
import { type Exported, type Format, nothingYet, type Progress, runExport } from './export-run.ts'

const formats: Readonly<Record<Format, { label(row: string): string; type: string }>> = {
  jsonl: { label: (row) => `JSON lines, one ${row} a line`, type: 'application/x-ndjson' },
  csv: { label: () => 'CSV, for spreadsheets', type: 'text/csv' },
}

type ExportProps<Row> = { exported: Exported<Row>; onClose(): void }

/** Writes all rows of a list into a file, however many there are. */
function ExportDialog<Row extends object>({ exported, onClose }: ExportProps<Row>) {
  const [format, setFormat] = useState<Format>('jsonl')
  const run = useExportRun(exported, format)
  const { progress, isRunning, error } = run
  const hasBegun = isRunning || progress !== nothingYet
  const { noun, words } = exported
  return (
    <Dialog title={`Export ${noun[1]}`} onClose={onClose}>
      <div className="dialog-body">
        <p>{words}</p>
        <FormatChoice format={format} noun={noun} isFixed={hasBegun} onFormat={setFormat} />
        {hasBegun && <ProgressLine progress={progress} noun={noun} />}
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

type ButtonProps<Row> = { exported: Exported<Row>; isTiny?: boolean }

/** What opens the dialog. */
export function ExportButton<Row extends object>({ exported, isTiny = false }: ButtonProps<Row>) {
  // What is written is what was shown when it was asked for.
  const [asked, setAsked] = useState<Exported<Row>>()
  return (
    <>
      <button
        type="button"
        {...(isTiny ? { className: 'tiny' } : {})}
        // A page may have several.
        aria-label={`Export ${exported.noun[1]}`}
        onClick={() => setAsked(exported)}
      >
        Export
      </button>
      {asked && <ExportDialog exported={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

/** The pages wait as blobs, which the browser keeps on the disk when they grow. */
function useExportRun<Row extends object>(exported: Exported<Row>, format: Format) {
  const parts = useRef<Blob[]>([])
  const abort = useRef<AbortController>(undefined)
  const [progress, setProgress] = useState<Progress>(nothingYet)
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => () => abort.current?.abort(), [])
  const { type } = formats[format]
  const save = () => downloadParts(`${exported.file}.${format}`, parts.current, type)

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
      await runExport({ exported, format, namesOf: readNames, from: progress, signal, onPage })
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

type Noun = Exported<unknown>['noun']

type ChoiceProps = {
  format: Format
  noun: Noun
  isFixed: boolean
  onFormat(format: Format): void
}

function FormatChoice({ format, noun, isFixed, onFormat }: ChoiceProps) {
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
          {label(noun[0])}
        </label>
      ))}
    </fieldset>
  )
}

function ProgressLine({ progress, noun }: { progress: Progress; noun: Noun }) {
  const { count, repeated, reached, isWhole } = progress
  return (
    <p role="status">
      {grouped(count)} {noun[count === 1 ? 0 : 1]} {isWhole ? 'saved' : 'read'}
      {reached && `, ${reached}`}.
      {repeated > 0 &&
        ` The list moved meanwhile: ${grouped(repeated)} came twice and stand once, and as many ` +
          'may be missing or out of place.'}
    </p>
  )
}
