import {
  type HistoryMark,
  type HistoryRange,
  historyRanges,
  useHistoryRange,
} from '../data/history.ts'
import { Text } from './text/text.tsx'
import { Time } from './text/time.tsx'

const names = Object.keys(historyRanges) as HistoryRange[]

/** How far back the plots below go, and in words what their upright lines stand for. */
export function RangeBar({ marks }: { marks: readonly HistoryMark[] }) {
  const [range, setRange] = useHistoryRange()
  return (
    <div className="range-bar">
      <fieldset className="choices">
        <legend className="unseen">How far back the plots go</legend>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            className="tiny"
            aria-pressed={name === range}
            onClick={() => setRange(name)}
          >
            {historyRanges[name].words}
          </button>
        ))}
      </fieldset>
      <ul className="marks" aria-label="Marks in the plots">
        {marks.slice(-marksShown).map((mark) => (
          <li key={`${mark.at_unix_ms} ${mark.text}`} className={`mark mark-${mark.kind}`}>
            <Text>{mark.text}</Text> <Time at={mark.at_unix_ms} />
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The newest ones in words; all stand in the plots. */
const marksShown = 3
