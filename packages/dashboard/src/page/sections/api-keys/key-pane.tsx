import type { ApiKey } from '@guildhall/contract'
import { useState } from 'react'
import { useChange } from '../../data/changes.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { Facts, Pane } from '../../kit/page.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { Text } from '../../kit/text/text.tsx'
import { ExactTime } from '../../kit/text/time.tsx'
import { KeyStatus } from './key-status.tsx'

type KeyPaneProps = { apiKey: ApiKey; onSecret(secret: string): void; onClose(): void }

export function KeyPane({ apiKey, onSecret, onClose }: KeyPaneProps) {
  const { id, name, status, generation } = apiKey
  return (
    <Pane
      title={<Text>{name}</Text>}
      label="API key"
      onClose={onClose}
      actions={status !== 'revoked' && <KeyActions apiKey={apiKey} onSecret={onSecret} />}
    >
      <Facts
        rows={{
          Id: <Copyable what="id">{id}</Copyable>,
          Status: <KeyStatus status={status} />,
          Generation: generation,
          Scopes: (
            <ul>
              {apiKey.scopes.map((scope) => (
                <li key={scope}>{scope}</li>
              ))}
            </ul>
          ),
          Created: <ExactTime at={apiKey.created_at} />,
          Ends: <ExactTime at={apiKey.expires_at} />,
          Revoked: <ExactTime at={apiKey.revoked_at} />,
          'Last used': <ExactTime at={apiKey.last_used_at} />,
        }}
      />
    </Pane>
  )
}

function KeyActions({ apiKey, onSecret }: Pick<KeyPaneProps, 'apiKey' | 'onSecret'>) {
  const [asked, setAsked] = useState<'rotate' | 'revoke'>()
  const { id, name, generation, status } = apiKey
  const input = { params: { id }, body: { generation } }
  const rotate = useChange({
    send: (client, sent: typeof input, idempotencyKey) =>
      client.apiKeys.rotate({ ...sent, idempotencyKey }),
    touches: ['apiKeys'],
    done: `Rotated ${name}`,
  })
  const revoke = useChange({
    send: (client, sent: typeof input, idempotencyKey) =>
      client.apiKeys.revoke({ ...sent, idempotencyKey }),
    touches: ['apiKeys'],
    done: `Revoked ${name}`,
  })
  return (
    <>
      {status === 'active' && (
        <button type="button" onClick={() => setAsked('rotate')}>
          Rotate
        </button>
      )}
      <button type="button" className="danger" onClick={() => setAsked('revoke')}>
        Revoke
      </button>
      {asked === 'rotate' && (
        <Confirm
          title={`Rotate ${name}`}
          action="Rotate"
          run={async () => onSecret((await rotate.mutateAsync(input)).secret)}
          onClose={() => setAsked(undefined)}
        >
          A new secret takes the place of the present one, which stops at once.
        </Confirm>
      )}
      {asked === 'revoke' && (
        <Confirm
          title={`Revoke ${name}`}
          action="Revoke"
          danger={true}
          typed={name}
          run={() => revoke.mutateAsync(input)}
          onClose={() => setAsked(undefined)}
        >
          Whatever uses it is refused from now on, for good.
        </Confirm>
      )}
    </>
  )
}
