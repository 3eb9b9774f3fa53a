import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useQueryPart } from '../data/location.ts'

type TabsProps = {
  label: string
  /** The first one is shown when the address names none. */
  tabs: readonly (readonly [key: string, label: string])[]
}

/** Views of one thing, each with an address of its own. */
export function Tabs({ label, tabs }: TabsProps) {
  const first = tabs[0]?.[0]
  const [tab] = useQueryPart('tab')
  const strip = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is current then.
  useEffect(() => {
    const current = strip.current?.querySelector('[aria-current="page"]')
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [tab])
  return (
    <nav ref={strip} className="tabs" aria-label={label}>
      {tabs.map(([key, words]) => (
        <Link
          key={key}
          to="."
          // The members of a query are the page's own; the router knows of none.
          search={(key === first ? {} : { tab: key }) as never}
          activeOptions={{ exact: true, includeSearch: true }}
        >
          {words}
        </Link>
      ))}
    </nav>
  )
}
