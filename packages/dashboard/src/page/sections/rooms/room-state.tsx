import type { ConsoleClient } from '@guildhall/client/console'
import { useState } from 'react'
import { grouped } from '../../../model/time.ts'
import { pace } from '../../data/pace.ts'
import { useRead } from '../../data/reads.ts'
import { isMissing } from '../../kit/error-state.tsx'
import { Await } from '../../kit/states.tsx'
import { JsonView } from '../../kit/text/json-view.tsx'
import { Time } from '../../kit/text/time.tsx'

/** The state of a room as a tree that follows, for those who ask: it may be large. */
export function RoomState({ id }: { id: string }) {
  const [isShown, setShown] = useState(false)
  const read = (client: ConsoleClient) => stateOf(client, id)
  const state = useRead(['matches', 'state', id], read, { everyMs: pace.state, enabled: isShown })
  if (!isShown) {
    return (
      <button type="button" onClick={() => setShown(true)}>
        Show its state
      </button>
    )
  }
  return (
    <Await query={state}>
      {(found) =>
        found === null ? (
          <p className="muted">It is a room without state.</p>
        ) : (
          <>
            <JsonView value={found.state} label="State" />
            <p className="small muted">
              handed over <Time at={found.checkpoint_at_unix_ms} /> behind {grouped(found.seq)}{' '}
              syncs
            </p>
          </>
        )
      }
    </Await>
  )
}

async function stateOf(client: ConsoleClient, id: string) {
  try {
    return await client.matches.state({ params: { id } })
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}
