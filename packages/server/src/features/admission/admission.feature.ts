import { defineFeature } from '../feature.ts'
import {
  type AdmissionDeps,
  type AdmissionRule,
  admissionRules,
  createAdmission,
} from './admission.service.ts'

type AdmissionFeatureDeps = Pick<AdmissionDeps, 'db' | 'clock'> & {
  config: { authentication: Pick<AdmissionDeps, 'limits'> }
  secrets: { admission: AdmissionDeps['secret'] }
}

/** The limits in front of sign-ins and logins. */
export function admissionFeature({ db, clock, config, secrets }: AdmissionFeatureDeps) {
  const refusals = new Map<AdmissionRule, number>(admissionRules.map((rule) => [rule, 0]))
  let refused = 0
  const count = (rule: AdmissionRule) => {
    refused += 1
    refusals.set(rule, (refusals.get(rule) ?? 0) + 1)
  }
  const { limits } = config.authentication
  const { take, prune } = createAdmission({ db, clock, limits, secret: secrets.admission, count })
  return defineFeature(
    {
      pruners: { admission_windows: prune },
      counters: () => ({ admission_refused_total: refused }),
      crash: { admission_windows: { not: 'counts attempts, of which no answer speaks' } },
    },
    { take, refusals: (): ReadonlyMap<string, number> => refusals },
  )
}
