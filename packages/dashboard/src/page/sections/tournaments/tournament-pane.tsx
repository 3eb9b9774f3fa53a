import { api, type Tournament, type TournamentState } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../data/changes.ts'
import { pace } from '../../data/pace.ts'
import { useMay } from '../../data/permissions.ts'
import { useRead } from '../../data/reads.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { Facts, Pane } from '../../kit/page.tsx'
import { Await } from '../../kit/states.tsx'
import { Text } from '../../kit/text/text.tsx'
import { ExactTime } from '../../kit/text/time.tsx'
import { Entries, Results } from './entrants.tsx'
import { StateDiagram } from './state-diagram.tsx'
import { isOverdue } from './tournament-state.tsx'

export function TournamentPane({ id, onClose }: { id: string; onClose(): void }) {
  const tournament = useRead(
    ['tournaments', 'one', id],
    (client) => client.tournaments.get({ params: { id } }),
    { everyMs: pace.calm },
  )
  const { data } = tournament
  return (
    <Pane
      title={<Text>{id}</Text>}
      label="Tournament"
      onClose={onClose}
      actions={data && <Steps tournament={data} />}
    >
      <Await query={tournament}>
        {(found) => (
          <>
            {isOverdue(found) && <Overdue />}
            <StateDiagram state={found.state} />
            <Times tournament={found} />
            <Entries id={id} />
            <Results id={id} state={found.state} />
          </>
        )}
      </Await>
    </Pane>
  )
}

function Overdue() {
  return (
    <p className="note-box" data-tone="warn" role="status">
      Its end is past, and it was never started. It stays as it is until it is started, which ends
      it at once, or cancelled.
    </p>
  )
}

function Times({ tournament }: { tournament: Tournament }) {
  const { leaderboard_id } = tournament
  return (
    <Facts
      rows={{
        Board: (
          <Link to="/leaderboards/$id" params={{ id: leaderboard_id }}>
            <Text>{leaderboard_id}</Text>
          </Link>
        ),
        'Registration opens': <ExactTime at={tournament.registration_opens_at_unix_ms} />,
        'Registration closes': <ExactTime at={tournament.registration_closes_at_unix_ms} />,
        Starts: <ExactTime at={tournament.starts_at_unix_ms} />,
        Ends: <ExactTime at={tournament.ends_at_unix_ms} />,
        'Ranked as of': <ExactTime at={tournament.settled_epoch_due_at_unix_ms} />,
        Changed: <ExactTime at={tournament.updated_at_unix_ms} />,
      }}
    />
  )
}

/** The edges that operators may take. */
const steps: Readonly<Partial<Record<TournamentState, readonly TournamentState[]>>> = {
  draft: ['registration_open', 'cancelled'],
  registration_open: ['running', 'cancelled'],
  running: ['cancelled'],
}

const words: Readonly<Partial<Record<TournamentState, string>>> = {
  registration_open: 'Open registration',
  running: 'Start',
  cancelled: 'Cancel it',
}

function Steps({ tournament }: { tournament: Tournament }) {
  const [asked, setAsked] = useState<TournamentState>()
  const mayMove = useMay(api.tournaments.transition)
  const { id, state } = tournament
  const move = useChange({
    send: (client, state: TournamentState, idempotencyKey) =>
      client.tournaments.transition({ params: { id }, body: { state }, idempotencyKey }),
    touches: ['tournaments'],
    done: ({ state }) => `${id} is ${state.replaceAll('_', ' ')}`,
  })
  if (!mayMove) return null
  return (
    <>
      {steps[state]?.map((next) => (
        <button
          key={next}
          type="button"
          className={next === 'cancelled' ? 'danger' : ''}
          onClick={() => setAsked(next)}
        >
          {words[next]}
        </button>
      ))}
      {asked && (
        <Confirm
          title={`${words[asked]}: ${id}`}
          action={words[asked] ?? ''}
          danger={asked === 'cancelled'}
          typed={asked === 'cancelled' ? id : undefined}
          run={() => move.mutateAsync(asked)}
          onClose={() => setAsked(undefined)}
        >
          {asked === 'cancelled'
            ? 'A cancelled tournament stays cancelled.'
            : 'There is no way back to the state before.'}
        </Confirm>
      )}
    </>
  )
}
