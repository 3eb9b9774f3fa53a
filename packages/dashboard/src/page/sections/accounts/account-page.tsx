import { type AccountDetail, api } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../data/changes.ts'
import { call } from '../../data/console-client.ts'
import { usePathPart, useQueryPart } from '../../data/location.ts'
import { useMay } from '../../data/permissions.ts'
import { type ReadWith, useRead } from '../../data/reads.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { toast } from '../../kit/dialog/toasts.tsx'
import { downloadJson } from '../../kit/download.ts'
import { isMissing } from '../../kit/error-state.tsx'
import { Page } from '../../kit/page.tsx'
import { Await } from '../../kit/states.tsx'
import { Tabs } from '../../kit/tabs.tsx'
import { Text } from '../../kit/text/text.tsx'
import { StartCaptureButton } from '../lag/start-capture.tsx'
import { EditAccount } from './account-forms.tsx'
import { AccountProfile } from './account-profile.tsx'
import { AccountState } from './account-state.tsx'
import { FriendsTab } from './friends-tab.tsx'
import { ChatTab, GroupsTab, NotificationsTab, PurchasesTab, StorageTab } from './related-tabs.tsx'
import { SessionsTab } from './sessions-tab.tsx'
import { StoryTab } from './story-tab.tsx'
import { WalletTab } from './wallet-tab.tsx'

const tabs = [
  ['profile', 'Profile'],
  ['story', 'Story'],
  ['wallet', 'Wallet'],
  ['friends', 'Friends'],
  ['groups', 'Groups'],
  ['objects', 'Objects'],
  ['notifications', 'Notifications'],
  ['chat', 'Chat'],
  ['purchases', 'Purchases'],
  ['sessions', 'Sessions'],
] as const

export function AccountPage() {
  const id = usePathPart('id') ?? ''
  // A dialog about one account is never answered for another.
  return <OneAccount key={id} id={id} />
}

function OneAccount({ id }: { id: string }) {
  const [tab] = useQueryPart('tab')
  const account = useRead(['accounts', 'one', id], (client) =>
    client.consoleAccounts.get({ params: { id } }),
  )
  const { data, error } = account
  const isUnknown = isMissing(error)
  const name = data?.username ?? 'Account'
  return (
    <Page
      title={name}
      head={<Head account={data} missing={isUnknown ? id : undefined} />}
      actions={data && <AccountActions account={data} />}
    >
      {(data !== undefined || !isUnknown) && <Tabs label="Parts of the account" tabs={tabs} />}
      <div className="page-scroll">
        <Await query={account}>{(found) => <Tab account={found} read={account} tab={tab} />}</Await>
      </div>
    </Page>
  )
}

type HeadProps = { account: AccountDetail | undefined; missing: string | undefined }

/** What is not there is called by the id that was asked for. */
function Head({ account, missing }: HeadProps) {
  return (
    <span className="row">
      <Link to="/accounts">Accounts</Link>
      <span className="muted">/</span>
      <Text>{account?.username ?? missing ?? ''}</Text>
      {account && <AccountState state={account.state} />}
    </span>
  )
}

type TabProps = { account: AccountDetail; read: ReadWith; tab: string }

function Tab({ account, read, tab }: TabProps) {
  const { id } = account
  switch (tab) {
    case 'story':
      return <StoryTab account={account} />
    case 'wallet':
      return <WalletTab account={account} />
    case 'friends':
      return <FriendsTab account={account} />
    case 'groups':
      return <GroupsTab id={id} />
    case 'objects':
      return <StorageTab id={id} />
    case 'notifications':
      return <NotificationsTab id={id} />
    case 'chat':
      return <ChatTab id={id} />
    case 'purchases':
      return <PurchasesTab id={id} />
    case 'sessions':
      return <SessionsTab account={account} />
    default:
      return <AccountProfile account={account} read={read} />
  }
}

type Asked = 'edit' | 'ban' | 'unban' | 'delete'

function AccountActions({ account }: { account: AccountDetail }) {
  const [asked, setAsked] = useState<Asked>()
  const close = () => setAsked(undefined)
  return (
    <div className="row">
      <AccountButtons account={account} onAsk={setAsked} />
      {asked === 'edit' && <EditAccount account={account} onClose={close} />}
      {asked !== undefined && asked !== 'edit' && (
        <AccountQuestion account={account} asked={asked} onClose={close} />
      )}
    </div>
  )
}

function AccountButtons({ account, onAsk }: { account: AccountDetail; onAsk(asked: Asked): void }) {
  const mayChange = useMay(api.consoleAccounts.update)
  const mayRecord = useMay(api.runtime.rpc)
  const { id, username, state } = account
  const exportAll = async () => {
    try {
      const all = await call((client) => client.consoleAccounts.export({ params: { id } }))
      downloadJson(`account-${id}.json`, all)
    } catch {
      toast('The export failed.', 'bad')
    }
  }
  return (
    <>
      <button type="button" onClick={() => void exportAll()}>
        Export
      </button>
      {mayRecord && state === 'active' && (
        <StartCaptureButton whom={{ user_ids: [id], name: username }} />
      )}
      {mayChange && (
        <button type="button" onClick={() => onAsk('edit')}>
          Edit
        </button>
      )}
      {mayChange && state === 'active' && (
        <button type="button" className="danger" onClick={() => onAsk('ban')}>
          Ban
        </button>
      )}
      {mayChange && state === 'disabled' && (
        <button type="button" onClick={() => onAsk('unban')}>
          Unban
        </button>
      )}
      {mayChange && state !== 'tombstoned' && (
        <button type="button" className="danger" onClick={() => onAsk('delete')}>
          Delete
        </button>
      )}
    </>
  )
}

const questions = {
  ban: {
    action: 'Ban',
    words: 'Its sessions end at once, and it cannot sign in until it is unbanned.',
    done: 'Banned',
  },
  unban: {
    action: 'Unban',
    words: 'It can sign in again.',
    done: 'Unbanned',
  },
  delete: {
    action: 'Delete',
    words:
      'Its credentials are unlinked and its sessions end, for good. The record stays to be read, ' +
      'and its username stays taken. Wallet, friends, groups and objects stay.',
    done: 'Deleted',
  },
} as const

type QuestionProps = { account: AccountDetail; asked: keyof typeof questions; onClose(): void }

function AccountQuestion({ account, asked, onClose }: QuestionProps) {
  const { action, words, done } = questions[asked]
  const change = useChange({
    send: async (client, id: string, idempotencyKey): Promise<unknown> =>
      client.consoleAccounts[asked]({ params: { id }, idempotencyKey }),
    touches: ['accounts', 'wallet', 'friends', 'sessions'],
    done: `${done} ${account.username}`,
  })
  return (
    <Confirm
      title={`${action} ${account.username}`}
      action={action}
      danger={asked !== 'unban'}
      typed={asked === 'delete' ? account.username : undefined}
      run={() => change.mutateAsync(account.id)}
      onClose={onClose}
    >
      {words}
    </Confirm>
  )
}
