import { type ImportMode, importModes } from '@guildhall/contract'
import { useEffect, useId, useRef, useState } from 'react'
import { counted, grouped } from '../../../model/time.ts'
import { queries } from '../../data/console-client.ts'
import { Dialog } from '../../kit/dialog/dialog.tsx'
import { ErrorNote } from '../../kit/error-state.tsx'
import { nothingYet, type Progress, runImport } from './import-run.ts'

const modeWords: Readonly<Record<ImportMode, string>> = {
  refuse: 'is refused',
  keep: 'stays as it is',
  replace: 'is replaced',
}

/** Stores the objects of a file, after a dry run that says what would become of each. */
export function ImportDialog({ onClose }: { onClose(): void }) {
  const [file, setFile] = useState<File>()
  const [existing, setExisting] = useState<ImportMode>('refuse')
  const check = useRun(true)
  const store = useRun(false)
  const { isRunning } = store.progress === nothingYet ? check : store
  const isChecked = check.isWhole && check.progress.refused === 0 && check.progress.line > 0
  const forget = () => {
    check.forget()
    store.forget()
  }
  return (
    <Dialog title="Import objects" onClose={onClose}>
      <div className="dialog-body">
        <p>
          A file of JSON lines, one object a line, as an export writes them. It is sent in parts;
          each part is stored whole or not at all. What is there already, the same, stays unchanged.
        </p>
        <FileInput
          isFixed={isRunning || store.progress !== nothingYet}
          onFile={(chosen) => {
            setFile(chosen)
            forget()
          }}
        />
        <ModeChoice
          mode={existing}
          isFixed={isRunning || store.progress !== nothingYet}
          onMode={(mode) => {
            setExisting(mode)
            forget()
          }}
        />
        {check.hasBegun && <Outcome progress={check.progress} isDry={true} />}
        {store.hasBegun && <Outcome progress={store.progress} isDry={false} />}
        <ErrorNote error={store.error ?? check.error} />
      </div>
      <div className="dialog-foot">
        <button type="button" onClick={isRunning ? () => [check, store].map(stop) : onClose}>
          {isRunning ? 'Stop' : 'Close'}
        </button>
        {file !== undefined && !isRunning && !store.isWhole && (
          <>
            {!store.hasBegun && (
              <button type="button" onClick={() => check.start(file, existing)}>
                Dry run
              </button>
            )}
            <button
              type="button"
              className="primary"
              disabled={!isChecked}
              onClick={() => store.start(file, existing)}
            >
              {store.hasBegun ? 'Go on' : 'Import'}
            </button>
          </>
        )}
      </div>
    </Dialog>
  )
}

const stop = (run: ReturnType<typeof useRun>) => run.stop()

function useRun(isDry: boolean) {
  const abort = useRef<AbortController>(undefined)
  const [progress, setProgress] = useState<Progress>(nothingYet)
  const [state, setState] = useState<'still' | 'running' | 'whole'>('still')
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => () => abort.current?.abort(), [])

  const start = async (file: Blob, existing: ImportMode) => {
    const controller = new AbortController()
    abort.current = controller
    const { signal } = controller
    // A dry run begins anew; what was stored is not sent again.
    const from = isDry ? nothingYet : progress
    setProgress(from)
    setState('running')
    setError(null)
    try {
      await runImport({ file, existing, isDry, from, signal, onPart: setProgress })
      setState(signal.aborted ? 'still' : 'whole')
    } catch (failure) {
      setState('still')
      setError(failure instanceof Error ? failure : new Error(String(failure)))
    } finally {
      if (!isDry) void queries.invalidateQueries({ queryKey: ['storage'] })
    }
  }
  return {
    progress,
    error,
    hasBegun: state === 'running' || progress !== nothingYet || state === 'whole',
    isRunning: state === 'running',
    isWhole: state === 'whole',
    start: (file: Blob, existing: ImportMode) => void start(file, existing),
    stop: () => abort.current?.abort(),
    forget() {
      abort.current?.abort()
      setProgress(nothingYet)
      setState('still')
      setError(null)
    },
  }
}

type FileProps = { isFixed: boolean; onFile(file: File | undefined): void }

function FileInput({ isFixed, onFile }: FileProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>File</label>
      <input
        id={id}
        type="file"
        accept=".jsonl,.ndjson,.json"
        disabled={isFixed}
        onChange={({ target }) => onFile(target.files?.[0])}
      />
    </div>
  )
}

type ModeProps = { mode: ImportMode; isFixed: boolean; onMode(mode: ImportMode): void }

function ModeChoice({ mode, isFixed, onMode }: ModeProps) {
  return (
    <fieldset className="stack-tight" disabled={isFixed}>
      <legend className="label">An object that is there and differs</legend>
      {importModes.map((each) => (
        <label key={each} className="field-check">
          <input
            type="radio"
            name="existing"
            checked={mode === each}
            onChange={() => onMode(each)}
          />
          {modeWords[each]}
        </label>
      ))}
    </fieldset>
  )
}

function Outcome({ progress, isDry }: { progress: Progress; isDry: boolean }) {
  const { line, created, replaced, unchanged, kept, refused, complaints } = progress
  const would = isDry ? 'Dry run, up to' : 'Stored, up to'
  const counts = { new: created, replaced, unchanged, kept, refused }
  const words = Object.entries(counts)
    .filter(([name, count]) => count > 0 || name === 'new')
    .map(([name, count]) => `${grouped(count)} ${name}`)
  return (
    <div className="stack-tight">
      <p role="status">
        {would} line {grouped(line)}: {words.join(', ')}.
      </p>
      {complaints.length > 0 && (
        <ul aria-label="Refused lines">
          {complaints.map(({ line, message }) => (
            <li key={line}>
              Line {grouped(line)}: {message}
            </li>
          ))}
        </ul>
      )}
      {refused > complaints.length && (
        <p className="muted">and {counted(refused - complaints.length, 'more line')}</p>
      )}
    </div>
  )
}
