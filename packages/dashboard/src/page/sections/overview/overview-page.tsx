import { api } from '@guildhall/contract'
import { useMay } from '../../data/permissions.ts'
import { OfNode } from '../../kit/of-node.tsx'
import { Page } from '../../kit/page.tsx'
import { RejectedChange } from '../runtime/failures.tsx'
import { AllCounters, Counters } from './counters.tsx'
import { Node, Tasks } from './health.tsx'
import { RecentAudit, RecentErrors, RecentFailures } from './recent.tsx'

export function OverviewPage() {
  const mayAudit = useMay(api.audit.list)
  const mayFailures = useMay(api.runtime.failures)
  const mayErrors = useMay(api.errorJournal.list)
  return (
    <Page title="Overview" actions={<OfNode route={api.history.get} />}>
      <div className="page-scroll">
        <div className="stack">
          <Node />
          {mayFailures && <RejectedChange />}
          <Counters />
          <div className="columns">
            <div className="stack">
              {mayFailures && <RecentFailures />}
              {mayErrors && <RecentErrors />}
              {mayAudit && <RecentAudit />}
            </div>
            <Tasks />
          </div>
          <AllCounters />
        </div>
      </div>
    </Page>
  )
}
