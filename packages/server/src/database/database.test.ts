import { databaseContract } from './database.contract.ts'
import { testBackends } from './testing/backends.ts'

for (const backend of testBackends) databaseContract(backend)
