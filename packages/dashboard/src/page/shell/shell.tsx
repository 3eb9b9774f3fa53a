import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useNodeStatus } from '../data/node-status.ts'
import { mayNow } from '../data/permissions.ts'
import { useFailureWatch, useScriptFailures, useSeenFailures } from '../data/script-failures.ts'
import { Toasts } from '../kit/dialog/toasts.tsx'
import { Glyph } from '../kit/glyph.tsx'
import { Page } from '../kit/page.tsx'
import { Empty } from '../kit/states.tsx'
import { Badge } from '../kit/text/badge.tsx'
import { useSession } from '../session/session.ts'
import { SignInAgain, SignInPage } from '../session/sign-in.tsx'
import { HelpDialog } from './help.tsx'
import { useKeys } from './keys.ts'
import { Palette } from './palette.tsx'
import { sectionGroups, sections } from './sections.ts'
import { TopBar } from './top-bar.tsx'

/** What stands around every view. */
export function Shell() {
  const signedIn = useSession()
  const [shown, setShown] = useState<'palette' | 'help'>()
  useKeys({ k: () => setShown('palette'), '?': () => setShown('help') }, signedIn !== undefined)
  if (signedIn === undefined) return <SignInPage />
  return (
    <>
      <div className="shell">
        <a className="skip" href="#main">
          Skip the menu
        </a>
        <header className="head">
          <div className="brand">
            <button type="button" className="quiet icon nav-open" popoverTarget="nav">
              <Glyph name="menu" />
              <span className="unseen">Menu</span>
            </button>
            <Link to="/">
              <span className="brand-mark">
                <Glyph name="door" />
              </span>
              <span className="brand-name">Guildhall</span>
            </Link>
          </div>
          <TopBar onSearch={() => setShown('palette')} onHelp={() => setShown('help')} />
        </header>
        <Menu />
        <main id="main" className="main" tabIndex={-1}>
          <NodeNotice />
          <View />
        </main>
      </div>
      {shown === 'palette' && <Palette onClose={() => setShown(undefined)} />}
      {shown === 'help' && <HelpDialog onClose={() => setShown(undefined)} />}
      {signedIn.expired && <SignInAgain />}
      <Toasts />
    </>
  )
}

/** The view of the address; links from elsewhere may lead to one that is not for everybody. */
function View() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const section = sections.find((one) => `${path}/`.startsWith(`${one.path}/`))
  if (section === undefined || mayNow(section.reads)) return <Outlet />
  return (
    <Page title={section.label}>
      <Empty title="Not allowed">Your role does not allow this section.</Empty>
    </Page>
  )
}

/** Beside the section of the script: how many failures nobody has looked at in this browser. */
function NewFailures() {
  useFailureWatch()
  const failures = useScriptFailures()
  const seenUnixMs = useSeenFailures()
  const count = failures.data?.items.filter((one) => one.last_at_unix_ms > seenUnixMs).length ?? 0
  return count === 0 ? null : <Badge tone="bad">{`${count} new`}</Badge>
}

function Menu() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(() => {
    // On a narrow page the menu lies over what was chosen.
    const menu = document.getElementById('nav')
    if (path && menu?.matches(':popover-open')) menu.hidePopover()
  }, [path])
  return (
    <nav id="nav" className="nav" aria-label="Sections" {...usePopoverWhenNarrow()}>
      {Object.entries(sectionGroups).map(([group, all]) => {
        const own = all.filter(({ reads }) => mayNow(reads))
        if (own.length === 0) return null
        return (
          <section key={group} aria-label={group}>
            <h2>{group}</h2>
            {own.map(({ path: to, label, glyph }) => (
              <Link
                key={to}
                to={to}
                activeOptions={{ exact: to === '/', includeSearch: false }}
                activeProps={{ 'aria-current': 'page' }}
              >
                <Glyph name={glyph} />
                <span className="nav-label">{label}</span>
                {to === '/runtime' && <NewFailures />}
              </Link>
            ))}
          </section>
        )
      })}
    </nav>
  )
}

const narrow = matchMedia('(max-width: 799px)')

/** As wide as there is room the menu is a part of the page; else it opens over it. */
function usePopoverWhenNarrow(): { popover?: 'auto' } {
  const [isNarrow, setNarrow] = useState(narrow.matches)
  useEffect(() => {
    const changed = () => setNarrow(narrow.matches)
    narrow.addEventListener('change', changed)
    return () => narrow.removeEventListener('change', changed)
  }, [])
  return isNarrow ? { popover: 'auto' } : {}
}

let firstVersion: string | undefined

/** Says when the node is gone, or is another version than the one that this page came from. */
function NodeNotice() {
  const { data, error } = useNodeStatus()
  const version = data?.status.version
  firstVersion ??= version
  if (error !== null) {
    return (
      <div className="notice-bar" role="status">
        <Badge tone="bad">no connection</Badge>
        The node does not answer. What you see may be out of date.
      </div>
    )
  }
  if (version === undefined || version === firstVersion) return null
  return (
    <div className="notice-bar" role="status">
      The node runs version {version} now, this page is of {firstVersion}.
      <button type="button" className="tiny" onClick={() => location.reload()}>
        Load the page anew
      </button>
    </div>
  )
}
