import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { serverNow, useNodeStatus } from '../data/node-status.ts'
import { Glyph } from '../kit/glyph.tsx'
import { Badge, type Tone } from '../kit/text/badge.tsx'
import { Text } from '../kit/text/text.tsx'
import { Time } from '../kit/text/time.tsx'
import { useSession } from '../session/session.ts'
import { signOut } from '../session/sign-out.ts'
import { DisplayMenu } from './display-menu.tsx'

const tones: Readonly<Record<string, Tone>> = { healthy: 'ok', degraded: 'warn', unhealthy: 'bad' }

export function TopBar({ onSearch, onHelp }: { onSearch(): void; onHelp(): void }) {
  return (
    <div className="top">
      <button type="button" className="top-search" onClick={onSearch}>
        <Glyph name="search" />
        Search
        <kbd>Ctrl K</kbd>
      </button>
      <span className="grow" />
      <NodeBadge />
      <ThemeButton />
      <OperatorMenu onHelp={onHelp} />
    </div>
  )
}

function NodeBadge() {
  const { data, error } = useNodeStatus()
  if (error !== null) return <Badge tone="bad">unreachable</Badge>
  if (data === undefined) return null
  const { status, node_id, version, backend } = data.status
  return (
    <>
      <span className="top-node muted small">
        <Text>{node_id}</Text> · {version} · {backend}
      </span>
      <Link to="/" title="Health of this node">
        <Badge tone={tones[status] ?? 'none'}>{status}</Badge>
      </Link>
    </>
  )
}

const themes: readonly string[] = ['system', 'light', 'dark']
const themeKey = 'guildhall-theme'

/** Published to plots, which draw with colours that they have read. */
export const themeChanged = 'guildhall-theme-changed'

export function applyStoredTheme(): void {
  applyTheme(localStorage.getItem(themeKey) ?? 'system')
}

function applyTheme(theme: string): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  dispatchEvent(new Event(themeChanged))
}

function ThemeButton() {
  const [theme, setTheme] = useState(localStorage.getItem(themeKey) ?? 'system')
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'
  const choose = () => {
    localStorage.setItem(themeKey, next)
    applyTheme(next)
    setTheme(next)
  }
  return (
    <button type="button" className="quiet icon" onClick={choose} title={`Colours: ${theme}`}>
      <Glyph name="moon" />
      <span className="unseen">
        Colours: {theme}. Change to {next}
      </span>
    </button>
  )
}

function OperatorMenu({ onHelp }: { onHelp(): void }) {
  const operator = useSession()
  if (operator === undefined) return null
  return (
    <div>
      <button type="button" className="quiet anchor-operator" popoverTarget="operator">
        <Glyph name="person" />
        <span className="one-line top-operator">
          <Text>{operator.username}</Text>
        </span>
        <Glyph name="down" />
      </button>
      <div id="operator" className="menu menu-operator" popover="auto">
        <p className="menu-words">
          <Text>{operator.username}</Text> <Badge>{operator.role}</Badge>
        </p>
        <p className="menu-words muted small">
          Session ends <Time at={operator.endsAtUnixMs - Date.now() + serverNow()} />
        </p>
        <button
          type="button"
          onClick={() => {
            document.getElementById('operator')?.hidePopover()
            onHelp()
          }}
        >
          Keys
        </button>
        <DisplayMenu />
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </div>
  )
}
