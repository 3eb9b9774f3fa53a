import { defineFeature } from '../feature.ts'
import { type AdmissionDeps, createAdmission } from './admission.service.ts'

/** The limits in front of sign-ins and logins. */
export function admissionFeature(deps: Omit<AdmissionDeps, 'count'>) {
  let refused = 0
  const count = () => {
    refused += 1
  }
  const { take, prune } = createAdmission({ ...deps, count })
  return defineFeature(
    {
      pruners: { admission_windows: prune },
      counters: () => ({ admission_refused_total: refused }),
    },
    { take },
  )
}
