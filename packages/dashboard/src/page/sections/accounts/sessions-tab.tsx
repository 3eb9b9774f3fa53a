import { type AccountDetail, api, type SessionRow } from '@guildhall/contract'
import { useState } from 'react'
import { grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { useMay } from '../../data/permissions.ts'
import { nextOffset, usePages } from '../../data/reads.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { Card } from '../../kit/page.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { None } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

const columns: readonly Column<SessionRow>[] = [
  { key: 'id', head: 'Session', cell: ({ id }) => <Copyable what="id">{id}</Copyable> },
  {
    key: 'created',
    medium: true,
    head: 'Signed in',
    width: 120,
    cell: ({ created_at_unix_ms }) => <Time at={created_at_unix_ms} />,
  },
  {
    key: 'access',
    head: 'Access token ends',
    width: 150,
    wide: true,
    cell: ({ access_expires_at_unix_ms }) => <Time at={access_expires_at_unix_ms} />,
  },
  {
    key: 'refresh',
    medium: true,
    head: 'Session ends',
    width: 120,
    cell: ({ refresh_expires_at_unix_ms }) => <Time at={refresh_expires_at_unix_ms} />,
  },
  {
    key: 'connected',
    head: 'On this node',
    width: 120,
    cell: ({ connected }) => (connected ? <Badge tone="ok">connected</Badge> : <None>no</None>),
  },
]

/** The live sessions of an account: where its player is signed in. */
export function SessionsTab({ account }: { account: AccountDetail }) {
  const { id } = account
  const mayEnd = useMay(api.consoleSessions.revoke)
  const [asked, setAsked] = useState<SessionRow | 'all'>()
  const listing = usePages(['sessions', id], async (client, offset?: number) => {
    const query = { limit: 200, offset: offset ?? 0 }
    const page = await client.consoleSessions.list({ params: { id }, query })
    return { ...page, next: nextOffset(offset, page) }
  })
  const ending: Column<SessionRow> = {
    key: 'end',
    head: '',
    width: 70,
    cell: (session) => (
      <button type="button" className="tiny" onClick={() => setAsked(session)}>
        End
      </button>
    ),
  }
  const close = () => setAsked(undefined)
  return (
    <Card
      title="Live sessions"
      extra={
        mayEnd &&
        listing.rows.length > 0 && (
          <button type="button" className="tiny danger" onClick={() => setAsked('all')}>
            End all
          </button>
        )
      }
    >
      <DataTable
        label="Live sessions"
        columns={mayEnd ? [...columns, ending] : columns}
        listing={listing}
        rowKey={(session) => session.id}
        empty={<None>The player is signed in nowhere.</None>}
        inline={true}
      />
      {asked === 'all' && <EndAll account={account} count={listing.total} onClose={close} />}
      {asked !== undefined && asked !== 'all' && (
        <EndOne account={account} session={asked} onClose={close} />
      )}
    </Card>
  )
}

type EndOneProps = { account: AccountDetail; session: SessionRow; onClose(): void }

function EndOne({ account, session, onClose }: EndOneProps) {
  const { id, username } = account
  const change = useChange({
    send: (client, session_id: string, idempotencyKey) =>
      client.consoleSessions.revoke({ params: { id, session_id }, idempotencyKey }),
    touches: ['sessions'],
    done: ({ sessions_revoked }) =>
      sessions_revoked > 0 ? 'The session is ended' : 'The session had ended already',
  })
  return (
    <Confirm
      title={`End a session of ${username}`}
      action="End"
      danger={true}
      run={() => change.mutateAsync(session.id)}
      onClose={onClose}
    >
      Its tokens stop at once, on every node, and its connections are closed. The player may sign in
      again.
    </Confirm>
  )
}

type EndAllProps = { account: AccountDetail; count: number | undefined; onClose(): void }

function EndAll({ account, count = 0, onClose }: EndAllProps) {
  const change = useChange({
    send: (client, id: string, idempotencyKey) =>
      client.consoleSessions.revokeAll({ params: { id }, idempotencyKey }),
    touches: ['sessions'],
    done: ({ sessions_revoked }) => `Sessions ended: ${grouped(sessions_revoked)}`,
  })
  return (
    <Confirm
      title={`End all ${grouped(count)} sessions of ${account.username}`}
      action="End all"
      danger={true}
      typed={account.username}
      run={() => change.mutateAsync(account.id)}
      onClose={onClose}
    >
      All tokens of the account stop at once, on every node, and its connections are closed. The
      player may sign in again; a ban keeps them out.
    </Confirm>
  )
}
