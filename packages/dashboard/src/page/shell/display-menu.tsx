import { choose, type DisplayName, displayChoices, useDisplay } from '../data/display.ts'

const labels: Readonly<Record<DisplayName, string>> = { zone: 'Times', density: 'Rows' }

/** The clock that times are shown by, and how close rows stand. */
export function DisplayMenu() {
  return (
    <>
      <Choice name="zone" />
      <Choice name="density" />
    </>
  )
}

function Choice({ name }: { name: DisplayName }) {
  const current = useDisplay(name)
  return (
    <fieldset className="choices menu-words">
      <legend className="small muted">{labels[name]}</legend>
      {displayChoices[name].map((choice) => (
        <button
          key={choice}
          type="button"
          className="tiny"
          aria-pressed={choice === current}
          onClick={() => choose(name, choice)}
        >
          {choice}
        </button>
      ))}
    </fieldset>
  )
}
